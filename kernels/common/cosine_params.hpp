// Params of the kernels in which a team of threads owns a row and a head and keeps a tile of its features in registers
// (kernels/common/cosine.cuh): lanes hold the tile, groups of lanes share the row's edges.
#pragma once

#include <algorithm>

#include "kernels/common/attention.hpp"
#include "kernels/common/tiles.hpp"

namespace gnntune::kernels {

/// Teams have 4 to 32 threads. `lanes`, `split` and `items` are those of a params struct.
inline Verdict require_cosine_team(const Query& q, int lanes, int split, int items) {
    if (lanes * split > 32 || lanes * split < 4) {
        return Verdict::no("a row is shared by 4 to 32 threads: lanes * split = " + std::to_string(lanes * split));
    }
    if (lanes >= 4 && split > 4) return Verdict::no("rows are split into more than 4 groups for narrow tiles only");
    return require_useful_tile(q.problem.k, lanes, items, widest_vector(q.problem));
}

/// What the gradients of agnn need: plain attention, and heads that fit into grid.y.
inline Verdict require_agnn_grad(const Query& q) {
    if (q.problem.heads > 65535) return Verdict::no("sums grad_beta for at most 65535 heads");
    return require_attention(q);
}
/// The same for variants that store fp32 only.
inline Verdict require_fp32_agnn_grad(const Query& q) {
    return require_fp32(q, require_agnn_grad(q));
}

/// Terms of the gradients of agnn: an edge gathers a row of x for its target and rows of x_row and grad_y for its
/// source.
inline CostTerms agnn_grad_cost(const Query& q, double index_bytes) {
    CostTerms terms = gather_cost(q, index_bytes);
    const double row_bytes = static_cast<double>(size_of(q.problem.dtype)) * q.problem.k * q.problem.heads;
    terms.l2_bytes += 2.0 * static_cast<double>(q.m) * row_bytes;
    // x_row, grad_y and y in order, the two gathered again, and both results.
    terms.dram_bytes += (5.0 * static_cast<double>(q.n_rows) + 2.0 * static_cast<double>(q.n_cols)) * row_bytes;
    terms.flops *= 6.0;
    return terms;
}

/// Blocks along x of a kernel with teams of `team` threads for rows, and one block for every piece of a long row and
/// head.
inline Verdict require_cosine_grid(const Query& q, int threads, int team) {
    const std::int64_t units = std::max(q.n_rows, q.n_cols) * q.problem.heads;
    // Pieces have at least 256 edges each, but the rest of a row.
    return require_grid(ceil_div(units, threads / team) + (q.m / 256 + 1) * q.problem.heads);
}

}  // namespace gnntune::kernels

// What the host side of the attention variants shares.
#pragma once

#include <string>

#include "kernels/common/host.hpp"
#include "kernels/common/workspace.hpp"

namespace gnntune::kernels {

/// What attention and its gradients can do in every storage type. They take no edge weights: they compute them.
inline constexpr Capability kAttention{.storage = kEveryStorage, .weights = Takes::no, .heads = true};
/// The same of variants that store f32 only.
inline constexpr Capability kAttentionInF32{.weights = Takes::no, .heads = true};

/// edge_softmax: its logits are the operand edge_weight, whether the problem says `weighted` or not.
inline constexpr Capability kEdgeSoftmax{.storage = kEveryStorage, .heads = true};
inline constexpr Capability kEdgeSoftmaxInF32{.heads = true};

/// Refuses an edge_softmax of several values for each edge and head.
inline Verdict require_one_value(const Query& q) {
    return q.problem.k == 1 ? Verdict::yes() : Verdict::no("has one value for each edge and head: k is 1");
}

/// Default shape of long rows' pieces (kernels/common/row_pieces.hpp): a row of 512 edges is at most 128 steps of the
/// smallest team; a piece of 2048 keeps a block busy for about as long.
inline constexpr std::int32_t kLongRow = 512;
inline constexpr std::int32_t kPieceEdges = 2048;

/// A set of logits: its maximum, and the sum of exp(e - max). A plain sum is one with max = 0.
struct SoftmaxSum {
    float max;
    float sum;
};

/// Results of the pieces of split rows (kernels/common/row_pieces.hpp): sums [slots, heads], values [slots, heads, k].
struct PieceResults {
    SoftmaxSum* sums;
    float* values;
};

/// Room for the results of `slots` pieces.
inline PieceResults take_piece_results(std::int64_t slots, std::int32_t heads, std::int32_t k, WorkspaceCutter& space) {
    auto* sums = space.take<SoftmaxSum>(slots * heads);
    return {sums, space.take<float>(slots * heads * k)};
}
/// The same at the beginning of a workspace of piece_results_bytes().
inline PieceResults cut_piece_results(void* workspace, std::int32_t slots, std::int32_t heads, std::int32_t k) {
    WorkspaceCutter space(workspace);
    return take_piece_results(slots, heads, k, space);
}
inline std::size_t piece_results_bytes(std::int32_t slots, std::int32_t heads, std::int32_t k) {
    WorkspaceCutter space(nullptr);
    take_piece_results(slots, heads, k, space);
    return space.bytes();
}

/// Workspace of edge-parallel attention (kernels/common/edge_passes.cuh): keys and sums of rows, one value an edge.
inline std::size_t edge_passes_bytes(std::int64_t n_rows, std::int64_t m, std::int32_t heads) {
    WorkspaceCutter cut(nullptr);
    cut.take<float>(3 * n_rows * heads);
    cut.take<float>(m * heads);
    return cut.bytes();
}

/// Cost of a softmax over edge values: read, written, and once more for every further pass.
inline CostTerms edge_softmax_cost(const Query& q, double index_bytes, double passes) {
    const double values = static_cast<double>(size_of(q.problem.dtype)) * static_cast<double>(q.m) * q.problem.heads;
    CostTerms terms;
    terms.dram_bytes = index_bytes + 2.0 * values;
    terms.l2_bytes = index_bytes + (passes + 1.0) * values;
    terms.flops = 4.0 * static_cast<double>(q.m) * q.problem.heads;
    return terms;
}

/// Terms of a gather of feature rows with a score of every edge and head on either side.
inline CostTerms gat_cost(const Query& q, double index_bytes) {
    CostTerms terms = gather_cost(q, index_bytes);
    const double scores = static_cast<double>(size_of(q.problem.dtype)) * q.problem.heads;
    const double lse = 4.0 * q.problem.heads * static_cast<double>(q.n_rows);
    terms.dram_bytes += scores * (static_cast<double>(q.n_rows) + static_cast<double>(q.n_cols)) + lse;
    terms.l2_bytes += scores * (static_cast<double>(q.m) + static_cast<double>(q.n_rows)) + lse;
    terms.flops += 8.0 * static_cast<double>(q.m) * q.problem.heads;
    return terms;
}

/// Terms of gat_grad: every edge gathers a row of x and a row of grad_y, and leaves two values for the second pass.
inline CostTerms gat_grad_cost(const Query& q, double index_bytes) {
    CostTerms terms = gat_cost(q, index_bytes);
    const double width = static_cast<double>(size_of(q.problem.dtype)) * q.problem.k * q.problem.heads;
    const double edge_values = 8.0 * static_cast<double>(q.m) * q.problem.heads;
    terms.l2_bytes += static_cast<double>(q.m) * width + 2.0 * edge_values;
    terms.dram_bytes +=
        (2.0 * static_cast<double>(q.n_rows) + static_cast<double>(q.n_cols)) * width + 2.0 * edge_values;
    terms.flops *= 2.0;
    return terms;
}

}  // namespace gnntune::kernels

// What the variants of cosine attention share on the host.
#pragma once

#include "kernels/common/tile_team.hpp"

namespace gnntune::kernels {

/// A plan of agnn: `Rows` is that of its pass, with csr, k, heads, dtype and slots().
template <typename Rows>
struct CosinePlan {
    Rows rows;
    bool stored_norms = false;

    /// Inverse norms of x in the workspace; null if a gathered row gives its own.
    float* take_norms(WorkspaceCutter& space) const {
        return stored_norms ? space.take<float>(std::int64_t{rows.csr->n_cols} * rows.heads) : nullptr;
    }
};

/// workspace_bytes() of a variant whose state is such a plan.
template <typename Rows>
std::size_t cosine_workspace_bytes(const void* state) {
    const auto& p = *static_cast<const CosinePlan<Rows>*>(state);
    WorkspaceCutter space(nullptr);
    p.take_norms(space);
    return space.bytes() + piece_results_bytes(p.rows.slots(), p.rows.heads, p.rows.k);
}

/// Refuses more heads than fit into grid.y.
inline Verdict require_beta_heads(const Query& q) {
    if (q.problem.heads <= kMaxGridY) return Verdict::yes();
    return Verdict::no("sums grad_beta for at most " + std::to_string(kMaxGridY) + " heads");
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

}  // namespace gnntune::kernels

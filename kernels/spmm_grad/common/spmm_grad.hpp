// What the variants of spmm_grad share on the host.
#pragma once

#include "kernels/common/host.hpp"

namespace gnntune::kernels {

/// Terms of a kernel that, in one pass over the edges, gathers a row of grad_y for each and writes every gradient once.
/// `index_bytes` is what it reads of the graph. x is read in order where a gradient of weights is wanted.
inline CostTerms spmm_grad_cost(const Query& q, double index_bytes) {
    // The gathered operand has n_rows rows: the query of the opposite direction.
    Query flipped = q;
    std::swap(flipped.n_rows, flipped.n_cols);
    flipped.problem.direction = opposite(q.problem.direction);
    CostTerms terms = gather_cost(flipped, index_bytes);
    if (q.problem.weighted) {
        const double x = static_cast<double>(size_of(q.problem.dtype)) * static_cast<double>(q.n_cols) *
                         static_cast<double>(row_width(q.problem));
        const double extra = x + weight_bytes(q) * static_cast<double>(q.m);
        terms.dram_bytes += extra;
        terms.l2_bytes += extra;
        terms.flops *= 2;
    }
    return terms;
}

}  // namespace gnntune::kernels

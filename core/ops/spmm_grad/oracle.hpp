// The definition of spmm_grad.
#pragma once

#include "core/reference/oracle.hpp"

namespace gnntune::reference {

/// Gradients of spmm: grad_x[j, f] = sum over edges e with source j of w_e grad_y[row_e, f], plus the self loop's term;
/// weighted, grad_edge_weight[e] = <grad_y[row_e, :], x[col_e, :]>; with self loops, grad_self_weight[i] =
/// <grad_y[i, :], x[i, :]>. Of weighted sums and means of several heads all that is head by head. The mean divides each
/// term by the number of terms of its row. Of a maximum an edge has the features f alone in which argmax_saved[row_e, f]
/// names it, in both sums.
std::vector<Oracle> spmm_grad(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                              const Operands& inputs);

}  // namespace gnntune::reference

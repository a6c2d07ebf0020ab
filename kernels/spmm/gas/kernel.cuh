// spmm.gas: y[i, :] = self_weight[i] x[i, :] + sum over edges e of row i of w_e x[col_e, :] by gather-apply-scatter over
//           a COO list, fuseGNN Algorithm 1.
//
// Layout   row_idx, col_idx [m] in any order; edge_id [m] or null; edge_weight [m] or null;
//          x [n_cols, k], y [n_rows, k] holding the self loops' terms, or zeros; row-major, device memory.
// Work     k < T: a block takes floor(T / k) edges at once, consecutive threads the consecutive features of an edge.
//          k >= T: a block takes one edge and walks its features T at a time, the weight in a register.
// Shared   none.  Atomics: one scalar atomicAdd per edge and feature: not deterministic.
#pragma once

#include "kernels/common/gas.cuh"

namespace gnntune::spmm_gas {

__global__ void gas_kernel(kernels::Scatter s) {
    kernels::gas_scatter(s);
}

}  // namespace gnntune::spmm_gas

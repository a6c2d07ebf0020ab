// spmm.gar: y[i, :] = self_weight[i] x[i, :] + sum over edges e of row i of w_e x[col_e, :] by gather-apply-reduce over
//           CSR, fuseGNN Algorithm 3; the mean divides by the number of terms where the row is stored.
//
// Layout   row_ptr [n_rows + 1], col_idx [m], edge_id [m] or null, edge_weight [m] or null, self_weight [n_rows] or null,
//          x [n_cols, k], y [n_rows, k]; row-major, device memory.
// Work     block -> row.
//          k < T: floor(T / k) groups of k threads; group s takes the edges s, s + groups, ... of the row, one feature
//          per thread; the groups' sums meet in shared memory in a tree (group reduce), the self loop joins at write-out.
//          k >= T: each thread owns the features t, t + T, ..., starts from the self loop and walks all edges.
// Shared   T floats if k < T, else none.  Atomics: none; the order of summation depends on T and k only, so results
//          repeat bit for bit.
#pragma once

#include "kernels/common/gar.cuh"

namespace gnntune::spmm_gar {

__global__ void gar_kernel(kernels::Gather g) {
    extern __shared__ float partial[];
    kernels::gar_rows(g, partial);
}

}  // namespace gnntune::spmm_gar

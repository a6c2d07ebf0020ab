// spmm_grad.unfused: the gradients of y = A x as two ops of their own:
//   grad_x           = A^T grad_y                          spmm in the opposite direction, self loops with it
//   grad_edge_weight = <grad_y[row_e, :], x[col_e, :]>     sddmm, weighted problems only
//   grad_self_weight = <grad_y[i, :], x[i, :]>             a kernel of its own (kernels/common/self_loop.cuh)
// For the mean a row's gradient is divided by its number of terms: with s_i = 1 / terms of row i, A has the weights
// w_e s_row_e, the dot products have the weights s_row_e, and a self loop has self_weight[i] s_i. Of several heads each
// by its own weights.
//
// Layout   x, grad_x [n_cols, heads, k], grad_y [n_rows, heads, k] row-major; edge_weight, grad_edge_weight [m, heads]
//          in the caller's order, in which both parts read and write; self_weight, grad_self_weight [n, heads]; of type
//          T: f32, f16 or bf16, for the mean f32; device memory. Workspace, for the mean: scaled weights [m, heads] and
//          [n, heads].
// Work     the parts' own. A thread per weight scales it before them; the dot products of self loops follow them on the
//          stream: a group of lanes per row and head.
// Data     grad_y is gathered twice, once per part; the fused variants gather it once.
// Shared   none here.  Atomics: the parts' own.
#pragma once

#include <cstdint>

namespace gnntune::spmm_grad_unfused {

inline constexpr int kShareThreads = 256;

__device__ __forceinline__ std::int64_t share_index() {
    return std::int64_t{blockIdx.x} * kShareThreads + threadIdx.x;
}

__global__ void edge_shares_kernel(const std::int32_t* __restrict__ row_idx, const std::int32_t* __restrict__ edge_id,
                                   const float* __restrict__ row_share, std::int64_t m,
                                   float* __restrict__ edge_share) {
    const std::int64_t e = share_index();
    if (e < m) edge_share[edge_id ? edge_id[e] : e] = row_share[row_idx[e]];
}

__global__ void products_kernel(const float* __restrict__ weight, const float* __restrict__ share, std::int64_t count,
                                std::int32_t heads, float* __restrict__ out) {
    const std::int64_t i = share_index();
    if (i < count) out[i] = weight[i] * share[i / heads];
}

}  // namespace gnntune::spmm_grad_unfused

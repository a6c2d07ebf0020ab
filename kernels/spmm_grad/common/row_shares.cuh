// What the gradient of a mean multiplies the terms of a row with: 1 / their number. A thread per row, or per edge of the
// columns, which find that of their row beside its id then.
#pragma once

#include "core/gpu/cuda_check.hpp"
#include "core/graph/formats.hpp"
#include "kernels/common/host.hpp"

namespace gnntune::kernels {

inline constexpr int kRowShareThreads = 256;

[[maybe_unused]] static __global__ void row_shares_kernel(const std::int32_t* __restrict__ row_ptr, std::int32_t n_rows,
                                                          std::int32_t more, float* __restrict__ share) {
    const std::int64_t i = std::int64_t{blockIdx.x} * kRowShareThreads + threadIdx.x;
    if (i < n_rows) share[i] = 1.0F / static_cast<float>(max(1, row_ptr[i + 1] - row_ptr[i] + more));
}

[[maybe_unused]] static __global__ void column_shares_kernel(const std::int32_t* __restrict__ row_ptr,
                                                             const std::int32_t* __restrict__ row_idx, std::int64_t m,
                                                             std::int32_t more, float* __restrict__ share) {
    const std::int64_t e = std::int64_t{blockIdx.x} * kRowShareThreads + threadIdx.x;
    if (e >= m) return;
    const std::int32_t i = row_idx[e];
    share[e] = 1.0F / static_cast<float>(max(1, row_ptr[i + 1] - row_ptr[i] + more));
}

/// Enqueues share[i] = 1 / terms of row i: its edges, and its self loop if `self_loop` says that rows have one. [n_rows],
/// device memory. Throws on a launch error.
inline void enqueue_row_shares(const CsrFormat& csr, bool self_loop, float* share, cudaStream_t stream) {
    if (csr.n_rows == 0) return;
    row_shares_kernel<<<blocks_for(csr.n_rows, kRowShareThreads), kRowShareThreads, 0, stream>>>(
        csr.row_ptr, csr.n_rows, self_loop ? 1 : 0, share);
    GNNTUNE_CUDA(cudaGetLastError());
}

/// Enqueues share[e] = that of the row of the e-th edge of the CSC. [m], device memory. Throws on a launch error.
inline void enqueue_column_shares(const CsrFormat& csr, const CsrFormat& csc, bool self_loop, float* share,
                                  cudaStream_t stream) {
    if (csc.m == 0) return;
    column_shares_kernel<<<blocks_for(csc.m, kRowShareThreads), kRowShareThreads, 0, stream>>>(
        csr.row_ptr, csc.col_idx, csc.m, self_loop ? 1 : 0, share);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::kernels

// What the gradient of a mean multiplies the terms of a row with: 1 / their number. A thread per row.
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

/// Enqueues share[i] = 1 / terms of row i: its edges, and its self loop if `self_loop` says that rows have one. [n_rows],
/// device memory. Throws on a launch error.
inline void enqueue_row_shares(const CsrFormat& csr, bool self_loop, float* share, cudaStream_t stream) {
    if (csr.n_rows == 0) return;
    row_shares_kernel<<<blocks_for(csr.n_rows, kRowShareThreads), kRowShareThreads, 0, stream>>>(
        csr.row_ptr, csr.n_rows, self_loop ? 1 : 0, share);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::kernels

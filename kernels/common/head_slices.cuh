// Features of several heads between the layout of the operands, [n, heads, k], and one matrix [n, k] per head, which is
// what sddmm and spmm know. One thread per element; runs of k elements are contiguous on both sides.
#pragma once

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/host.hpp"

namespace gnntune::kernels {

inline constexpr int kSliceThreads = 256;

/// Floats from one head's array of `count` to the next: each begins at a multiple of 256 bytes.
inline std::int64_t slice_stride(std::int64_t count) {
    return ceil_div(count, 64) * 64;
}

/// `split`: one matrix per head, `stride` apart, from in [n, heads, k]; else the other way round.
[[maybe_unused]] static __global__ void slice_heads_kernel(const float* __restrict__ in, float* __restrict__ out,
                                                           std::int64_t n, int heads, std::int32_t k,
                                                           std::int64_t stride, bool split) {
    const std::int64_t count = n * heads * k;
    for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kSliceThreads + threadIdx.x; at < count;
         at += static_cast<std::int64_t>(gridDim.x) * kSliceThreads) {
        const std::int64_t row = at / k;  // of [n, heads]
        const std::int64_t sliced = row % heads * stride + row / heads * k + at % k;
        if (split) {
            out[sliced] = in[at];
        } else {
            out[at] = in[sliced];
        }
    }
}

[[maybe_unused]] static void slice_heads(const float* in, float* out, std::int64_t n, int heads, std::int32_t k,
                                         bool split, cudaStream_t stream) {
    if (n == 0) return;
    const std::int64_t blocks = std::min<std::int64_t>(ceil_div(n * heads * k, kSliceThreads), 1 << 16);
    slice_heads_kernel<<<static_cast<unsigned>(blocks), kSliceThreads, 0, stream>>>(in, out, n, heads, k,
                                                                                    slice_stride(n * k), split);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::kernels

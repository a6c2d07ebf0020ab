// Features between [n, heads, k] and [heads, n, k], for compositions whose parts know no heads. A thread per element and a
// grid row per head; both sides move in runs of k floats.
#pragma once

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/head_major.hpp"

namespace gnntune::kernels {

inline constexpr int kHeadMajorThreads = 256;

/// `stride` floats from one head to the next in the head-major array.
[[maybe_unused]] static __global__ void to_head_major(const float* __restrict__ in, float* __restrict__ out,
                                                      std::int64_t elements, std::int32_t k, std::int64_t stride) {
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kHeadMajorThreads + threadIdx.x;
    if (at >= elements) return;
    const std::int64_t row = at / k;
    out[blockIdx.y * stride + at] = __ldg(in + (row * gridDim.y + blockIdx.y) * k + (at - row * k));
}
[[maybe_unused]] static __global__ void from_head_major(const float* __restrict__ in, float* __restrict__ out,
                                                        std::int64_t elements, std::int32_t k, std::int64_t stride) {
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kHeadMajorThreads + threadIdx.x;
    if (at >= elements) return;
    const std::int64_t row = at / k;
    out[(row * gridDim.y + blockIdx.y) * k + (at - row * k)] = __ldg(in + blockIdx.y * stride + at);
}

/// Enqueues out [heads, n, k], padded to head_stride(n k), from in [n, heads, k]; the other way round if not `forward`.
inline void launch_head_major(const float* in, float* out, std::int64_t n, std::int32_t heads, std::int32_t k,
                              bool forward, cudaStream_t stream) {
    const std::int64_t elements = n * k;
    if (elements == 0) return;
    const dim3 grid(static_cast<unsigned>(ceil_div(elements, kHeadMajorThreads)), static_cast<unsigned>(heads));
    auto* kernel = forward ? &to_head_major : &from_head_major;
    kernel<<<grid, kHeadMajorThreads, 0, stream>>>(in, out, elements, k, head_stride(elements));
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::kernels

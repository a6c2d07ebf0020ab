// Sums over the numbers of a warp and of a block.
#pragma once

#include <cstdint>

namespace gnntune::formats {

inline constexpr unsigned kWarp = 0xffffffffU;

/// Sum and maximum over a warp.
__device__ __forceinline__ std::int32_t warp_sum(std::int32_t v) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(kWarp, v);
#else
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(kWarp, v, offset);
    return v;
#endif
}
__device__ __forceinline__ std::int32_t warp_max(std::int32_t v) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(kWarp, v);
#else
    for (int offset = 16; offset > 0; offset /= 2) v = max(v, __shfl_xor_sync(kWarp, v, offset));
    return v;
#endif
}

/// v[i] becomes the sum of those before it, for i < n. All threads of the block call; what they wrote is seen, and so
/// is the result. `sums`: a number of shared memory for each warp.
template <int THREADS>
__device__ __forceinline__ void exclusive_sums(std::int32_t* v, int n, std::int32_t* sums) {
    __syncthreads();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int each = (n + THREADS - 1) / THREADS;
    const int begin = min(static_cast<int>(threadIdx.x) * each, n);
    const int end = min(begin + each, n);
    std::int32_t sum = 0;
    for (int i = begin; i < end; ++i) sum += v[i];
    std::int32_t upto = sum;
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
        const std::int32_t other = __shfl_up_sync(kWarp, upto, offset);
        if (lane >= offset) upto += other;
    }
    if (lane == 31) sums[warp] = upto;
    __syncthreads();
    std::int32_t before = warp_sum(lane < warp ? sums[lane] : 0) + upto - sum;
    for (int i = begin; i < end; ++i) {
        const std::int32_t own = v[i];
        v[i] = before;
        before += own;
    }
    __syncthreads();
}

}  // namespace gnntune::formats

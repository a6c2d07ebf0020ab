// Vectors of 1, 2 or 4 floats, and of 8 sums: loads and streaming stores of up to 4, fused multiply-add, and reductions
// into global memory.
#pragma once

#include <cstdint>

namespace gnntune::kernels {

template <int N>
struct Vec {
    static_assert(
        N == 1 || N == 2 || N == 4 || N == 8,
        "a vector holds 1, 2 or 4 floats, the widths of one memory instruction, or sums of 8 narrow elements");
    float v[N];
};

/// Read-only load of N consecutive floats; `p` is aligned to 4 N bytes.
template <int N>
__device__ __forceinline__ Vec<N> load(const float* p) {
    static_assert(N <= 4, "no memory instruction moves 8 floats");
    Vec<N> r;
    if constexpr (N == 4) {
        const float4 t = __ldg(reinterpret_cast<const float4*>(p));
        r.v[0] = t.x, r.v[1] = t.y, r.v[2] = t.z, r.v[3] = t.w;
    } else if constexpr (N == 2) {
        const float2 t = __ldg(reinterpret_cast<const float2*>(p));
        r.v[0] = t.x, r.v[1] = t.y;
    } else {
        r.v[0] = __ldg(p);
    }
    return r;
}

/// Load of what the same kernel may write.
template <int N>
__device__ __forceinline__ Vec<N> load_written(const float* p) {
    static_assert(N <= 4, "no memory instruction moves 8 floats");
    Vec<N> r;
    if constexpr (N == 4) {
        const float4 t = *reinterpret_cast<const float4*>(p);
        r.v[0] = t.x, r.v[1] = t.y, r.v[2] = t.z, r.v[3] = t.w;
    } else if constexpr (N == 2) {
        const float2 t = *reinterpret_cast<const float2*>(p);
        r.v[0] = t.x, r.v[1] = t.y;
    } else {
        r.v[0] = *p;
    }
    return r;
}

/// Store of what is read again soon.
template <int N>
__device__ __forceinline__ void store(float* p, const Vec<N>& a) {
    static_assert(N <= 4, "no memory instruction moves 8 floats");
    if constexpr (N == 4) {
        *reinterpret_cast<float4*>(p) = make_float4(a.v[0], a.v[1], a.v[2], a.v[3]);
    } else if constexpr (N == 2) {
        *reinterpret_cast<float2*>(p) = make_float2(a.v[0], a.v[1]);
    } else {
        *p = a.v[0];
    }
}

/// Store that does not displace the gathered operand from L2: results are not read again by the same kernel.
template <int N>
__device__ __forceinline__ void store_streaming(float* p, const Vec<N>& a) {
    static_assert(N <= 4, "no memory instruction moves 8 floats");
    if constexpr (N == 4) {
        __stcs(reinterpret_cast<float4*>(p), make_float4(a.v[0], a.v[1], a.v[2], a.v[3]));
    } else if constexpr (N == 2) {
        __stcs(reinterpret_cast<float2*>(p), make_float2(a.v[0], a.v[1]));
    } else {
        __stcs(p, a.v[0]);
    }
}

/// Number of this thread's group, counted over the grid, where groups of `size` (a power of two) threads share a block.
__device__ __forceinline__ std::int64_t group_index(int size) {
    const int shift = 31 - __clz(size);
    return static_cast<std::int64_t>(blockIdx.x) * (blockDim.x >> shift) + (threadIdx.x >> shift);
}

template <int N>
__device__ __forceinline__ void zero(Vec<N>& a) {
#pragma unroll
    for (int i = 0; i < N; ++i) a.v[i] = 0.0F;
}

/// a += w * b
template <int N>
__device__ __forceinline__ void fma(Vec<N>& a, float w, const Vec<N>& b) {
#pragma unroll
    for (int i = 0; i < N; ++i) a.v[i] = fmaf(w, b.v[i], a.v[i]);
}

/// a *= w
template <int N>
__device__ __forceinline__ void scale(Vec<N>& a, float w) {
#pragma unroll
    for (int i = 0; i < N; ++i) a.v[i] *= w;
}

/// Adds `a` to global memory at `p`, aligned to N floats, or to 4 where N is 8. From compute capability 9.0 one
/// instruction does up to 4 floats, else each has its own.
template <int N>
__device__ __forceinline__ void reduce_add(float* p, const Vec<N>& a) {
#if __CUDA_ARCH__ >= 900
    if constexpr (N == 8) {
        reduce_add(p, Vec<4>{a.v[0], a.v[1], a.v[2], a.v[3]});
        reduce_add(p + 4, Vec<4>{a.v[4], a.v[5], a.v[6], a.v[7]});
    } else if constexpr (N == 4) {
        asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(p), "f"(a.v[0]), "f"(a.v[1]), "f"(a.v[2]),
                     "f"(a.v[3])
                     : "memory");
    } else if constexpr (N == 2) {
        asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(p), "f"(a.v[0]), "f"(a.v[1]) : "memory");
    } else {
        atomicAdd(p, a.v[0]);
    }
#else
#pragma unroll
    for (int i = 0; i < N; ++i) atomicAdd(p + i, a.v[i]);
#endif
}

}  // namespace gnntune::kernels

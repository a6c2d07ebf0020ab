// Vectors of 1 to 8 elements of f32, f16 or bf16: loads and gathers that keep them as they are stored, arithmetic in
// fp32, streaming stores that round once.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "core/common/float16.hpp"
#include "kernels/common/vec.cuh"

namespace gnntune::kernels {

__device__ __forceinline__ float widened(float value) {
    return value;
}
__device__ __forceinline__ float widened(Float16 value) {
    return __half2float(reinterpret_cast<const __half&>(value));
}
__device__ __forceinline__ float widened(BFloat16 value) {
    return to_float(value);
}

/// Rounds to nearest, ties to even.
template <typename T>
__device__ __forceinline__ T narrowed(float value) {
    if constexpr (std::is_same_v<T, Float16>) {
        const __half half = __float2half_rn(value);
        return reinterpret_cast<const T&>(half);
    } else if constexpr (std::is_same_v<T, BFloat16>) {
        const __nv_bfloat16 narrow = __float2bfloat16_rn(value);
        return reinterpret_cast<const T&>(narrow);
    } else {
        return value;
    }
}

/// The unsigned type, or vector of them, that one memory instruction moves BYTES bytes with.
template <int BYTES>
struct WordOf;
template <>
struct WordOf<2> {
    using type = unsigned short;
};
template <>
struct WordOf<4> {
    using type = unsigned;
};
template <>
struct WordOf<8> {
    using type = uint2;
};
template <>
struct WordOf<16> {
    using type = uint4;
};

/// N elements as they are stored.
template <typename T, int N>
struct alignas(sizeof(T) * N) Pack {
    T v[N];
};

/// Read-only load of N consecutive elements; `p` is aligned to all of them.
template <int N, typename T>
__device__ __forceinline__ Pack<T, N> load_pack(const T* p) {
    using Word = typename WordOf<static_cast<int>(sizeof(T)) * N>::type;
    const Word word = __ldg(reinterpret_cast<const Word*>(p));
    return reinterpret_cast<const Pack<T, N>&>(word);
}

/// Read-only load of one element.
template <typename T>
__device__ __forceinline__ float load_value(const T* p) {
    return widened(load_pack<1>(p).v[0]);
}

/// Where row `row` >= 0 of x begins, whose rows have `row_bytes` bytes: one product of 32 bits by 32.
template <typename T>
__device__ __forceinline__ const T* row_of(const T* x, std::int32_t row, std::uint32_t row_bytes) {
    return reinterpret_cast<const T*>(reinterpret_cast<const unsigned char*>(x) +
                                      std::uint64_t{static_cast<std::uint32_t>(row)} * row_bytes);
}

/// Makes the compiler forget what it knows of elements that are used again: else those of 16 bits stay widened until
/// then, in twice the registers.
template <typename T, int N>
__device__ __forceinline__ void keep_narrow(Pack<T, N>& a) {
    if constexpr (sizeof(T) == 2 && N > 1) {
        unsigned* words = reinterpret_cast<unsigned*>(&a);
#pragma unroll
        for (int i = 0; i < N / 2; ++i) asm volatile("" : "+r"(words[i]));
    }
}

/// Elements of value 0.
template <typename T, int N>
__device__ __forceinline__ void zero(Pack<T, N>& a) {
    using Word = typename WordOf<static_cast<int>(sizeof(T)) * N>::type;
    reinterpret_cast<Word&>(a) = Word{};
}

/// a += w * b
template <typename T, int N>
__device__ __forceinline__ void fma(Vec<N>& a, float w, const Pack<T, N>& b) {
#pragma unroll
    for (int i = 0; i < N; ++i) a.v[i] = fmaf(w, widened(b.v[i]), a.v[i]);
}

/// sum + <a, b>
template <typename T, int N>
__device__ __forceinline__ float dot(float sum, const Pack<T, N>& a, const Pack<T, N>& b) {
#pragma unroll
    for (int i = 0; i < N; ++i) sum = fmaf(widened(a.v[i]), widened(b.v[i]), sum);
    return sum;
}

/// sum + <a, b>, for an `a` that is multiplied more than once and so is not widened each time.
template <typename T, int N>
__device__ __forceinline__ float dot(float sum, const Vec<N>& a, const Pack<T, N>& b) {
#pragma unroll
    for (int i = 0; i < N; ++i) sum = fmaf(a.v[i], widened(b.v[i]), sum);
    return sum;
}
/// Widens what is stored.
template <typename T, int N>
__device__ __forceinline__ Vec<N> widened(const Pack<T, N>& a) {
    Vec<N> out;
#pragma unroll
    for (int i = 0; i < N; ++i) out.v[i] = widened(a.v[i]);
    return out;
}

/// Store of rounded values that does not displace the gathered operand from L2.
template <typename T, int N>
__device__ __forceinline__ void store_streaming(T* p, const Vec<N>& a) {
    Pack<T, N> pack;
#pragma unroll
    for (int i = 0; i < N; ++i) pack.v[i] = narrowed<T>(a.v[i]);
    using Word = typename WordOf<static_cast<int>(sizeof(T)) * N>::type;
    __stcs(reinterpret_cast<Word*>(p), reinterpret_cast<const Word&>(pack));
}

/// Store of sums that are read again soon, as fp32; `p` is aligned to N floats, or to 4 where N is 8.
template <int N>
__device__ __forceinline__ void store_sums(float* p, const Vec<N>& a) {
    if constexpr (N == 8) {
        *reinterpret_cast<float4*>(p) = make_float4(a.v[0], a.v[1], a.v[2], a.v[3]);
        *reinterpret_cast<float4*>(p + 4) = make_float4(a.v[4], a.v[5], a.v[6], a.v[7]);
    } else {
        store(p, a);
    }
}

}  // namespace gnntune::kernels

// Products on tensor cores, by one warp (mma.sync, compute capability 8.0), and fp32 numbers as two TF32 numbers. Sums
// on tensor cores are rounded towards zero.
//
// Lane g, t = lane / 4, lane % 4 has of a 16 x 8 matrix a {row g, column t}, {g + 8, t}, {g, t + 4}, {g + 8, t + 4}; of
// b {row t, column g}, {t + 4, g}; of d {row g, column 2t}, {g, 2t + 1}, {g + 8, 2t}, {g + 8, 2t + 1}. Of 16-bit
// numbers two neighbours of a's row or of b's column stand where one of 32 bits does.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/common/elements.cuh"

namespace gnntune::kernels {

/// d = a b + c, a of 16 x 8 and b of 8 x 8 TF32 numbers: what is below their 11 significant bits does not count.
__device__ __forceinline__ void mma_tf32(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                                         const float (&c)[4]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}

/// d = a b + c, a of 16 x 16 and b of 16 x 8 numbers of type T.
template <typename T>
__device__ __forceinline__ void mma_16(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                                       const float (&c)[4]) {
    if constexpr (std::is_same_v<T, Float16>) {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
            "{%10,%11,%12,%13};"
            : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]),
              "f"(c[3]));
    } else {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
            "{%10,%11,%12,%13};"
            : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]),
              "f"(c[3]));
    }
}

/// A number, or the two TF32 numbers that make it up. Rounded to nearest by integer arithmetic: the instruction for it
/// runs at a quarter of the rate. Half a unit of the 13 bits below is added; a carry into the exponent is right.
struct Split {
    std::uint32_t high;
    std::uint32_t low;
};
template <bool SINGLE>
__device__ __forceinline__ Split split(float v) {
    const std::uint32_t bits = __float_as_uint(v);
    if (SINGLE) return {isnan(v) ? bits : bits + 0x1000U, 0U};  // all bits set are a NaN, and must not wrap around
    const std::uint32_t high = (bits + 0x1000U) & 0xffffe000U;
    return {high, __float_as_uint(v - __uint_as_float(high))};  // where v is a NaN, low is one
}

}  // namespace gnntune::kernels

// Rows of floats for the CPU variants of cosine attention: dot products in fp32 with eight partial sums, inverse norms.
#pragma once

#include <cmath>
#include <cstdint>

namespace gnntune::kernels {

/// <a, b>; eight partial sums, so that compilers vectorise without leave to reorder.
__attribute__((always_inline)) inline float dot(const float* __restrict__ a, const float* __restrict__ b,
                                                std::int32_t k) {
    float sum[8] = {};
    std::int32_t f = 0;
    for (; f + 8 <= k; f += 8) {
        for (int i = 0; i < 8; ++i) sum[i] += a[f + i] * b[f + i];
    }
    for (int i = 0; f + i < k; ++i) sum[i] += a[f + i] * b[f + i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

/// 1 / |a|, and 0 for a zero vector: what makes its cosines, and gradients to it, vanish.
__attribute__((always_inline)) inline float inverse_norm(const float* a, std::int32_t k) {
    const float square = dot(a, a, k);
    return square > 0.0F ? 1.0F / std::sqrt(square) : 0.0F;
}

}  // namespace gnntune::kernels

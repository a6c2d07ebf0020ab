// Inverse norms of rows of floats for the CPU variants of cosine attention.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/common/cpu.hpp"

namespace gnntune::kernels {

/// 1 / |a|, and 0 for a zero vector: what makes its cosines, and gradients to it, vanish.
__attribute__((always_inline)) inline float inverse_norm(const float* a, std::int32_t k) {
    const float square = dot(a, a, k);
    return square > 0.0F ? 1.0F / std::sqrt(square) : 0.0F;
}

GNNTUNE_TARGET_CLONES
static void inverse_norms_between(const float* x, std::int32_t k, std::int64_t first, std::int64_t last, float* out) {
    for (std::int64_t v = first; v < last; ++v) out[v] = inverse_norm(x + v * k, k);
}

/// inverse_norm() of `vectors` rows of x. All threads of a team call it, share the rows, and do not wait at its end.
static void inverse_norms(const Team& team, const float* x, std::int32_t k, std::int64_t vectors, float* out) {
    constexpr std::int64_t kVectorBlock = 1024;
    const auto blocks = static_cast<std::int32_t>((vectors + kVectorBlock - 1) / kVectorBlock);
    team.for_row_blocks(blocks, 1, [&](std::int64_t block, std::int64_t) {
        const std::int64_t first = block * kVectorBlock;
        inverse_norms_between(x, k, first, std::min(vectors, first + kVectorBlock), out);
    });
}

}  // namespace gnntune::kernels

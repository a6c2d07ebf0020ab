// Inverse norms of rows of floats for the CPU variants of cosine attention.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/common/cpu.hpp"

namespace gnntune::kernels {

/// 1 / |a|, and 0 for a zero vector: what makes its cosines, and gradients to it, vanish.
__attribute__((always_inline)) inline float inverse_norm(const float* a, std::int32_t k) {
    const float square = dot(a, a, k);
    return square > 0.0F ? 1.0F / std::sqrt(square) : 0.0F;
}

}  // namespace gnntune::kernels

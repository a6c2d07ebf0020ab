// The logit of dot-product attention: shared by the oracles of attention and attention_grad.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/reference/cosine.hpp"
#include "core/reference/row_attention.hpp"

namespace gnntune::reference {

/// s <query, key>. The dot product is off by u sum|terms|, and so is the logit by u E with E = |s| sum|terms|, which is
/// at least the logit and has room for its own rounding.
inline Logit dot_logit(const float* query, const float* key, std::int32_t k, double s) {
    const Cosine dot = cosine(query, key, k, 1.0);  // of vectors as if they had length 1
    return {s * dot.value, std::abs(s) * dot.terms};
}

}  // namespace gnntune::reference

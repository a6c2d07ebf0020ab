// Cosine similarity with what is needed to bound its error: shared by the oracles of agnn and agnn_grad.
#pragma once

#include <cmath>
#include <cstdint>

namespace gnntune::reference {

struct Cosine {
    double value = 0;  ///< <a, b> / (|a| |b|); 0 if either vector is zero
    double terms = 0;  ///< sum of |a_f b_f| / (|a| |b|): at least |value|, at most 1
};

/// 1 / |a|, and 0 for a zero vector: what makes cosines with it, and gradients to it, vanish.
inline double inverse_norm(const float* a, std::int32_t k) {
    double sum = 0;
    for (std::int32_t f = 0; f < k; ++f) sum += static_cast<double>(a[f]) * a[f];
    return sum > 0 ? 1 / std::sqrt(sum) : 0.0;
}

/// `inverse` is the product of both inverse norms.
inline Cosine cosine(const float* a, const float* b, std::int32_t k, double inverse) {
    Cosine out;
    for (std::int32_t f = 0; f < k; ++f) {
        const double term = static_cast<double>(a[f]) * b[f];
        out.value += term;
        out.terms += std::abs(term);
    }
    out.value *= inverse;
    out.terms *= inverse;
    return out;
}

}  // namespace gnntune::reference

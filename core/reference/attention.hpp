// Softmax over the edges of a row in double, with how far a right fp32 result may be off: what the oracles of the
// attention ops share.
//
// An fp32 softmax computes alpha_j = exp(e_j - M) / sum. With u = 2^-24, its relative error is at most
//     u (a_j + sum_i alpha_i a_i) + a few u,        a_j = logit_error_j + |e_j - M|,
// where logit_error_j u bounds the error of the logit e_j itself (0 where logits are inputs), |e_j - M| u is the rounding
// of the difference, of one large step or of many that add up to it (online softmax), and the second term is the same
// error in the sum. A wrong M does not count: it cancels. A scale of |term| times
//     factor_j = 1 + (a_j + sum_i alpha_i a_i) / 16
// grants 67 u / 16, about four times that bound (core/reference/tolerance.hpp: c = 67 u), and the usual c for the rest.
// lse = M + log(sum) has the absolute error u (sum_i alpha_i a_i + |lse| + |M|), hence its scale.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace gnntune::reference {

inline constexpr double kLogitErrorShare = 1.0 / 16.0;

struct RowSoftmax {
    std::vector<double> alpha;
    std::vector<double> factor;  ///< of each alpha: what its |terms| are multiplied with in a scale
    double lse = 0;              ///< -infinity for an empty row, and for one of logits -infinity only
    double lse_scale = 1;
};

/// `logit` and `logit_error` (in units of u) of the row's edges. `from_rounded_lse`: results may compute alpha as
/// exp(e - lse) from an lse in fp32, whose rounding adds |lse| to every a_j. A logit of -infinity takes no part.
inline RowSoftmax row_softmax(const std::vector<double>& logit, const std::vector<double>& logit_error,
                              bool from_rounded_lse = false) {
    RowSoftmax out;
    const std::size_t d = logit.size();
    out.alpha.assign(d, 0.0);
    out.factor.assign(d, 1.0);
    double max = -std::numeric_limits<double>::infinity();
    for (const double e : logit) max = std::max(max, e);
    out.lse = max;
    if (std::isinf(max) && max < 0) return out;
    double sum = 0;
    for (std::size_t j = 0; j < d; ++j) sum += out.alpha[j] = std::exp(logit[j] - max);
    out.lse = max + std::log(sum);
    std::vector<double> a(d, 0.0);
    double mean = 0;
    for (std::size_t j = 0; j < d; ++j) {
        out.alpha[j] /= sum;
        if (out.alpha[j] == 0) continue;  // its share of every scale is 0 too
        a[j] = logit_error[j] + std::abs(logit[j] - max) + (from_rounded_lse ? std::abs(out.lse) : 0.0);
        mean += out.alpha[j] * a[j];
    }
    for (std::size_t j = 0; j < d; ++j) out.factor[j] = 1.0 + kLogitErrorShare * (a[j] + mean);
    out.lse_scale = 1.0 + kLogitErrorShare * (mean + std::abs(out.lse) + std::abs(max));
    return out;
}

}  // namespace gnntune::reference

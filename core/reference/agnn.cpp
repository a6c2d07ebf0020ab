// Scales, in units of the relative error u that one sum of products has (c + 2^-24 sqrt(d) of tolerance.hpp).
//
// A cosine c is a dot product times two inverse norms. The dot product is off by u sum|terms|, which is u A after the
// division, A = sum|terms| / (|x_row| |x|) <= 1; norms are sums of squares, so each is off by a relative u / 2 and both
// move c by u |c|. The logit e = beta c is thus off by u |beta| (A + |c|). Taking the maximum M away from it rounds
// once more, by at most 2^-24 (|e| + |M|), and exp makes of all this a relative error of its result:
//     R_ij = |beta| (A_ij + |c_ij|) + |M_i|     (|e| <= |beta| A is in it)
// The softmax's sum is off by the mean of R under alpha, Rbar_i = sum_j alpha_ij R_ij, so that
//     alpha_ij  is off by a relative u (1 + R_ij + Rbar_i),
//     y_if      is off by u sum_j alpha_ij |x_jf| (1 + R_ij + Rbar_i),
//     lse_i     is off by u (1 + |lse_i| + Rbar_i).
// The same holds where dot products and the weighted sum are taken in TF32 (c = 1e-3 is then the u of either): the
// operands lose 2^-11 each before they are multiplied, which is u A in the cosine and u in the weighted sum; norms and
// softmax stay in fp32. No second scale is needed for such a composition.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/reference/cosine.hpp"
#include "core/reference/oracle.hpp"

namespace gnntune::reference {
namespace {

/// One edge of a row, of one head.
struct Term {
    double e;  ///< logit, then alpha
    double r;  ///< R without |M|
};

}  // namespace

std::vector<Oracle> agnn(const Problem& problem, const CsrView& csr, const Operands& inputs) {
    const std::int64_t k = problem.k;
    const std::int64_t heads = problem.heads;
    const std::int64_t width = heads * k;
    Oracle y;
    Oracle lse;
    y.row_width = width;
    lse.row_width = heads;
    for (Oracle* out : {&y, &lse}) {
        const auto size = static_cast<std::size_t>(csr.n_rows * out->row_width);
        out->value.resize(size);
        out->scale.resize(size);
        out->chain.resize(static_cast<std::size_t>(csr.n_rows));
    }
    std::vector<double> inverse(static_cast<std::size_t>(csr.n_cols * heads));
#pragma omp parallel for schedule(static)
    for (std::int64_t v = 0; v < csr.n_cols * heads; ++v) {
        inverse[static_cast<std::size_t>(v)] = inverse_norm(inputs.x + v * k, problem.k);
    }
#pragma omp parallel
    {
        std::vector<Term> terms;
        std::vector<double> scale(static_cast<std::size_t>(k));
#pragma omp for schedule(dynamic, 16)
        for (std::int32_t i = 0; i < csr.n_rows; ++i) {
            const std::int32_t begin = csr.row_ptr[i];
            const auto degree = static_cast<std::size_t>(csr.row_ptr[i + 1] - begin);
            y.chain[static_cast<std::size_t>(i)] = lse.chain[static_cast<std::size_t>(i)] =
                static_cast<std::int32_t>(std::min<std::int64_t>(static_cast<std::int64_t>(degree) + k, kMaxEdges));
            terms.resize(degree);
            for (std::int64_t h = 0; h < heads; ++h) {
                const float* target = inputs.x_row + i * width + h * k;
                const double inverse_target = inverse_norm(target, problem.k);
                const double beta = inputs.beta[h];
                const auto source = [&](std::size_t t) {
                    return static_cast<std::int64_t>(csr.col_idx[static_cast<std::size_t>(begin) + t]) * heads + h;
                };
                double largest = -std::numeric_limits<double>::infinity();
                for (std::size_t t = 0; t < degree; ++t) {
                    const std::int64_t v = source(t);
                    const Cosine c = cosine(target, inputs.x + v * k, problem.k,
                                            inverse_target * inverse[static_cast<std::size_t>(v)]);
                    terms[t] = {beta * c.value, std::abs(beta) * (c.terms + std::abs(c.value))};
                    largest = std::max(largest, terms[t].e);
                }
                double sum = 0;
                for (const Term& t : terms) sum += std::exp(t.e - largest);
                double mean_r = 0;
                for (Term& t : terms) {
                    t.e = std::exp(t.e - largest) / sum;
                    t.r += std::abs(largest);
                    mean_r += t.e * t.r;
                }
                double* out = y.value.data() + i * width + h * k;
                std::fill(out, out + k, 0.0);
                std::fill(scale.begin(), scale.end(), 0.0);
                for (std::size_t t = 0; t < degree; ++t) {
                    const float* x = inputs.x + source(t) * k;
                    const double factor = terms[t].e * (1 + terms[t].r + mean_r);
                    for (std::int64_t f = 0; f < k; ++f) {
                        out[f] += terms[t].e * x[f];
                        scale[static_cast<std::size_t>(f)] += factor * std::abs(x[f]);
                    }
                }
                std::copy(scale.begin(), scale.end(), y.scale.data() + i * width + h * k);
                const auto at = static_cast<std::size_t>(i * heads + h);
                lse.value[at] = degree > 0 ? largest + std::log(sum) : -std::numeric_limits<double>::infinity();
                lse.scale[at] = degree > 0 ? static_cast<float>(1 + std::abs(lse.value[at]) + mean_r) : 0.0F;
            }
        }
    }
    std::vector<Oracle> all;
    all.push_back(std::move(y));
    all.push_back(std::move(lse));
    return all;
}

}  // namespace gnntune::reference

// Attention over the rows of a graph whose logits are products of features, in double, with how far a right result may
// be off: what the oracles of agnn and attention share.
//
// u is the relative error that one sum of products has (c + 2^-24 sqrt(d) of tolerance.hpp). A logit e is off by
// u E, where E comes with it. Taking the maximum M away from it rounds once more, by at most 2^-24 (|e| + |M|), and exp
// makes of all this a relative error of its result:
//     R_ij = E_ij + |M_i|     (|e| is in E)
// The softmax's sum is off by the mean of R under alpha, Rbar_i = sum_j alpha_ij R_ij, so that
//     alpha_ij  is off by a relative u (1 + R_ij + Rbar_i),
//     y_if      is off by u sum_j alpha_ij |x_jf| (1 + R_ij + Rbar_i),
//     lse_i     is off by u (1 + |lse_i| + Rbar_i).
// Dropout multiplies an alpha_ij of y with 0 or 1 / (1 - p), and its error with it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/common/parallel_for.hpp"
#include "core/common/philox.hpp"
#include "core/reference/oracle.hpp"

namespace gnntune::reference {

/// A logit of one edge and head, and E: its error in units of u, at least |value|.
struct Logit {
    double value = 0;
    double error = 0;
};

/// What dropout multiplies an edge's alpha with: none by default.
class KeptEdges {
public:
    KeptEdges() = default;
    /// Of `inputs` without seed_offset; `edge_id` leads from positions in the CSR to the caller's order, if not null.
    KeptEdges(const Operands& inputs, const std::int32_t* edge_id)
        : edge_id_(edge_id),
          seed_(inputs.seed),
          probability_(inputs.dropout),
          scale_(1.0 / (1.0 - static_cast<double>(inputs.dropout))) {}

    double factor(std::int32_t e, std::int64_t head) const {
        if (probability_ == 0) return 1;
        const auto id = static_cast<std::uint32_t>(edge_id_ ? edge_id_[e] : e);
        return philox_keep(seed_, id, static_cast<std::uint32_t>(head), probability_) ? scale_ : 0;
    }

private:
    const std::int32_t* edge_id_ = nullptr;
    std::uint64_t seed_ = 0;
    float probability_ = 0;
    double scale_ = 1;
};

/// Room for a result of `rows` rows, all zero.
inline Oracle zero_oracle(std::int64_t rows, std::int64_t width) {
    Oracle out;
    out.row_width = width;
    out.value.assign(static_cast<std::size_t>(rows * width), 0.0);
    out.scale.assign(static_cast<std::size_t>(rows * width), 0.0F);
    out.chain.assign(static_cast<std::size_t>(rows), 0);
    return out;
}

/// Length of a chain of `terms` sums whose terms are sums of k products.
inline std::int32_t chain_of(std::int64_t terms, std::int64_t k) {
    return static_cast<std::int32_t>(std::min<std::int64_t>(terms + k, kMaxEdges));
}

/// y and lse of attention over `x` [n_cols, heads, k] with the logits logit(row, col) -> Logit, whose arguments are
/// vertex * heads + head, and alpha multiplied with what `kept` says.
template <typename LogitOf>
std::vector<Oracle> row_attention(const Problem& problem, const CsrView& csr, const float* x, const LogitOf& logit,
                                  const KeptEdges& kept = {}) {
    const std::int64_t k = problem.k;
    const std::int64_t heads = problem.heads;
    Oracle y = zero_oracle(csr.n_rows, heads * k);
    Oracle lse = zero_oracle(csr.n_rows, heads);
    struct RowScratch {
        std::vector<Logit> terms;  // value becomes alpha, error R
        std::vector<double> scale;
    };
    const auto make = [&] { return RowScratch{{}, std::vector<double>(static_cast<std::size_t>(k))}; };
    parallel_for(csr.n_rows, 16, make, [&](std::int64_t i, RowScratch& scratch) {
        auto& [terms, scale] = scratch;
        const std::int32_t begin = csr.row_ptr[i];
        const auto degree = static_cast<std::size_t>(csr.row_ptr[i + 1] - begin);
        y.chain[static_cast<std::size_t>(i)] = lse.chain[static_cast<std::size_t>(i)] =
            chain_of(static_cast<std::int64_t>(degree), k);
        terms.resize(degree);
        for (std::int64_t h = 0; h < heads; ++h) {
            const std::int64_t row = i * heads + h;
            const auto source = [&](std::size_t t) {
                return static_cast<std::int64_t>(csr.col_idx[static_cast<std::size_t>(begin) + t]) * heads + h;
            };
            double largest = -std::numeric_limits<double>::infinity();
            for (std::size_t t = 0; t < degree; ++t) {
                terms[t] = logit(row, source(t));
                largest = std::max(largest, terms[t].value);
            }
            double sum = 0;
            for (const Logit& t : terms) sum += std::exp(t.value - largest);
            double mean_r = 0;
            for (Logit& t : terms) {
                t.value = std::exp(t.value - largest) / sum;
                t.error += std::abs(largest);
                mean_r += t.value * t.error;
            }
            double* out = y.value.data() + row * k;
            std::fill(scale.begin(), scale.end(), 0.0);
            for (std::size_t t = 0; t < degree; ++t) {
                const float* from = x + source(t) * k;
                const double keep = kept.factor(begin + static_cast<std::int32_t>(t), h);
                if (keep == 0) continue;
                const double alpha = keep * terms[t].value;
                const double factor = alpha * (1 + terms[t].error + mean_r);
                for (std::int64_t f = 0; f < k; ++f) {
                    out[f] += alpha * from[f];
                    scale[static_cast<std::size_t>(f)] += factor * std::abs(from[f]);
                }
            }
            std::copy(scale.begin(), scale.end(), y.scale.data() + row * k);
            const auto at = static_cast<std::size_t>(row);
            lse.value[at] = degree > 0 ? largest + std::log(sum) : -std::numeric_limits<double>::infinity();
            lse.scale[at] = degree > 0 ? static_cast<float>(1 + std::abs(lse.value[at]) + mean_r) : 0.0F;
        }
    });
    std::vector<Oracle> all;
    all.push_back(std::move(y));
    all.push_back(std::move(lse));
    return all;
}

}  // namespace gnntune::reference

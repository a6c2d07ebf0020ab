#include "core/ops/gat/oracle.hpp"

#include "core/common/parallel_for.hpp"
#include "core/common/philox.hpp"
#include "core/reference/attention.hpp"

namespace gnntune::reference {

// A term of y is alpha~_j x_j; its error is that of alpha (attention.hpp), so s = sum of alpha~_j factor_j |x_j|. Logits
// are rounded twice, at the sum of the scores and at the slope: logit_error = 2 |e|. The chain counts the row's edges
// twice: numerator and denominator.
std::vector<Oracle> gat(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                        const Operands& inputs) {
    const auto heads = static_cast<std::size_t>(problem.heads);
    const auto k = static_cast<std::size_t>(problem.k);
    const double keep_scale = 1.0 / (1.0 - static_cast<double>(inputs.dropout));
    const auto n_rows = static_cast<std::size_t>(csr.n_rows);
    Oracle y;
    y.row_width = static_cast<std::int64_t>(heads * k);
    y.value.assign(n_rows * heads * k, 0.0);
    y.scale.resize(y.value.size());
    y.chain.resize(n_rows);
    Oracle lse;
    lse.row_width = problem.heads;
    lse.value.resize(n_rows * heads);
    lse.scale.resize(n_rows * heads);
    lse.chain.resize(n_rows);
    parallel_for(csr.n_rows, 16, [&](std::int64_t i) {
        const auto row = static_cast<std::size_t>(i);
        const std::int32_t begin = csr.row_ptr[i];
        const auto degree = static_cast<std::size_t>(csr.row_ptr[i + 1] - begin);
        y.chain[row] = lse.chain[row] = static_cast<std::int32_t>(2 * degree);
        std::vector<double> logit(degree);
        std::vector<double> logit_error(degree);
        std::vector<double> scale(k);
        for (std::size_t h = 0; h < heads; ++h) {
            for (std::size_t j = 0; j < degree; ++j) {
                const auto col = static_cast<std::size_t>(csr.col_idx[static_cast<std::size_t>(begin) + j]);
                const double v = static_cast<double>(inputs.score_row[row * heads + h]) +
                                 static_cast<double>(inputs.score_col[col * heads + h]);
                logit[j] = v > 0 ? v : inputs.negative_slope * v;
                logit_error[j] = 2 * std::abs(logit[j]);
            }
            const RowSoftmax softmax = row_softmax(logit, logit_error);
            lse.value[row * heads + h] = softmax.lse;
            lse.scale[row * heads + h] = static_cast<float>(softmax.lse_scale);
            double* sum = y.value.data() + (row * heads + h) * k;
            scale.assign(k, 0.0);
            for (std::size_t j = 0; j < degree; ++j) {
                const std::int32_t e = begin + static_cast<std::int32_t>(j);
                const auto id = static_cast<std::uint32_t>(edge_id ? edge_id[e] : e);
                if (!philox_keep(inputs.seed, id, static_cast<std::uint32_t>(h), inputs.dropout)) continue;
                const float* x = inputs.x + (static_cast<std::size_t>(csr.col_idx[e]) * heads + h) * k;
                for (std::size_t f = 0; f < k; ++f) {
                    const double term = softmax.alpha[j] * keep_scale * x[f];
                    sum[f] += term;
                    scale[f] += std::abs(term) * softmax.factor[j];
                }
            }
            for (std::size_t f = 0; f < k; ++f) y.scale[(row * heads + h) * k + f] = static_cast<float>(scale[f]);
        }
    });
    std::vector<Oracle> all;
    all.push_back(std::move(y));
    all.push_back(std::move(lse));
    return all;
}

}  // namespace gnntune::reference

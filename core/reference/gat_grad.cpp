#include "core/common/parallel_for.hpp"
#include "core/common/philox.hpp"
#include "core/reference/attention.hpp"
#include "core/reference/oracle.hpp"

namespace gnntune::reference {
namespace {

// What the row pass leaves of every edge and head, in the order of the CSR.
struct EdgeTerm {
    double alpha = 0;        ///< after dropout: what y was summed with
    double alpha_scale = 0;  ///< the same with its error factor
    double score = 0;        ///< gradient with respect to score_row[i] + score_col[j]
    double score_scale = 0;
};

Oracle empty_oracle(std::int32_t rows, std::size_t width) {
    Oracle o;
    o.row_width = static_cast<std::int64_t>(width);
    o.value.assign(static_cast<std::size_t>(rows) * width, 0.0);
    o.scale.assign(o.value.size(), 0.0F);
    o.chain.assign(static_cast<std::size_t>(rows), 0);
    return o;
}

}  // namespace

// With keep_ij in {0, 1 / (1 - p)}:   alpha~ = alpha keep,   d_ij = keep <grad_y_i, x_j>,   D_i = sum_j alpha_ij d_ij,
//     g_ij = alpha_ij (d_ij - D_i) leaky_relu'(.)
//     grad_x_j = sum_i alpha~_ij grad_y_i,   grad_score_row_i = sum_j g_ij,   grad_score_col_j = sum_i g_ij
// alpha is computed from the scores; lse_saved, which variants use, is a rounding of the same numbers. D_i is
// <grad_y_i, y_saved_i>, the same but for the rounding of y_saved, which in 16 bits is felt. Scales: alpha has the
// factor of attention.hpp with a rounded lse; d and D the sums of their |terms|; g the sum of both, since they cancel. A
// chain counts the edges of the sum, the dot products of k terms, and the longest row whose softmax takes part.
std::vector<Oracle> gat_grad(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                             const Operands& inputs) {
    const auto heads = static_cast<std::size_t>(problem.heads);
    const auto k = static_cast<std::size_t>(problem.k);
    const double keep_scale = 1.0 / (1.0 - static_cast<double>(inputs.dropout));
    std::vector<Oracle> all;
    all.push_back(empty_oracle(csr.n_cols, heads * k));
    all.push_back(empty_oracle(csr.n_rows, heads));
    all.push_back(empty_oracle(csr.n_cols, heads));
    Oracle& grad_x = all[0];
    Oracle& grad_row = all[1];
    Oracle& grad_col = all[2];
    std::vector<EdgeTerm> terms(static_cast<std::size_t>(csr.m) * heads);

    parallel_for(csr.n_rows, 16, [&](std::int64_t i) {
        const auto row = static_cast<std::size_t>(i);
        const auto begin = static_cast<std::size_t>(csr.row_ptr[i]);
        const std::size_t degree = static_cast<std::size_t>(csr.row_ptr[i + 1]) - begin;
        std::vector<double> logit(degree);
        std::vector<double> logit_error(degree);
        std::vector<double> derivative(degree);
        std::vector<double> d(degree);
        std::vector<double> d_scale(degree);
        std::vector<double> keep(degree);
        for (std::size_t h = 0; h < heads; ++h) {
            const float* g = inputs.grad_y + (row * heads + h) * k;
            for (std::size_t j = 0; j < degree; ++j) {
                const auto col = static_cast<std::size_t>(csr.col_idx[begin + j]);
                const double v = static_cast<double>(inputs.score_row[row * heads + h]) +
                                 static_cast<double>(inputs.score_col[col * heads + h]);
                derivative[j] = v > 0 ? 1.0 : static_cast<double>(inputs.negative_slope);
                logit[j] = derivative[j] * v;
                logit_error[j] = 2 * std::abs(logit[j]);
                const auto id =
                    static_cast<std::uint32_t>(edge_id ? edge_id[begin + j] : static_cast<std::int32_t>(begin + j));
                keep[j] = philox_keep(inputs.seed, id, static_cast<std::uint32_t>(h), inputs.dropout) ? keep_scale : 0;
                const float* x = inputs.x + (col * heads + h) * k;
                d[j] = d_scale[j] = 0;
                for (std::size_t f = 0; f < k; ++f) {
                    const double term = keep[j] * static_cast<double>(g[f]) * x[f];
                    d[j] += term;
                    d_scale[j] += std::abs(term);
                }
            }
            const RowSoftmax softmax = row_softmax(logit, logit_error, true);
            double mean = 0;
            double mean_scale = 0;
            const float* y = inputs.y_saved + (row * heads + h) * k;
            for (std::size_t f = 0; f < k; ++f) mean += static_cast<double>(g[f]) * y[f];
            for (std::size_t j = 0; j < degree; ++j) {
                mean_scale += softmax.alpha[j] * softmax.factor[j] * d_scale[j];
            }
            double sum = 0;
            double sum_scale = 0;
            for (std::size_t j = 0; j < degree; ++j) {
                EdgeTerm& t = terms[(begin + j) * heads + h];
                t.alpha = softmax.alpha[j] * keep[j];
                t.alpha_scale = t.alpha * softmax.factor[j];
                t.score = softmax.alpha[j] * (d[j] - mean) * derivative[j];
                t.score_scale =
                    softmax.alpha[j] * softmax.factor[j] * (d_scale[j] + mean_scale) * std::abs(derivative[j]);
                sum += t.score;
                sum_scale += t.score_scale;
            }
            grad_row.value[row * heads + h] = sum;
            grad_row.scale[row * heads + h] = static_cast<float>(sum_scale);
        }
        grad_row.chain[row] = static_cast<std::int32_t>(2 * degree + k);
    });

    // Columns in the order of the rows: edge positions, grouped.
    std::vector<std::size_t> col_ptr(static_cast<std::size_t>(csr.n_cols) + 1, 0);
    for (std::int64_t e = 0; e < csr.m; ++e) ++col_ptr[static_cast<std::size_t>(csr.col_idx[e]) + 1];
    for (std::size_t c = 1; c < col_ptr.size(); ++c) col_ptr[c] += col_ptr[c - 1];
    std::vector<std::pair<std::int32_t, std::size_t>> edges(static_cast<std::size_t>(csr.m));  // (row, position)
    std::vector<std::size_t> next(col_ptr.begin(), col_ptr.end());
    for (std::int32_t i = 0; i < csr.n_rows; ++i) {
        for (auto e = static_cast<std::size_t>(csr.row_ptr[i]); e < static_cast<std::size_t>(csr.row_ptr[i + 1]); ++e) {
            edges[next[static_cast<std::size_t>(csr.col_idx[e])]++] = {i, e};
        }
    }
    parallel_for(csr.n_cols, 16, [&](std::int64_t c) {
        const auto col = static_cast<std::size_t>(c);
        std::vector<double> scale(k);
        std::int32_t longest = 0;
        for (std::size_t h = 0; h < heads; ++h) {
            double* sum = grad_x.value.data() + (col * heads + h) * k;
            double score_scale = 0;
            scale.assign(k, 0.0);
            for (std::size_t at = col_ptr[col]; at < col_ptr[col + 1]; ++at) {
                const auto [i, e] = edges[at];
                const EdgeTerm& t = terms[e * heads + h];
                const float* g = inputs.grad_y + (static_cast<std::size_t>(i) * heads + h) * k;
                for (std::size_t f = 0; f < k; ++f) {
                    sum[f] += t.alpha * g[f];
                    scale[f] += t.alpha_scale * std::abs(static_cast<double>(g[f]));
                }
                grad_col.value[col * heads + h] += t.score;
                score_scale += t.score_scale;
                longest = std::max(longest, csr.row_ptr[i + 1] - csr.row_ptr[i]);
            }
            for (std::size_t f = 0; f < k; ++f) grad_x.scale[(col * heads + h) * k + f] = static_cast<float>(scale[f]);
            grad_col.scale[col * heads + h] = static_cast<float>(score_scale);
        }
        const auto degree = static_cast<std::int32_t>(col_ptr[col + 1] - col_ptr[col]);
        grad_x.chain[col] = degree + longest;
        grad_col.chain[col] = degree + longest + problem.k;
    });
    return all;
}

}  // namespace gnntune::reference

// Gradients through the softmax of attention in double, with how far a right result may be off: what the oracles of
// agnn_grad and attention_grad share. With g = grad_y, y = y_saved, e the logit and alpha = exp(e - lse_saved):
//     de_ij = alpha_ij (<g_i, x_j> - <g_i, y_i>)
// is the gradient with respect to e_ij. Scales, in the unit u and with the error E of a logit of row_attention.hpp:
// alpha is off by a relative u (1 + R), R = E + |lse|, since the saved lse is given and e - lse rounds. With
// G = sum |g x| and Y = sum |g y| the difference of the two dot products is off by u (G + Y), so de by u S with
//     S_ij = alpha_ij ((1 + R_ij) |<g_i, x_j> - <g_i, y_i>| + G_ij + Y_i).
// Dropout, which comes after the softmax, multiplies x_j and G_ij with f_ij, 0 or 1 / (1 - p), and the alpha_ij that y is
// a sum with.
#pragma once

#include <cmath>
#include <vector>

#include "core/reference/row_attention.hpp"

namespace gnntune::reference {

/// One edge of one head.
struct EdgeGradient {
    double alpha;        ///< after dropout
    double alpha_scale;  ///< alpha (1 + R)
    double de;
    double de_scale;  ///< S
};

class SoftmaxGradient {
public:
    /// `in` has x, grad_y, y_saved and lse_saved, and outlives this.
    SoftmaxGradient(const Problem& problem, const CsrView& csr, const Operands& in) : in_(in), k_(problem.k) {
        for (std::int64_t v = 0; v < std::int64_t{csr.n_rows} * problem.heads; ++v) {
            double sum = 0;
            double terms = 0;
            for (std::int64_t f = v * k_; f < (v + 1) * k_; ++f) {
                const double term = static_cast<double>(in.grad_y[f]) * in.y_saved[f];
                sum += term;
                terms += std::abs(term);
            }
            row_dot_.push_back(sum);
            row_terms_.push_back(terms);
        }
    }

    /// `row` and `col` are vertex * heads + head, `kept` what dropout multiplies the edge's alpha with.
    EdgeGradient edge(std::int64_t row, std::int64_t col, const Logit& logit, double kept = 1) const {
        const float* x = in_.x + col * k_;
        const float* g = in_.grad_y + row * k_;
        const double lse = in_.lse_saved[row];
        double difference = -row_dot_[static_cast<std::size_t>(row)];
        double terms = row_terms_[static_cast<std::size_t>(row)];
        for (std::int64_t f = 0; f < k_; ++f) {
            const double term = kept * static_cast<double>(g[f]) * x[f];
            difference += term;
            terms += std::abs(term);
        }
        EdgeGradient out{};
        const double alpha = std::exp(logit.value - lse);
        const double scale = alpha * (1 + logit.error + std::abs(lse));
        out.alpha = kept * alpha;
        out.alpha_scale = kept * scale;
        out.de = alpha * difference;
        out.de_scale = scale * std::abs(difference) + alpha * terms;
        return out;
    }

private:
    const Operands& in_;
    std::int64_t k_;
    std::vector<double> row_dot_;    ///< <g, y>
    std::vector<double> row_terms_;  ///< sum |g y|
};

/// The rows of every column, for sums over columns without races: those of column j are row_of[col_ptr[j]] on,
/// ascending.
struct ColumnRows {
    std::vector<std::int64_t> col_ptr;
    std::vector<std::int32_t> row_of;
    std::vector<std::int32_t> edge_of;  ///< position in the CSR

    explicit ColumnRows(const CsrView& csr)
        : col_ptr(static_cast<std::size_t>(csr.n_cols) + 1),
          row_of(static_cast<std::size_t>(csr.m)),
          edge_of(row_of.size()) {
        for (std::int64_t e = 0; e < csr.m; ++e) ++col_ptr[static_cast<std::size_t>(csr.col_idx[e]) + 1];
        for (std::size_t j = 1; j < col_ptr.size(); ++j) col_ptr[j] += col_ptr[j - 1];
        std::vector<std::int64_t> next(col_ptr.begin(), col_ptr.end() - 1);
        for (std::int32_t i = 0; i < csr.n_rows; ++i) {
            for (std::int32_t e = csr.row_ptr[i]; e < csr.row_ptr[i + 1]; ++e) {
                const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(csr.col_idx[e])]++);
                row_of[at] = i;
                edge_of[at] = e;
            }
        }
    }
};

}  // namespace gnntune::reference

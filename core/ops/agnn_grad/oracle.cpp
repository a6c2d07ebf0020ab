// With u_i = x_row_i / |x_row_i|, v_j = x_j / |x_j|, c = <u_i, v_j>, e = beta c, and alpha, de of softmax_gradient.hpp:
//     grad_beta  = sum_ij de_ij c_ij
//     grad_x_row = sum_j beta de_ij (v_j - c_ij u_i) / |x_row_i|
//     grad_x     = sum_i alpha_ij g_i + sum_i beta de_ij (u_i - c_ij v_j) / |x_j|
// and what belongs to a zero vector's cosine is 0.
//
// Scales, in the unit u of core/reference/row_attention.hpp: c is off by u A (A >= |c|; its norms by as much), so the
// logit by u |beta| (A + |c|), and de by u S. Each gradient adds products of these; a product's error is the sum of
// either error times the other factor, and one more for its own rounding and for the sum it goes into:
//     grad_beta    S |c| + |de| A
//     grad_x_row   |beta| / |x_row_i| ((S + |de|) (|v_f| + |c u_f|) + |de| A |u_f|)
//     grad_x       alpha (1 + R) |g_f| + the same with u and v exchanged, over |x_j|.
// Implementations may take c out of the sum and form <sum_j beta de v_j, u_i> instead: its terms are |de| A |u_f| too.
#include "core/ops/agnn_grad/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/common/parallel_for.hpp"
#include "core/reference/cosine.hpp"
#include "core/reference/softmax_gradient.hpp"

namespace gnntune::reference {
namespace {

/// One edge of one head.
struct CosineEdge : EdgeGradient {
    Cosine c;
};

class AgnnGradient {
public:
    AgnnGradient(const Problem& problem, const CsrView& csr, const Operands& in)
        : in_(in), k_(problem.k), heads_(problem.heads), softmax_(problem, csr, in) {
        for (std::int64_t v = 0; v < std::int64_t{csr.n_rows} * heads_; ++v) {
            inverse_row_.push_back(inverse_norm(in.x_row + v * k_, problem.k));
        }
        for (std::int64_t v = 0; v < std::int64_t{csr.n_cols} * heads_; ++v) {
            inverse_col_.push_back(inverse_norm(in.x + v * k_, problem.k));
        }
    }

    double inverse_row(std::int64_t at) const { return inverse_row_[static_cast<std::size_t>(at)]; }
    double inverse_col(std::int64_t at) const { return inverse_col_[static_cast<std::size_t>(at)]; }

    /// `row` and `col` are vertex * heads + head.
    CosineEdge edge(std::int64_t row, std::int64_t col) const {
        const double beta = in_.beta[row % heads_];
        const Cosine c = cosine(in_.x_row + row * k_, in_.x + col * k_, static_cast<std::int32_t>(k_),
                                inverse_row(row) * inverse_col(col));
        const Logit logit{beta * c.value, std::abs(beta) * (c.terms + std::abs(c.value))};
        return {softmax_.edge(row, col, logit), c};
    }

private:
    const Operands& in_;
    std::int64_t k_;
    std::int64_t heads_;
    SoftmaxGradient softmax_;
    std::vector<double> inverse_row_;
    std::vector<double> inverse_col_;
};

/// Adds one edge's part of the gradient of the cosine to the side whose vector is `own`; both vectors have `k`
/// features.
void add_cosine(const CosineEdge& edge, double beta, const float* own, double inverse_own, const float* other,
                double inverse_other, std::int64_t k, double* value, double* scale) {
    const double factor = beta * inverse_own;
    const double error = edge.de_scale + std::abs(edge.de);
    const double projected = error * std::abs(edge.c.value) + std::abs(edge.de) * edge.c.terms;
    for (std::int64_t f = 0; f < k; ++f) {
        const double u = own[f] * inverse_own;
        const double v = other[f] * inverse_other;
        value[f] += factor * edge.de * (v - edge.c.value * u);
        scale[f] += std::abs(factor) * (error * std::abs(v) + projected * std::abs(u));
    }
}

}  // namespace

std::vector<Oracle> agnn_grad(const Problem& problem, const CsrView& csr, const Operands& in) {
    const std::int64_t k = problem.k;
    const std::int64_t heads = problem.heads;
    const AgnnGradient gradient(problem, csr, in);
    Oracle grad_x = zero_oracle(csr.n_cols, heads * k);
    Oracle grad_x_row = zero_oracle(csr.n_rows, heads * k);
    Oracle grad_beta = zero_oracle(1, heads);
    // Of each row: the sum over them is formed in their order, whatever the threads do.
    std::vector<double> beta_value(static_cast<std::size_t>(csr.n_rows * heads));
    std::vector<double> beta_scale(beta_value.size());

    const ColumnRows columns(csr);
    using Scales = std::vector<double>;
    const auto make = [&] { return Scales(static_cast<std::size_t>(k)); };
    parallel_for(csr.n_rows, 16, make, [&](std::int64_t i, Scales& scale) {
        grad_x_row.chain[static_cast<std::size_t>(i)] = chain_of(csr.row_ptr[i + 1] - csr.row_ptr[i], k);
        for (std::int64_t h = 0; h < heads; ++h) {
            const std::int64_t row = i * heads + h;
            std::fill(scale.begin(), scale.end(), 0.0);
            for (std::int32_t e = csr.row_ptr[i]; e < csr.row_ptr[i + 1]; ++e) {
                const std::int64_t col = csr.col_idx[e] * heads + h;
                const CosineEdge edge = gradient.edge(row, col);
                add_cosine(edge, in.beta[h], in.x_row + row * k, gradient.inverse_row(row), in.x + col * k,
                           gradient.inverse_col(col), k, grad_x_row.value.data() + row * k, scale.data());
                const auto at = static_cast<std::size_t>(row);
                beta_value[at] += edge.de * edge.c.value;
                beta_scale[at] += edge.de_scale * std::abs(edge.c.value) + std::abs(edge.de) * edge.c.terms;
            }
            std::copy(scale.begin(), scale.end(), grad_x_row.scale.data() + row * k);
        }
    });
    parallel_for(csr.n_cols, 16, make, [&](std::int64_t j, Scales& scale) {
        const std::int64_t begin = columns.col_ptr[static_cast<std::size_t>(j)];
        const std::int64_t end = columns.col_ptr[static_cast<std::size_t>(j) + 1];
        grad_x.chain[static_cast<std::size_t>(j)] = chain_of(end - begin, k);
        for (std::int64_t h = 0; h < heads; ++h) {
            const std::int64_t col = j * heads + h;
            double* value = grad_x.value.data() + col * k;
            std::fill(scale.begin(), scale.end(), 0.0);
            for (std::int64_t e = begin; e < end; ++e) {
                const std::int64_t row = columns.row_of[static_cast<std::size_t>(e)] * heads + h;
                const CosineEdge edge = gradient.edge(row, col);
                for (std::int64_t f = 0; f < k; ++f) {
                    const double g = in.grad_y[row * k + f];
                    value[f] += edge.alpha * g;
                    scale[static_cast<std::size_t>(f)] += edge.alpha_scale * std::abs(g);
                }
                add_cosine(edge, in.beta[h], in.x + col * k, gradient.inverse_col(col), in.x_row + row * k,
                           gradient.inverse_row(row), k, value, scale.data());
            }
            std::copy(scale.begin(), scale.end(), grad_x.scale.data() + col * k);
        }
    });
    std::vector<double> beta_scales(static_cast<std::size_t>(heads));
    for (std::size_t at = 0; at < beta_value.size(); ++at) {
        const std::size_t h = at % beta_scales.size();
        grad_beta.value[h] += beta_value[at];
        beta_scales[h] += beta_scale[at];
    }
    std::copy(beta_scales.begin(), beta_scales.end(), grad_beta.scale.begin());
    grad_beta.chain[0] = chain_of(csr.m, k);
    std::vector<Oracle> all;
    all.push_back(std::move(grad_x));
    all.push_back(std::move(grad_x_row));
    all.push_back(std::move(grad_beta));
    return all;
}

}  // namespace gnntune::reference

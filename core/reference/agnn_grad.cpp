// With u_i = x_row_i / |x_row_i|, v_j = x_j / |x_j|, c = <u_i, v_j>, e = beta c, alpha = exp(e - lse_saved) and
// g = grad_y, y = y_saved:
//     de_ij      = alpha_ij (<g_i, x_j> - <g_i, y_i>)
//     grad_beta  = sum_ij de_ij c_ij
//     grad_x_row = sum_j beta de_ij (v_j - c_ij u_i) / |x_row_i|
//     grad_x     = sum_i alpha_ij g_i + sum_i beta de_ij (u_i - c_ij v_j) / |x_j|
// and what belongs to a zero vector's cosine is 0.
//
// Scales, in the unit u of core/reference/agnn.cpp: c is off by u A (A >= |c|; its norms by as much), alpha by a
// relative u (1 + R), R = |beta| (A + |c|) + |lse|, since the saved lse is given and e - lse rounds. With G = sum |g x|
// and Y = sum |g y| the difference of the two dot products is off by u (G + Y), so de by u S with
//     S_ij = alpha_ij ((1 + R_ij) |<g_i, x_j> - <g_i, y_i>| + G_ij + Y_i).
// Each gradient adds products of these; a product's error is the sum of either error times the other factor, and one
// more for its own rounding and for the sum it goes into:
//     grad_beta    S |c| + |de| A
//     grad_x_row   |beta| / |x_row_i| ((S + |de|) (|v_f| + |c u_f|) + |de| A |u_f|)
//     grad_x       alpha (1 + R) |g_f| + the same with u and v exchanged, over |x_j|.
// Implementations may take c out of the sum and form <sum_j beta de v_j, u_i> instead: its terms are |de| A |u_f| too.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/reference/cosine.hpp"
#include "core/reference/oracle.hpp"

namespace gnntune::reference {
namespace {

/// One edge of one head.
struct EdgeGradient {
    Cosine c;
    double alpha;
    double alpha_scale;  ///< alpha (1 + R)
    double de;
    double de_scale;  ///< S
};

class AgnnGradient {
public:
    AgnnGradient(const Problem& problem, const CsrView& csr, const Operands& in)
        : in_(in), k_(problem.k), heads_(problem.heads) {
        for (std::int64_t v = 0; v < std::int64_t{csr.n_rows} * heads_; ++v) {
            inverse_row_.push_back(inverse_norm(in.x_row + v * k_, problem.k));
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
        for (std::int64_t v = 0; v < std::int64_t{csr.n_cols} * heads_; ++v) {
            inverse_col_.push_back(inverse_norm(in.x + v * k_, problem.k));
        }
    }

    double inverse_row(std::int64_t at) const { return inverse_row_[static_cast<std::size_t>(at)]; }
    double inverse_col(std::int64_t at) const { return inverse_col_[static_cast<std::size_t>(at)]; }

    /// `row` and `col` are vertex * heads + head.
    EdgeGradient edge(std::int64_t row, std::int64_t col) const {
        const float* x = in_.x + col * k_;
        const float* g = in_.grad_y + row * k_;
        const double beta = in_.beta[row % heads_];
        const double lse = in_.lse_saved[row];
        EdgeGradient out;
        out.c = cosine(in_.x_row + row * k_, x, static_cast<std::int32_t>(k_), inverse_row(row) * inverse_col(col));
        double difference = -row_dot_[static_cast<std::size_t>(row)];
        double terms = row_terms_[static_cast<std::size_t>(row)];
        for (std::int64_t f = 0; f < k_; ++f) {
            const double term = static_cast<double>(g[f]) * x[f];
            difference += term;
            terms += std::abs(term);
        }
        out.alpha = std::exp(beta * out.c.value - lse);
        const double r = std::abs(beta) * (out.c.terms + std::abs(out.c.value)) + std::abs(lse);
        out.alpha_scale = out.alpha * (1 + r);
        out.de = out.alpha * difference;
        out.de_scale = out.alpha_scale * std::abs(difference) + out.alpha * terms;
        return out;
    }

private:
    const Operands& in_;
    std::int64_t k_;
    std::int64_t heads_;
    std::vector<double> inverse_row_;
    std::vector<double> inverse_col_;
    std::vector<double> row_dot_;    ///< <g, y>
    std::vector<double> row_terms_;  ///< sum |g y|
};

/// Adds one edge's part of the gradient of the cosine to the side whose vector is `own`; both vectors have `k`
/// features.
void add_cosine(const EdgeGradient& edge, double beta, const float* own, double inverse_own, const float* other,
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

std::int32_t chain_of(std::int64_t terms, std::int64_t k) {
    return static_cast<std::int32_t>(std::min<std::int64_t>(terms + k, kMaxEdges));
}

Oracle sized(std::int64_t rows, std::int64_t width) {
    Oracle out;
    out.row_width = width;
    out.value.assign(static_cast<std::size_t>(rows * width), 0.0);
    out.scale.assign(static_cast<std::size_t>(rows * width), 0.0F);
    out.chain.assign(static_cast<std::size_t>(rows), 0);
    return out;
}

}  // namespace

std::vector<Oracle> agnn_grad(const Problem& problem, const CsrView& csr, const Operands& in) {
    const std::int64_t k = problem.k;
    const std::int64_t heads = problem.heads;
    const AgnnGradient gradient(problem, csr, in);
    Oracle grad_x = sized(csr.n_cols, heads * k);
    Oracle grad_x_row = sized(csr.n_rows, heads * k);
    Oracle grad_beta = sized(1, heads);
    std::vector<double> beta_value(static_cast<std::size_t>(heads));
    std::vector<double> beta_scale(static_cast<std::size_t>(heads));

    // The rows of every column, for sums over columns without races.
    std::vector<std::int64_t> col_ptr(static_cast<std::size_t>(csr.n_cols) + 1);
    for (std::int64_t e = 0; e < csr.m; ++e) ++col_ptr[static_cast<std::size_t>(csr.col_idx[e]) + 1];
    for (std::size_t j = 1; j < col_ptr.size(); ++j) col_ptr[j] += col_ptr[j - 1];
    std::vector<std::int32_t> row_of(static_cast<std::size_t>(csr.m));
    std::vector<std::int64_t> next(col_ptr.begin(), col_ptr.end() - 1);
    for (std::int32_t i = 0; i < csr.n_rows; ++i) {
        for (std::int32_t e = csr.row_ptr[i]; e < csr.row_ptr[i + 1]; ++e) {
            row_of[static_cast<std::size_t>(next[static_cast<std::size_t>(csr.col_idx[e])]++)] = i;
        }
    }
#pragma omp parallel
    {
        std::vector<double> scale(static_cast<std::size_t>(k));
        std::vector<double> beta_here(static_cast<std::size_t>(heads));
        std::vector<double> beta_scale_here(static_cast<std::size_t>(heads));
#pragma omp for schedule(dynamic, 16) nowait
        for (std::int32_t i = 0; i < csr.n_rows; ++i) {
            grad_x_row.chain[static_cast<std::size_t>(i)] = chain_of(csr.row_ptr[i + 1] - csr.row_ptr[i], k);
            for (std::int64_t h = 0; h < heads; ++h) {
                const std::int64_t row = i * heads + h;
                std::fill(scale.begin(), scale.end(), 0.0);
                for (std::int32_t e = csr.row_ptr[i]; e < csr.row_ptr[i + 1]; ++e) {
                    const std::int64_t col = csr.col_idx[e] * heads + h;
                    const EdgeGradient edge = gradient.edge(row, col);
                    add_cosine(edge, in.beta[h], in.x_row + row * k, gradient.inverse_row(row), in.x + col * k,
                               gradient.inverse_col(col), k, grad_x_row.value.data() + row * k, scale.data());
                    const auto at = static_cast<std::size_t>(h);
                    beta_here[at] += edge.de * edge.c.value;
                    beta_scale_here[at] += edge.de_scale * std::abs(edge.c.value) + std::abs(edge.de) * edge.c.terms;
                }
                std::copy(scale.begin(), scale.end(), grad_x_row.scale.data() + row * k);
            }
        }
#pragma omp critical
        for (std::size_t h = 0; h < beta_here.size(); ++h) {
            beta_value[h] += beta_here[h];
            beta_scale[h] += beta_scale_here[h];
        }
#pragma omp for schedule(dynamic, 16)
        for (std::int32_t j = 0; j < csr.n_cols; ++j) {
            const std::int64_t begin = col_ptr[static_cast<std::size_t>(j)];
            const std::int64_t end = col_ptr[static_cast<std::size_t>(j) + 1];
            grad_x.chain[static_cast<std::size_t>(j)] = chain_of(end - begin, k);
            for (std::int64_t h = 0; h < heads; ++h) {
                const std::int64_t col = j * heads + h;
                double* value = grad_x.value.data() + col * k;
                std::fill(scale.begin(), scale.end(), 0.0);
                for (std::int64_t e = begin; e < end; ++e) {
                    const std::int64_t row = row_of[static_cast<std::size_t>(e)] * heads + h;
                    const EdgeGradient edge = gradient.edge(row, col);
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
        }
    }
    for (std::size_t h = 0; h < beta_value.size(); ++h) {
        grad_beta.value[h] = beta_value[h];
        grad_beta.scale[h] = static_cast<float>(beta_scale[h]);
    }
    grad_beta.chain[0] = chain_of(csr.m, k);
    std::vector<Oracle> all;
    all.push_back(std::move(grad_x));
    all.push_back(std::move(grad_x_row));
    all.push_back(std::move(grad_beta));
    return all;
}

}  // namespace gnntune::reference

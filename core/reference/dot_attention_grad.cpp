// With e = s <q_i, key_j>, q = x_row, and alpha (after dropout), de of softmax_gradient.hpp:
//     grad_x     = sum_i alpha_ij g_i
//     grad_x_row = sum_j s de_ij key_j
//     grad_key   = sum_i s de_ij q_i
//
// Scales, in the unit u of row_attention.hpp: alpha is off by u alpha (1 + R), de by u S, and each product and sum by
// as much as its terms once more:
//     grad_x     alpha (1 + R) |g_f|
//     grad_x_row |s| (S + |de|) |key_f|,  grad_key the same with |q_f|.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/common/parallel_for.hpp"
#include "core/reference/dot_logit.hpp"
#include "core/reference/oracle.hpp"
#include "core/reference/softmax_gradient.hpp"

namespace gnntune::reference {
namespace {

/// Adds weight x to a sum and |weight_scale x| to its scale.
void add(double weight, double weight_scale, const float* x, double* value, std::vector<double>& scale) {
    for (std::size_t f = 0; f < scale.size(); ++f) {
        value[f] += weight * x[f];
        scale[f] += weight_scale * std::abs(x[f]);
    }
}

}  // namespace

std::vector<Oracle> attention_grad(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                                   const Operands& in) {
    const std::int64_t k = problem.k;
    const std::int64_t heads = problem.heads;
    const double s = logit_scale(in, problem.k);
    const SoftmaxGradient softmax(problem, csr, in);
    const ColumnRows columns(csr);
    const KeptEdges kept(in, edge_id);
    const auto gradient = [&](std::int32_t e, std::int64_t row, std::int64_t col) {
        const Logit logit = dot_logit(in.x_row + row * k, in.key + col * k, problem.k, s);
        return softmax.edge(row, col, logit, kept.factor(e, row % heads));
    };
    const auto logit_scale_of = [&](const EdgeGradient& edge) {
        return std::abs(s) * (edge.de_scale + std::abs(edge.de));
    };
    Oracle grad_x = zero_oracle(csr.n_cols, heads * k);
    Oracle grad_x_row = zero_oracle(csr.n_rows, heads * k);
    Oracle grad_key = zero_oracle(csr.n_cols, heads * k);
    const auto features = static_cast<std::size_t>(k);
    using Scales = std::vector<double>;
    parallel_for(
        csr.n_rows, 16, [&] { return Scales(features); },
        [&](std::int64_t i, Scales& scale) {
            grad_x_row.chain[static_cast<std::size_t>(i)] = chain_of(csr.row_ptr[i + 1] - csr.row_ptr[i], k);
            for (std::int64_t row = i * heads; row < (i + 1) * heads; ++row) {
                scale.assign(features, 0.0);
                for (std::int32_t e = csr.row_ptr[i]; e < csr.row_ptr[i + 1]; ++e) {
                    const std::int64_t col = csr.col_idx[e] * heads + row % heads;
                    const EdgeGradient edge = gradient(e, row, col);
                    add(s * edge.de, logit_scale_of(edge), in.key + col * k, grad_x_row.value.data() + row * k, scale);
                }
                std::copy(scale.begin(), scale.end(), grad_x_row.scale.data() + row * k);
            }
        });
    const auto make_two = [&] { return std::pair(Scales(features), Scales(features)); };
    parallel_for(csr.n_cols, 16, make_two, [&](std::int64_t j, std::pair<Scales, Scales>& scales) {
        auto& [scale, key_scale] = scales;
        const std::int64_t begin = columns.col_ptr[static_cast<std::size_t>(j)];
        const std::int64_t end = columns.col_ptr[static_cast<std::size_t>(j) + 1];
        grad_x.chain[static_cast<std::size_t>(j)] = grad_key.chain[static_cast<std::size_t>(j)] =
            chain_of(end - begin, k);
        for (std::int64_t col = j * heads; col < (j + 1) * heads; ++col) {
            scale.assign(features, 0.0);
            key_scale.assign(features, 0.0);
            for (std::int64_t e = begin; e < end; ++e) {
                const std::int64_t row = columns.row_of[static_cast<std::size_t>(e)] * heads + col % heads;
                const EdgeGradient edge = gradient(columns.edge_of[static_cast<std::size_t>(e)], row, col);
                add(edge.alpha, edge.alpha_scale, in.grad_y + row * k, grad_x.value.data() + col * k, scale);
                add(s * edge.de, logit_scale_of(edge), in.x_row + row * k, grad_key.value.data() + col * k, key_scale);
            }
            std::copy(scale.begin(), scale.end(), grad_x.scale.data() + col * k);
            std::copy(key_scale.begin(), key_scale.end(), grad_key.scale.data() + col * k);
        }
    });
    std::vector<Oracle> all;
    all.push_back(std::move(grad_x));
    all.push_back(std::move(grad_x_row));
    all.push_back(std::move(grad_key));
    return all;
}

}  // namespace gnntune::reference

#include "core/ops/sddmm/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/common/team.hpp"

namespace gnntune::reference {
namespace {

// An edge's value and the scale of its error.
struct Finished {
    double value;
    double scale;
};

// `value` may be wrong by a small part of `scale`. A leaky ReLU multiplies what it is wrong by with its steepest slope;
// exp with its own value, and rounds that itself, which the operand constant allows for one term of that size.
Finished activated(double value, double scale, const Operands& numbers) {
    switch (numbers.activation) {
        case EdgeActivation::leaky_relu: {
            const double slope = numbers.negative_slope;
            return {value > 0 ? value : slope * value, scale * std::max(1.0, std::abs(slope))};
        }
        case EdgeActivation::exp: {
            const double result = std::exp(value);
            return {result, result * (1.0 + scale)};
        }
        case EdgeActivation::none:
            break;
    }
    return {value, scale};
}

}  // namespace

std::vector<Oracle> sddmm(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                          const Operands& inputs) {
    const std::int32_t k = problem.k;
    const std::int32_t heads = problem.heads;
    Oracle out;
    const auto size = static_cast<std::size_t>(csr.m) * static_cast<std::size_t>(heads);
    out.value.resize(size);
    out.scale.resize(size);
    out.chain.assign(size, k);
    team_for_each(csr.n_rows, 64, csr.m * heads * k, [&](std::int64_t i) {
        for (std::int32_t e = csr.row_ptr[i]; e < csr.row_ptr[i + 1]; ++e) {
            const auto id = static_cast<std::size_t>(edge_id ? edge_id[e] : e);
            const double w = (problem.weighted ? inputs.edge_weight[id] : 1.0) * product_scale(inputs);
            for (std::int32_t h = 0; h < heads; ++h) {
                const float* a = inputs.x_row + (i * heads + h) * k;
                const float* b = inputs.x + (static_cast<std::int64_t>(csr.col_idx[e]) * heads + h) * k;
                double sum = 0;
                double scale = 0;
                for (std::int32_t f = 0; f < k; ++f) {
                    const double term = static_cast<double>(a[f]) * b[f];
                    sum += term;
                    scale += std::abs(term);
                }
                const std::size_t at = id * static_cast<std::size_t>(heads) + static_cast<std::size_t>(h);
                const Finished y = activated(w * sum, std::abs(w) * scale, inputs);
                out.value[at] = y.value;
                out.scale[at] = static_cast<float>(std::min(y.scale, double{std::numeric_limits<float>::max()}));
            }
        }
    });
    std::vector<Oracle> all;
    all.push_back(std::move(out));
    return all;
}

}  // namespace gnntune::reference

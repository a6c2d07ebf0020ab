#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/common/error.hpp"
#include "core/common/parallel_for.hpp"
#include "core/reference/oracle.hpp"

namespace gnntune::reference {
namespace {

// y and argmax. Products are rounded to fp32 before they are compared: else which of two near ones wins would be
// nobody's to reproduce.
std::vector<Oracle> maximum(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                            const Operands& inputs) {
    if (problem.self_loop) throw unsupported("there is no oracle for a maximum with self loops");
    const std::int64_t width = std::int64_t{problem.k} * problem.heads;
    Oracle y;
    y.row_width = width;
    y.value.resize(static_cast<std::size_t>(csr.n_rows * width));
    y.scale.resize(y.value.size());
    y.chain.assign(static_cast<std::size_t>(csr.n_rows), 1);
    Oracle argmax = y;
    argmax.index = true;
    std::fill(argmax.scale.begin(), argmax.scale.end(), 0.0F);
    struct Term {
        std::int32_t edge;
        float product;
    };
    parallel_for(
        csr.n_rows, 64, [] { return std::vector<Term>(); },
        [&](std::int64_t i, std::vector<Term>& terms) {
            for (std::int64_t f = 0; f < width; ++f) {
                terms.clear();
                for (std::int32_t e = csr.row_ptr[i]; e < csr.row_ptr[i + 1]; ++e) {
                    const std::int32_t id = edge_id ? edge_id[e] : e;
                    const float weight = problem.weighted ? inputs.edge_weight[id] : 1.0F;
                    terms.push_back({id, weight * inputs.x[csr.col_idx[e] * width + f]});
                }
                const auto largest = std::max_element(terms.begin(), terms.end(), [](const Term& a, const Term& b) {
                    const bool a_nan = std::isnan(a.product);
                    const bool b_nan = std::isnan(b.product);
                    if (a_nan != b_nan) return b_nan;
                    if (!a_nan && a.product != b.product) return a.product < b.product;
                    return a.edge > b.edge;
                });
                const Term winner = largest == terms.end() ? Term{-1, 0.0F} : *largest;
                const auto at = static_cast<std::size_t>(i * width + f);
                y.value[at] = winner.product;
                y.scale[at] = std::abs(winner.product);
                argmax.value[at] = winner.edge;
            }
        });
    std::vector<Oracle> all;
    all.push_back(std::move(y));
    all.push_back(std::move(argmax));
    return all;
}

}  // namespace

std::vector<Oracle> spmm(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                         const Operands& inputs, const SampleRule* rule) {
    if (problem.reduce == Reduce::max) {
        if (rule) throw unsupported("there is no oracle for a maximum over a sample");
        return maximum(problem, csr, edge_id, inputs);
    }
    const std::int64_t width = std::int64_t{problem.k} * problem.heads;
    const std::int64_t of_edge = weight_heads(problem);
    Oracle out;
    out.row_width = width;
    const auto size = static_cast<std::size_t>(csr.n_rows) * static_cast<std::size_t>(width);
    out.value.resize(size);
    out.scale.resize(size);
    out.chain.resize(static_cast<std::size_t>(csr.n_rows));
    struct Sums {
        std::vector<double> sum;
        std::vector<double> scale;
    };
    const auto make = [&] {
        return Sums{std::vector<double>(static_cast<std::size_t>(width)),
                    std::vector<double>(static_cast<std::size_t>(width))};
    };
    parallel_for(csr.n_rows, 64, make, [&](std::int64_t i, Sums& sums) {
        std::vector<double>& sum = sums.sum;
        std::vector<double>& scale = sums.scale;
        // `weights`: one for each of `of_edge` parts of the row; null: all are 1.
        const auto add = [&](const float* weights, std::int64_t source) {
            const float* row = inputs.x + source * width;
            std::size_t f = 0;
            for (std::int64_t part = 1; part <= of_edge; ++part) {
                const double weight = weights ? *weights++ : 1.0;
                for (; f < static_cast<std::size_t>(part * (width / of_edge)); ++f) {
                    const double term = weight * row[f];
                    sum[f] += term;
                    scale[f] += std::abs(term);
                }
            }
        };
        sum.assign(sum.size(), 0.0);
        scale.assign(scale.size(), 0.0);
        const std::int32_t begin = csr.row_ptr[i];
        const std::int32_t degree = csr.row_ptr[i + 1] - begin;
        const RowSample sample = rule ? sample_row(*rule, degree) : RowSample{degree, 0, 0};
        const std::int32_t count = sample.count;
        for (std::int32_t s = 0; s < count; ++s) {
            const std::int32_t e = begin + sample.position(s);
            const std::int64_t id = edge_id ? edge_id[e] : e;
            add(problem.weighted ? inputs.edge_weight + id * of_edge : nullptr, csr.col_idx[e]);
        }
        double factor = rule ? sample_scale(*rule, degree) : 1.0;
        for (std::size_t f = 0; f < sum.size(); ++f) sum[f] *= factor, scale[f] *= factor;
        if (problem.self_loop) add(inputs.self_weight + i * of_edge, i);
        const std::int64_t terms = std::int64_t{count} + (problem.self_loop ? 1 : 0);
        factor = problem.reduce == Reduce::mean && terms > 0 ? 1.0 / static_cast<double>(terms) : 1.0;
        const auto base = static_cast<std::size_t>(i) * sum.size();
        for (std::size_t f = 0; f < sum.size(); ++f) {
            out.value[base + f] = factor * sum[f];
            out.scale[base + f] = static_cast<float>(factor * scale[f]);
        }
        out.chain[static_cast<std::size_t>(i)] =
            static_cast<std::int32_t>(std::min<std::int64_t>(terms, std::numeric_limits<std::int32_t>::max()));
    });
    std::vector<Oracle> all;
    all.push_back(std::move(out));
    return all;
}

}  // namespace gnntune::reference

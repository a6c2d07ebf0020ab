#include "core/ops/edge_softmax/oracle.hpp"

#include "core/common/parallel_for.hpp"
#include "core/reference/attention.hpp"

namespace gnntune::reference {

std::vector<Oracle> edge_softmax(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                                 const Operands& inputs) {
    const auto heads = static_cast<std::size_t>(problem.heads);
    Oracle y;
    y.row_width = problem.heads;
    y.value.resize(static_cast<std::size_t>(csr.m) * heads);
    y.scale.resize(y.value.size());
    y.chain.resize(static_cast<std::size_t>(csr.m));
    parallel_for(csr.n_rows, 64, [&](std::int64_t i) {
        const std::int32_t begin = csr.row_ptr[i];
        const auto degree = static_cast<std::size_t>(csr.row_ptr[i + 1] - begin);
        const auto id = [&](std::size_t j) {
            const std::size_t e = static_cast<std::size_t>(begin) + j;
            return static_cast<std::size_t>(edge_id ? edge_id[e] : static_cast<std::int32_t>(e));
        };
        std::vector<double> logit(degree);
        const std::vector<double> exact(degree, 0.0);
        for (std::size_t h = 0; h < heads; ++h) {
            for (std::size_t j = 0; j < degree; ++j) logit[j] = inputs.edge_weight[id(j) * heads + h];
            const RowSoftmax row = row_softmax(logit, exact);
            for (std::size_t j = 0; j < degree; ++j) {
                const std::size_t at = id(j) * heads + h;
                y.value[at] = row.alpha[j];
                y.scale[at] = static_cast<float>(row.alpha[j] * row.factor[j]);
                y.chain[id(j)] = static_cast<std::int32_t>(degree);
            }
        }
    });
    std::vector<Oracle> all;
    all.push_back(std::move(y));
    return all;
}

}  // namespace gnntune::reference

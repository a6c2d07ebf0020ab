#include <cmath>
#include <vector>

#include "core/reference/oracle.hpp"

namespace gnntune::reference {

std::vector<Oracle> sddmm(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                          const Operands& inputs) {
    const std::int32_t k = problem.k;
    const std::int32_t heads = problem.heads;
    Oracle out;
    const auto size = static_cast<std::size_t>(csr.m) * static_cast<std::size_t>(heads);
    out.value.resize(size);
    out.scale.resize(size);
    out.chain.assign(size, k);
#pragma omp parallel for schedule(dynamic, 64)
    for (std::int32_t i = 0; i < csr.n_rows; ++i) {
        for (std::int32_t e = csr.row_ptr[i]; e < csr.row_ptr[i + 1]; ++e) {
            const auto id = static_cast<std::size_t>(edge_id ? edge_id[e] : e);
            const double w = problem.weighted ? inputs.edge_weight[id] : 1.0;
            for (std::int32_t h = 0; h < heads; ++h) {
                const float* a = inputs.x_row + (static_cast<std::int64_t>(i) * heads + h) * k;
                const float* b = inputs.x + (static_cast<std::int64_t>(csr.col_idx[e]) * heads + h) * k;
                double sum = 0;
                double scale = 0;
                for (std::int32_t f = 0; f < k; ++f) {
                    const double term = static_cast<double>(a[f]) * b[f];
                    sum += term;
                    scale += std::abs(term);
                }
                const std::size_t at = id * static_cast<std::size_t>(heads) + static_cast<std::size_t>(h);
                out.value[at] = w * sum;
                out.scale[at] = static_cast<float>(std::abs(w) * scale);
            }
        }
    }
    std::vector<Oracle> all;
    all.push_back(std::move(out));
    return all;
}

}  // namespace gnntune::reference

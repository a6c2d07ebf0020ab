#include "core/ops/example_degree/oracle.hpp"

#include <cmath>

namespace gnntune::reference {

std::vector<Oracle> example_degree(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                                   const Operands& inputs) {
    std::vector<Oracle> all(1);
    Oracle& sums = all.front();
    for (std::int32_t i = 0; i < csr.n_rows; ++i) {
        double sum = 0;
        double scale = 0;
        for (std::int32_t e = csr.row_ptr[i]; e < csr.row_ptr[i + 1]; ++e) {
            const double w = problem.weighted ? inputs.edge_weight[edge_id ? edge_id[e] : e] : 1.0;
            sum += w;
            scale += std::abs(w);
        }
        sums.value.push_back(sum);
        sums.scale.push_back(static_cast<float>(scale));
        sums.chain.push_back(csr.row_ptr[i + 1] - csr.row_ptr[i]);
    }
    return all;
}

}  // namespace gnntune::reference

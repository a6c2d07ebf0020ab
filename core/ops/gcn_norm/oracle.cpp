// GCN's symmetric normalisation with self loops: d_i = 1 + sum of the weights of row i, y[e] = w_e / sqrt(d_row d_col),
// y_self[i] = 1 / d_i.
//
// Weights are not negative, so nothing cancels in d: summed in fp32 its relative error is at most c + u sqrt(degree),
// the tolerance of a sum with s = d. The power -1/2 halves relative errors and there are two such factors, so y errs by
// at most the larger of both ends' errors, and s = |y| with d = the longer of both sums (1 among its terms) holds. The
// few units in the last place of a square root, its reciprocal and two products are far inside c. y_self = 1 / d_i has
// the relative error of d_i itself.
#include "core/ops/gcn_norm/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/common/team.hpp"

namespace gnntune::reference {

std::vector<Oracle> gcn_norm(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                             const Operands& inputs) {
    const auto weight = [&](std::int32_t e) {
        return problem.weighted ? static_cast<double>(inputs.edge_weight[edge_id ? edge_id[e] : e]) : 1.0;
    };
    Oracle y;
    Oracle self;
    const auto n = static_cast<std::size_t>(csr.n_rows);
    std::vector<double> degree(n, 1.0);
    self.value.resize(n);
    self.scale.resize(n);
    self.chain.resize(n);
    const std::int64_t work = csr.m + csr.n_rows;
    team_for_each(csr.n_rows, 64, work, [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        for (std::int32_t e = csr.row_ptr[i]; e < csr.row_ptr[i + 1]; ++e) degree[at] += weight(e);
        self.value[at] = 1.0 / degree[at];
        self.scale[at] = static_cast<float>(self.value[at]);
        self.chain[at] = csr.row_ptr[i + 1] - csr.row_ptr[i] + 1;
    });
    const auto m = static_cast<std::size_t>(csr.m);
    y.value.resize(m);
    y.scale.resize(m);
    y.chain.resize(m);
    team_for_each(csr.n_rows, 64, work, [&](std::int64_t i) {
        for (std::int32_t e = csr.row_ptr[i]; e < csr.row_ptr[i + 1]; ++e) {
            const auto at = static_cast<std::size_t>(edge_id ? edge_id[e] : e);
            const auto row = static_cast<std::size_t>(i);
            const auto col = static_cast<std::size_t>(csr.col_idx[e]);
            y.value[at] = weight(e) / std::sqrt(degree[row] * degree[col]);
            y.scale[at] = static_cast<float>(std::abs(y.value[at]));
            y.chain[at] = std::max(self.chain[row], self.chain[col]);
        }
    });
    std::vector<Oracle> all;
    all.push_back(std::move(y));
    all.push_back(std::move(self));
    return all;
}

}  // namespace gnntune::reference

// What the variants of gcn_norm share on the host.
#pragma once

#include "kernels/common/host.hpp"

namespace gnntune::kernels {

/// Terms of the pass that writes the weights, with a degree per vertex written before and one per edge gathered.
/// `index_bytes` is what all passes read of the graph.
inline CostTerms gcn_norm_cost(const Query& q, double index_bytes) {
    const auto m = static_cast<double>(q.m);
    const auto n = static_cast<double>(q.n_rows);
    CostTerms terms;
    terms.dram_bytes = index_bytes + 4.0 * (m + 2.0 * n);
    terms.l2_bytes = index_bytes + (q.problem.weighted ? 4.0 * m : 0.0) + 32.0 * m + 4.0 * (m + 2.0 * n);
    terms.flops = 3.0 * m + 2.0 * n;
    terms.launches = 2;
    return terms;
}

}  // namespace gnntune::kernels

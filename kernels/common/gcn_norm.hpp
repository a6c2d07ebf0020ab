// What the variants of gcn_norm share on the host.
#pragma once

#include "kernels/common/host.hpp"

namespace gnntune::kernels {

/// Refuses what no variant of gcn_norm does. The registry refuses graphs that are not square.
inline Verdict require_gcn_norm(const Query& q) {
    if (q.problem.self_loop) return Verdict::no("adds a self loop of weight 1 by itself and takes no other");
    if (q.problem.reduce != Reduce::sum) {
        return Verdict::no("degrees are sums, " + std::string(to_text(q.problem.reduce)) + " was asked for");
    }
    if (q.problem.heads != 1) return Verdict::no("has no heads: a weight per edge");
    return Verdict::yes();
}
/// The same for variants that store fp32 only.
inline Verdict require_fp32_gcn_norm(const Query& q) {
    return require_fp32(q, require_gcn_norm(q));
}

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

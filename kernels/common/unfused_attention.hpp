// Attention as a composition: dot products by an sddmm, logits, an edge_softmax, and a weighted spmm. What the host
// side of agnn.unfused and attention.unfused shares.
#pragma once

#include <algorithm>

#include "kernels/common/attention.hpp"
#include "kernels/common/composition.hpp"
#include "kernels/common/head_major.hpp"
#include "kernels/common/tile_team.hpp"

namespace gnntune::kernels {

/// The parts, in the order of their places.
struct UnfusedAttention {
    enum Part : std::size_t { kSddmm, kSoftmax, kSpmm };

    static std::vector<gnntune::Part> parts(const Query& q) {
        const std::int32_t k = q.problem.k;
        const Direction direction = q.problem.direction;
        return {{"sddmm", part_problem(Op::sddmm, k, false, direction)},
                {"edge_softmax", part_problem(Op::edge_softmax, 1, false, direction)},
                {"spmm", part_problem(Op::spmm, k, true, direction)}};
    }

    static Verdict applicable(const Query& q) {
        const Verdict runs = require_head_runs(q);
        return runs ? require_team_grid(q, 256, 32) : runs;
    }

    /// `gathered` operands of [n_cols, heads, k] are copied to one matrix per head, and the kernels between the parts
    /// are `launches`.
    static CostTerms cost(const Query& q, double gathered, double launches) {
        const double edge_values = 4.0 * static_cast<double>(q.m) * q.problem.heads;
        const double width = 4.0 * q.problem.k * q.problem.heads;
        CostTerms terms = gather_cost(q, 4.0 * csr_bytes(q) * q.problem.heads);
        terms.l2_bytes += 2.0 * static_cast<double>(q.m) * width + 7.0 * edge_values;
        terms.dram_bytes += terms.dram_bytes + 7.0 * edge_values;
        // Copies to one matrix per head and back.
        if (q.problem.heads > 1) {
            terms.dram_bytes +=
                (4.0 * static_cast<double>(q.n_rows) + 2.0 * gathered * static_cast<double>(q.n_cols)) * width;
        }
        terms.flops *= 2.0;
        terms.launches = launches + 3.0 * q.problem.heads + (q.problem.heads > 1 ? 2.0 + gathered : 0.0);
        return terms;
    }
};

}  // namespace gnntune::kernels

// gcn_norm.cpu_rows: d_i = 1 + sum of the weights of row i; y[id_e] = w_e / sqrt(d_row d_col), y_self[i] = 1 / d_i
//
// Work     threads take blocks of rows as they become free: first for the degrees, then for the weights.
// Data     the weights twice, col_idx once, an inverse square root per edge gathered from the workspace [n floats].
// Order    every row is summed in edge order, in double: repeats bit for bit.
#include <cmath>

#include "core/registry/graph.hpp"
#include "kernels/common/cpu.hpp"
#include "kernels/common/row_block_params.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/gcn_norm/common/gcn_norm.hpp"

namespace gnntune {
namespace gcn_norm_cpu_rows {
namespace {

using State = kernels::PlanState<kernels::RowBlockParams, CsrFormat>;

std::size_t workspace_bytes(const void* state) {
    return static_cast<std::size_t>(static_cast<const State*>(state)->graph->n_rows) * sizeof(float);
}

void run(const void* state, const Operands& o, void* workspace, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const CsrFormat& g = *s.graph;
    auto* inverse_root = static_cast<float*>(workspace);
    const auto id = [&](std::int32_t e) { return g.edge_id ? g.edge_id[e] : e; };
    const auto degrees = [&](std::int32_t first, std::int32_t last) {
        for (std::int32_t i = first; i < last; ++i) {
            double degree = 1.0;
            if (s.weighted) {
                for (std::int32_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e) degree += o.edge_weight[id(e)];
            } else {
                degree += g.row_ptr[i + 1] - g.row_ptr[i];
            }
            o.y_self[i] = static_cast<float>(1.0 / degree);
            inverse_root[i] = static_cast<float>(1.0 / std::sqrt(degree));
        }
    };
    const auto weights = [&](std::int32_t first, std::int32_t last) {
        for (std::int32_t i = first; i < last; ++i) {
            for (std::int32_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e) {
                const float w = s.weighted ? o.edge_weight[id(e)] : 1.0F;
                o.y[id(e)] = w * inverse_root[i] * inverse_root[g.col_idx[e]];
            }
        }
    };
    kernels::on_team(3 * g.m + 4 * std::int64_t{g.n_rows}, [&](const kernels::Team& team) {
        team.for_row_blocks(g.n_rows, s.params.row_block, degrees);
        team.barrier();
        team.for_row_blocks(g.n_rows, s.params.row_block, weights);
    });
}

CostTerms cost_terms(const Query& q, const Params&) {
    return kernels::gcn_norm_cost(q, kernels::csr_bytes(q));
}

}  // namespace
}  // namespace gcn_norm_cpu_rows

void register_gcn_norm_cpu_rows(Registry& registry) {
    Variant v;
    v.id = "gcn_norm.cpu_rows";
    v.summary = "OpenMP over rows: degrees, then weights";
    v.op = Op::gcn_norm;
    v.backend = Backend::cpu;
    v.default_rank = 10;
    kernels::set_typed_params<kernels::RowBlockParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &kernels::prepare_plan_state<kernels::RowBlockParams, CsrFormat, kFormatCsr>;
    v.workspace_bytes = &gcn_norm_cpu_rows::workspace_bytes;
    v.launch = &gcn_norm_cpu_rows::run;
    v.cost_terms = &gcn_norm_cpu_rows::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

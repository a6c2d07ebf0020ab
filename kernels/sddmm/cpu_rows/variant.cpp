// sddmm.cpu_rows: y[id_e] = act(scale w_e <x_row[i, :], x[col_e, :]>) for the edges e of row i.
//
// Work     threads take blocks of rows as they become free; the row operand stays in cache while its edges are walked.
// Order    each dot product is summed in a fixed order: repeats bit for bit on one machine.
#include <algorithm>

#include "core/graph/graph.hpp"
#include "kernels/common/cpu.hpp"
#include "kernels/common/edge_epilogue.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/row_block_params.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace sddmm_cpu_rows {
namespace {

struct State {
    std::shared_ptr<const CsrFormat> csr;
    std::int32_t row_block;
    std::int32_t k;
    bool weighted;
};

GNNTUNE_TARGET_CLONES
void rows(const CsrFormat& g, const float* weight, const float* x_row, const float* x,
          const kernels::EdgeEpilogue& epilogue, float* y, std::int32_t k, std::int32_t first, std::int32_t last) {
    for (std::int32_t i = first; i < last; ++i) {
        const float* a = x_row + static_cast<std::int64_t>(i) * k;
        for (std::int32_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e) {
            const float* b = x + static_cast<std::int64_t>(g.col_idx[e]) * k;
            const float sum = kernels::dot(a, b, k);
            const std::int32_t id = g.edge_id ? g.edge_id[e] : e;
            y[id] = epilogue(weight ? weight[id] * sum : sum);
        }
    }
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    return std::make_shared<State>(State{c.graph.format_as<CsrFormat>(kFormatCsr, c.query.problem.direction, c.stream),
                                         from_params<kernels::RowBlockParams>(c.params).row_block, c.query.problem.k,
                                         c.query.problem.weighted});
}

void run(const void* state, const Operands& o, void*, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const float* weight = s.weighted ? o.edge_weight : nullptr;
    const kernels::EdgeEpilogue epilogue(o);
    kernels::on_team(s.csr->m * s.k + s.csr->n_rows, [&](const kernels::Team& team) {
        team.for_row_blocks(s.csr->n_rows, s.row_block, [&](std::int32_t first, std::int32_t last) {
            rows(*s.csr, weight, o.x_row, o.x, epilogue, o.y, s.k, first, last);
        });
    });
}

CostTerms cost_terms(const Query& q, const Params&) {
    return kernels::gather_cost(q, kernels::csr_bytes(q));
}

}  // namespace
}  // namespace sddmm_cpu_rows

void register_sddmm_cpu_rows(Registry& registry) {
    Variant v;
    v.id = "sddmm.cpu_rows";
    v.summary = "OpenMP over blocks of rows, vectorised dot products";
    v.op = Op::sddmm;
    v.backend = Backend::cpu;
    v.default_rank = 10;
    v.applicable = &kernels::require_plain_fp32_sum;
    kernels::set_typed_params<kernels::RowBlockParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &sddmm_cpu_rows::prepare;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &sddmm_cpu_rows::run;
    v.cost_terms = &sddmm_cpu_rows::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

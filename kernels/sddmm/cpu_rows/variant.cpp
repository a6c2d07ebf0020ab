// sddmm.cpu_rows: y[id_e, h] = act(scale w_e <x_row[i, h, :], x[col_e, h, :]>) for the edges e of row i and heads h.
//
// Work     threads take blocks of rows as they become free; the row operand stays in cache while its edges are walked.
// Order    each dot product is summed in a fixed order: repeats bit for bit on one machine.
#include <algorithm>

#include "core/registry/graph.hpp"
#include "kernels/common/cpu.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/row_block_params.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/sddmm/common/edge_epilogue.hpp"

namespace gnntune {
namespace sddmm_cpu_rows {
namespace {

struct State {
    std::shared_ptr<const CsrFormat> csr;
    std::int32_t row_block;
    std::int32_t k;
    std::int32_t heads;
    bool weighted;
};

GNNTUNE_TARGET_CLONES
void rows(const CsrFormat& g, const float* weight, const float* x_row, const float* x,
          const kernels::EdgeEpilogue& epilogue, float* y, std::int32_t k, std::int32_t heads, std::int32_t first,
          std::int32_t last) {
    const std::int64_t width = std::int64_t{k} * heads;
    for (std::int32_t i = first; i < last; ++i) {
        const float* a = x_row + i * width;
        for (std::int32_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e) {
            const float* b = x + g.col_idx[e] * width;
            const std::int64_t id = g.edge_id ? g.edge_id[e] : e;
            for (std::int32_t h = 0; h < heads; ++h) {
                const std::int64_t at = std::int64_t{h} * k;
                const float sum = kernels::dot(a + at, b + at, k);
                y[id * heads + h] = epilogue(weight ? weight[id] * sum : sum);
            }
        }
    }
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    return std::make_shared<State>(State{c.graph.format_as<CsrFormat>(kFormatCsr, c.query.problem.direction, c.stream),
                                         from_params<kernels::RowBlockParams>(c.params).row_block, c.query.problem.k,
                                         c.query.problem.heads, c.query.problem.weighted});
}

void run(const void* state, const Operands& o, void*, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const float* weight = s.weighted ? o.edge_weight : nullptr;
    const kernels::EdgeEpilogue epilogue(o);
    kernels::on_team(s.csr->m * s.k * s.heads + s.csr->n_rows, [&](const kernels::Team& team) {
        team.for_row_blocks(s.csr->n_rows, s.row_block, [&](std::int32_t first, std::int32_t last) {
            rows(*s.csr, weight, o.x_row, o.x, epilogue, o.y, s.k, s.heads, first, last);
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
    v.can = {.heads = true};
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

#include "kernels/common/attention.hpp"
#include "kernels/common/block_params.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/gat/gas/launch.hpp"

namespace gnntune {
namespace gat_gas {
namespace {

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    return std::make_shared<State>(State{c.graph.format_as<CooFormat>(kFormatCoo, p.direction, c.stream),
                                         from_params<kernels::BlockParams>(c.params).block_size, p.k, p.heads});
}

std::size_t workspace_bytes(const void* state) {
    const auto& s = *static_cast<const State*>(state);
    return kernels::edge_passes_bytes(s.coo->n_rows, s.coo->m, s.heads);
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const State*>(state), operands, workspace, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    const double values = 4.0 * static_cast<double>(q.m) * q.problem.heads;
    CostTerms terms = kernels::gat_cost(q, 4.0 * kernels::coo_bytes(q));
    terms.dram_bytes += 2.0 * values;
    terms.l2_bytes += 5.0 * values;
    terms.reduction_bytes = values * (2.0 + q.problem.k);
    terms.launches = 7;
    return terms;
}

}  // namespace
}  // namespace gat_gas

void register_gat_gas(Registry& registry) {
    Variant v;
    v.id = "gat.gas";
    v.summary = "fuseGNN's GAT over COO: edge-parallel softmax with atomics, gather-apply-scatter (Algorithm 1)";
    v.op = Op::gat;
    v.backend = Backend::cuda;
    v.default_rank = 90;
    v.can = kernels::kAttentionInF32;
    kernels::set_typed_params<kernels::BlockParams>(v);
    v.deterministic = &kernels::never_deterministic;
    v.formats = &kernels::needs_coo;
    v.prepare = &gat_gas::prepare;
    v.workspace_bytes = &gat_gas::workspace_bytes;
    v.launch = &gat_gas::run;
    v.cost_terms = &gat_gas::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

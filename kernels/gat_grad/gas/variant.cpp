#include "kernels/common/attention.hpp"
#include "kernels/common/block_params.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/gat_grad/gas/launch.hpp"

namespace gnntune {
namespace gat_grad_gas {
namespace {

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    return std::make_shared<State>(State{c.graph.format_as<CooFormat>(kFormatCoo, p.direction, c.stream),
                                         from_params<kernels::BlockParams>(c.params).block_size, p.k, p.heads});
}

std::size_t workspace_bytes(const void* state) {
    const auto& s = *static_cast<const State*>(state);
    return kernels::align_workspace(static_cast<std::size_t>(s.coo->n_rows) * static_cast<std::size_t>(s.heads) * 4);
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const State*>(state), operands, workspace, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    CostTerms terms = kernels::gat_grad_cost(q, kernels::coo_bytes(q));
    terms.reduction_bytes = 4.0 * static_cast<double>(q.m) * q.problem.heads * (2.0 + q.problem.k);
    terms.launches = 5;
    return terms;
}

}  // namespace
}  // namespace gat_grad_gas

void register_gat_grad_gas(Registry& registry) {
    Variant v;
    v.id = "gat_grad.gas";
    v.version = 3;  // edges of logit -infinity have no gradient
    v.summary = "fuseGNN's backward over COO: all gradients in one edge-parallel pass with atomics (Algorithm 2)";
    v.op = Op::gat_grad;
    v.backend = Backend::cuda;
    v.default_rank = 90;
    v.can = kernels::kAttentionInF32;
    kernels::set_typed_params<kernels::BlockParams>(v);
    v.deterministic = &kernels::never_deterministic;
    v.formats = &kernels::needs_coo;
    v.prepare = &gat_grad_gas::prepare;
    v.workspace_bytes = &gat_grad_gas::workspace_bytes;
    v.launch = &gat_grad_gas::run;
    v.cost_terms = &gat_grad_gas::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

#include "kernels/common/attention.hpp"
#include "kernels/common/block_params.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/edge_softmax/gas/launch.hpp"

namespace gnntune {
namespace edge_softmax_gas {
namespace {

struct State {
    std::shared_ptr<const CooFormat> coo;
    int block_size;
    std::int32_t heads;
};

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    return std::make_shared<State>(State{c.graph.format_as<CooFormat>(kFormatCoo, p.direction, c.stream),
                                         from_params<kernels::BlockParams>(c.params).block_size, p.heads});
}

std::size_t workspace_bytes(const void* state) {
    const auto& s = *static_cast<const State*>(state);
    return kernels::align_workspace(static_cast<std::size_t>(s.coo->n_rows) * static_cast<std::size_t>(s.heads) * 12);
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    launch(*s.coo, s.block_size, s.heads, operands, workspace, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    const double values = 4.0 * static_cast<double>(q.m) * q.problem.heads;
    CostTerms terms = kernels::edge_softmax_cost(q, 3.0 * kernels::coo_bytes(q), 4);
    terms.reduction_bytes = 2.0 * values;
    terms.launches = 4;
    return terms;
}

}  // namespace
}  // namespace edge_softmax_gas

void register_edge_softmax_gas(Registry& registry) {
    Variant v;
    v.id = "edge_softmax.gas";
    v.summary = "fuseGNN's edge-parallel softmax over COO: atomic maximum, atomic sum, division";
    v.op = Op::edge_softmax;
    v.backend = Backend::cuda;
    v.default_rank = 90;
    v.can = kernels::kEdgeSoftmaxInF32;
    v.applicable = &kernels::require_one_value;
    kernels::set_typed_params<kernels::BlockParams>(v);
    v.deterministic = &kernels::never_deterministic;
    v.formats = &kernels::needs_coo;
    v.prepare = &edge_softmax_gas::prepare;
    v.workspace_bytes = &edge_softmax_gas::workspace_bytes;
    v.launch = &edge_softmax_gas::run;
    v.cost_terms = &edge_softmax_gas::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

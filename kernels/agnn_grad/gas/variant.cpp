#include "kernels/agnn_grad/gas/launch.hpp"

#include <algorithm>

#include "kernels/common/cosine_params.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace agnn_grad_gas {

const std::vector<ParamField<GasParams>>& GasParams::fields() {
    static const std::vector<ParamField<GasParams>> kFields{{"lanes", &GasParams::lanes, {1, 2, 4, 8, 16, 32}}};
    return kFields;
}

Verdict GasParams::legal(const Query& q, const GasParams& p) {
    const auto vectors =
        static_cast<std::int32_t>(kernels::ceil_div(q.problem.k, kernels::vector_width(q.problem.k, {})));
    if (p.lanes > kernels::next_power_of_two(vectors)) {
        return Verdict::no("more lanes than the " + std::to_string(vectors) + " vectors of a row");
    }
    if (p.lanes * 8 < std::min(vectors, 32)) {
        return Verdict::no("too few lanes for the " + std::to_string(vectors) + " vectors of a row");
    }
    return kernels::require_grid(kernels::ceil_div(q.m, 128 / p.lanes));
}

GasParams GasParams::defaults(const Query& q) {
    // Eight lanes are best from k = 64 to 256 on the corpus, in geometric mean.
    GasParams p;
    const auto vectors = kernels::ceil_div(q.problem.k, kernels::vector_width(q.problem.k, {}));
    p.lanes = std::min(8, kernels::next_power_of_two(static_cast<std::int32_t>(vectors)));
    return p;
}

namespace {

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    return std::make_shared<Plan>(Plan{c.graph.format_as<CooFormat>(kFormatCoo, p.direction, c.stream),
                                       from_params<GasParams>(c.params), p.k, p.heads});
}

std::size_t workspace(const void* state) {
    return workspace_bytes(*static_cast<const Plan*>(state));
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const Plan*>(state), operands, workspace, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    CostTerms terms = kernels::agnn_grad_cost(q, kernels::coo_bytes(q));
    terms.reduction_bytes = 8.0 * static_cast<double>(q.m) * q.problem.k * q.problem.heads;
    terms.launches = 7;
    return terms;
}

}  // namespace
}  // namespace agnn_grad_gas

void register_agnn_grad_gas(Registry& registry) {
    Variant v;
    v.id = "agnn_grad.gas";
    v.summary = "a group of lanes per edge, vector reductions into both feature gradients";
    v.op = Op::agnn_grad;
    v.backend = Backend::cuda;
    v.default_rank = 5;
    v.can = kernels::kAttentionInF32;
    v.applicable = &kernels::require_beta_heads;
    kernels::set_typed_params<agnn_grad_gas::GasParams>(v);
    v.deterministic = &kernels::never_deterministic;
    v.formats = &kernels::needs_coo;
    v.prepare = &agnn_grad_gas::prepare;
    v.workspace_bytes = &agnn_grad_gas::workspace;
    v.launch = &agnn_grad_gas::run;
    v.cost_terms = &agnn_grad_gas::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

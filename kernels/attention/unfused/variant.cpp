#include "kernels/attention/unfused/launch.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/common/unfused_attention.hpp"

namespace gnntune {
namespace attention_unfused {
namespace {

using kernels::UnfusedAttention;

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    return make_plan(c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream),
                     kernels::make_part_plans<UnfusedAttention>(c), p.k, p.heads, c.stream);
}

std::size_t workspace(const void* state) {
    return workspace_bytes(*static_cast<const Plan*>(state));
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const Plan*>(state), operands, workspace, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    return UnfusedAttention::cost(q, 2.0, 1.0);
}

}  // namespace
}  // namespace attention_unfused

void register_attention_unfused(Registry& registry) {
    Variant v;
    v.id = "attention.unfused";
    v.summary = "composition: sddmm, logits, edge_softmax, weighted spmm";
    v.op = Op::attention;
    v.backend = Backend::cuda;
    v.operand_alignment = 16;
    v.default_rank = 60;
    v.can = kernels::kAttentionInF32;
    v.applicable = &kernels::UnfusedAttention::applicable;
    kernels::set_parts<kernels::UnfusedAttention>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &attention_unfused::prepare;
    v.workspace_bytes = &attention_unfused::workspace;
    v.launch = &attention_unfused::run;
    v.cost_terms = &attention_unfused::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

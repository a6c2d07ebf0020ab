#include "kernels/agnn_grad/unfused/launch.hpp"
#include "kernels/common/cosine_params.hpp"
#include "kernels/common/head_major.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace agnn_grad_unfused {
namespace {

using kernels::part_problem;

struct Parts {
    static std::vector<Part> parts(const Query& q) {
        const std::int32_t k = q.problem.k;
        const Direction direction = q.problem.direction;
        return {{"sddmm", part_problem(Op::sddmm, k, false, direction)},
                {"spmm", part_problem(Op::spmm, k, true, direction)},
                {"spmm_reversed", part_problem(Op::spmm, k, true, opposite(direction))}};
    }
};

Verdict applicable(const Query& q) {
    Verdict verdict = kernels::require_beta_heads(q);
    if (verdict) verdict = kernels::require_head_runs(q);
    return verdict ? kernels::require_team_grid(q, 256, 32) : verdict;
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    return make_plan(c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream),
                     kernels::make_part_plans<Parts>(c), p.k, p.heads, c.stream);
}

std::size_t workspace(const void* state) {
    return workspace_bytes(*static_cast<const Plan*>(state));
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const Plan*>(state), operands, workspace, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    const double edge_values = 4.0 * static_cast<double>(q.m) * q.problem.heads;
    const double width = 4.0 * q.problem.k * q.problem.heads;
    CostTerms terms = kernels::agnn_grad_cost(q, 6.0 * kernels::csr_bytes(q) * q.problem.heads);
    terms.l2_bytes += 2.0 * static_cast<double>(q.m) * width + 9.0 * edge_values;
    terms.dram_bytes +=
        9.0 * edge_values + (3.0 * static_cast<double>(q.n_rows) + 4.0 * static_cast<double>(q.n_cols)) * width;
    terms.launches = 6.0 + 7.0 * q.problem.heads + (q.problem.heads > 1 ? 3.0 : 0.0);
    return terms;
}

}  // namespace
}  // namespace agnn_grad_unfused

void register_agnn_grad_unfused(Registry& registry) {
    Variant v;
    v.id = "agnn_grad.unfused";
    v.version = 2;  // vertices without edges have no gradient
    v.summary = "composition: sddmm twice, softmax backward, weighted spmm forward and twice reversed";
    v.op = Op::agnn_grad;
    v.backend = Backend::cuda;
    v.operand_alignment = 16;
    v.default_rank = 60;
    v.can = kernels::kAttentionInF32;
    v.applicable = &agnn_grad_unfused::applicable;
    kernels::set_parts<agnn_grad_unfused::Parts>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &agnn_grad_unfused::prepare;
    v.workspace_bytes = &agnn_grad_unfused::workspace;
    v.launch = &agnn_grad_unfused::run;
    v.cost_terms = &agnn_grad_unfused::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

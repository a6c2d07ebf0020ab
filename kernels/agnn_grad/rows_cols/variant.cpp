#include "kernels/agnn_grad/rows_cols/launch.hpp"

#include "kernels/common/cosine_params.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/team_cost.hpp"

namespace gnntune {
namespace agnn_grad_rows_cols {
namespace {

Verdict applicable(const Query& q) {
    const Verdict heads = kernels::require_beta_heads(q);
    return heads ? kernels::require_pass_grid(q) : heads;
}

std::size_t workspace_bytes(const void* state) {
    kernels::WorkspaceCutter space(nullptr);
    cut(*static_cast<const kernels::TwoPassPlan*>(state), space);
    return space.bytes();
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    const auto& plan = *static_cast<const kernels::TwoPassPlan*>(state);
    kernels::with_storage(plan.rows.dtype, [&]<typename T>(std::type_identity<T>) {
        launch_typed<T>(plan, operands, workspace, stream);
    });
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<kernels::TileTeamParams>(params);
    const double tiles = kernels::feature_tiles(q, p.lanes, p.items);
    CostTerms terms = kernels::agnn_grad_cost(q, 2.0 * kernels::csr_bytes(q) * tiles);
    terms.l2_bytes += 3.0 * static_cast<double>(size_of(q.problem.dtype)) * static_cast<double>(q.m) * q.problem.k *
                      q.problem.heads * (tiles - 1.0);
    terms.flops *= tiles;
    terms.launches = 4;
    const int team = p.lanes * p.split;
    kernels::add_team_cost(kernels::row_classes(q), {team, p.lanes, 4 / p.items}, tiles * q.problem.heads, terms);
    kernels::add_team_cost(kernels::col_classes(q), {team, p.lanes, 1}, tiles * q.problem.heads, terms);
    return terms;
}

}  // namespace
}  // namespace agnn_grad_rows_cols

void register_agnn_grad_rows_cols(Registry& registry) {
    Variant v = kernels::two_pass_variant();
    v.id = "agnn_grad.rows_cols";
    v.op = Op::agnn_grad;
    v.can = kernels::kAttention;
    v.applicable = &agnn_grad_rows_cols::applicable;
    v.in_stream_order = true;
    v.workspace_bytes = &agnn_grad_rows_cols::workspace_bytes;
    v.launch = &agnn_grad_rows_cols::run;
    v.cost_terms = &agnn_grad_rows_cols::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

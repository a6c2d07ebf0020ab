#include <algorithm>

#include "kernels/attention_grad/rows_cols/launch.hpp"
#include "kernels/common/dot_attention.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/team_cost.hpp"

namespace gnntune {
namespace attention_grad_rows_cols {
namespace {

// As attention.rows; several narrow heads are better off with fewer groups each: neighbouring teams have the same edges.
Params default_params(const Query& q) {
    kernels::TileTeamParams team = kernels::TileTeamParams::defaults(q);
    if (q.problem.heads > 1) team.split = std::min(team.split, 4);
    return to_params(team);
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
    CostTerms terms = kernels::dot_attention_grad_cost(q, 2.0 * kernels::csr_bytes(q) * tiles);
    // Every tile reads all four gathered rows.
    terms.l2_bytes += 4.0 * static_cast<double>(size_of(q.problem.dtype)) * static_cast<double>(q.m) * q.problem.k *
                      q.problem.heads * (tiles - 1.0);
    terms.flops *= (3.0 + 4.0 * tiles) / 7.0;
    terms.launches = 2;
    for (const auto* classes : {&kernels::row_classes(q), &kernels::col_classes(q)}) {
        kernels::add_team_cost(*classes, {p.lanes * p.split, p.lanes, 1}, tiles * q.problem.heads, terms);
    }
    return terms;
}

}  // namespace
}  // namespace attention_grad_rows_cols

void register_attention_grad_rows_cols(Registry& registry) {
    Variant v = kernels::two_pass_variant();
    v.id = "attention_grad.rows_cols";
    v.version = 2;  // one kernel for runs with and without dropout
    v.op = Op::attention_grad;
    v.can = kernels::kAttention;
    v.applicable = &kernels::require_pass_grid;
    v.default_params = &attention_grad_rows_cols::default_params;
    v.in_stream_order = true;
    v.workspace_bytes = &attention_grad_rows_cols::workspace_bytes;
    v.launch = &attention_grad_rows_cols::run;
    v.cost_terms = &attention_grad_rows_cols::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

#include "kernels/agnn/rows/launch.hpp"

#include "kernels/common/storage.hpp"
#include "kernels/common/team_cost.hpp"
#include "kernels/common/tile_team.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace agnn_rows {

const std::vector<ParamField<RowsParams>>& RowsParams::fields() {
    static const std::vector<ParamField<RowsParams>> kFields{
        {"lanes", &RowsParams::lanes, {1, 2, 4, 8, 16, 32}},
        {"split", &RowsParams::split, {1, 2, 4, 8}},
        {"items", &RowsParams::items, kernels::kTileItems},
        {"stored_norms", &RowsParams::stored_norms, {0, 1}},
    };
    return kFields;
}

Verdict RowsParams::legal(const Query& q, const RowsParams& p) {
    return kernels::require_tile_team(q, p.lanes, p.split, p.items);
}

RowsParams RowsParams::defaults(const Query& q) {
    const kernels::TileTeamParams team = kernels::TileTeamParams::defaults(q);
    RowsParams p;
    p.lanes = team.lanes;
    p.split = team.split;
    p.items = team.items;
    p.stored_norms = p.lanes > 1 ? 1 : 0;
    return p;
}

namespace {

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const auto params = from_params<RowsParams>(c.params);
    return std::make_shared<State>(State{kernels::plan_attend(c, params), params.stored_norms != 0});
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    kernels::with_storage(s.rows.dtype,
                          [&]<typename T>(std::type_identity<T>) { launch_typed<T>(s, operands, workspace, stream); });
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<RowsParams>(params);
    const double tiles = kernels::feature_tiles(q, p.lanes, p.items);
    const double row_bytes = static_cast<double>(size_of(q.problem.dtype)) * q.problem.k * q.problem.heads;
    const double gathered = row_bytes * static_cast<double>(q.m);
    CostTerms terms = kernels::gather_cost(q, kernels::csr_bytes(q) * tiles);
    terms.dram_bytes += row_bytes * static_cast<double>(q.n_rows);
    terms.l2_bytes += gathered * (tiles - 1.0) + 4.0 * static_cast<double>(q.m) * q.problem.heads * p.stored_norms;
    terms.flops *= 1.0 + tiles * (p.stored_norms != 0 ? 1.0 : 2.0);
    terms.launches = 1.0 + p.stored_norms;
    kernels::add_team_cost(kernels::row_classes(q), {p.lanes * p.split, p.lanes, 2}, tiles * q.problem.heads, terms);
    return terms;
}

}  // namespace
}  // namespace agnn_rows

void register_agnn_rows(Registry& registry) {
    Variant v;
    v.id = "agnn.rows";
    v.version = 2;  // where norms are stored they are multiplied in before the sum over lanes
    v.summary = "a team of threads per row and head, one gather for cosine and sum, running softmax, no atomics";
    v.op = Op::agnn;
    v.backend = Backend::cuda;
    v.default_rank = 10;
    v.can = kernels::kAttention;
    v.applicable = &kernels::require_pass_grid;
    kernels::set_typed_params<agnn_rows::RowsParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.in_stream_order = true;
    v.formats = &kernels::needs_csr;
    v.prepare = &agnn_rows::prepare;
    v.workspace_bytes = &kernels::cosine_workspace_bytes<kernels::AttendPlan>;
    v.launch = &agnn_rows::run;
    v.cost_terms = &agnn_rows::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

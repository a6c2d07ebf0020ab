#include <algorithm>

#include "kernels/common/storage.hpp"
#include "kernels/common/tiles.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/spmm/row_runs/launch.hpp"

namespace gnntune {
namespace spmm_row_runs {

Verdict RowRunsParams::legal(const Query& q, const RowRunsParams& p) {
    const std::int32_t k = q.problem.k;
    if (p.vec != kernels::widest_vector(q.problem)) {
        return Verdict::no("vec must be the widest that divides k=" + std::to_string(k));
    }
    const Verdict tile = kernels::require_useful_tile(k, p.lanes, p.items, p.vec);
    if (!tile) return tile;
    if (p.items == 1 && k > p.vec) return Verdict::no("one load a lane is for rows of one vector");
    if (p.lanes < 32 && kernels::tile_width(p.lanes, p.items, p.vec) < std::min(k, 64)) {
        return Verdict::no("tiles narrower than k are searched from 64 features on");
    }
    return kernels::require_grid(kernels::ceil_div(q.n_rows, p.block_rows()));
}

RowRunsParams RowRunsParams::defaults(const Query& q) {
    RowRunsParams p;
    p.vec = kernels::widest_vector(q.problem);
    p.items = q.problem.k > p.vec ? 2 : 1;
    p.lanes = std::clamp(kernels::next_power_of_two(q.problem.k) / (p.vec * p.items), 1, 32);
    return p;
}

namespace {

void run(const void* state, const Operands& operands, void*, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    kernels::with_storage(s.dtype, [&]<typename T>(std::type_identity<T>) { launch_typed<T>(s, operands, stream); });
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<RowRunsParams>(params);
    const auto tiles =
        static_cast<double>(kernels::ceil_div(q.problem.k, kernels::tile_width(p.lanes, p.items, p.vec)));
    CostTerms terms = kernels::gather_cost(q, kernels::csr_bytes(q) * tiles);
    kernels::add_row_runs_cost(q, p, tiles, terms);
    return terms;
}

}  // namespace
}  // namespace spmm_row_runs

void register_spmm_row_runs(Registry& registry) {
    Variant v;
    v.id = "spmm.row_runs";
    v.summary =
        "a group of lanes for several consecutive rows, their edges as one stretch, ids a step ahead, no atomics";
    v.op = Op::spmm;
    v.backend = Backend::cuda;
    v.default_rank = 25;
    v.can = {.storage = kEveryStorage, .reduce = {Reduce::sum, Reduce::mean}, .self_loops = Takes::yes};
    kernels::set_typed_params<spmm_row_runs::RowRunsParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.in_stream_order = true;
    v.formats = &kernels::needs_csr;
    v.prepare = &kernels::prepare_plan_state<spmm_row_runs::RowRunsParams, CsrFormat, kFormatCsr>;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &spmm_row_runs::run;
    v.cost_terms = &spmm_row_runs::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

#include <algorithm>
#include <cmath>

#include "kernels/common/spmm_suits.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/tiles.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/spmm/rows/launch.hpp"

namespace gnntune {
namespace spmm_rows {

const std::vector<ParamField<RowsParams>>& RowsParams::fields() {
    static const std::vector<ParamField<RowsParams>> kFields{
        {"lanes", &RowsParams::lanes, {1, 2, 4, 8, 16, 32}},
        {"split", &RowsParams::split, {1, 2, 4, 8}},
        {"vec", &RowsParams::vec, {1, 2, 4, 8}},
        {"items", &RowsParams::items, {1, 2}},
        {"unroll", &RowsParams::unroll, {kUnroll}},
        {"warps_per_block", &RowsParams::warps_per_block, {4, kMaxThreads / 32}},
    };
    return kFields;
}

Verdict RowsParams::legal(const Query& q, const RowsParams& p) {
    if (p.vec != kernels::widest_vector(q.problem)) {
        return Verdict::no("vec must be the widest that divides k=" + std::to_string(q.problem.k));
    }
    if (p.lanes * p.split > 32) return Verdict::no("a row is shared by one warp at most: lanes * split <= 32");
    if (p.split != 1 && p.warps_per_block != 4)
        return Verdict::no("split rows are searched with the default block only");
    const Verdict tile = kernels::require_useful_tile(q.problem.k, p.lanes, p.items, p.vec);
    if (!tile) return tile;
    return kernels::require_grid(kernels::ceil_div(q.n_rows, p.warps_per_block * 32 / (p.lanes * p.split)));
}

// A warp for each row where that is what it takes to fill the device, else as few lanes as keep a row's tile in a line or
// two; long rows are shared by two groups, narrow ones of middling length by as many as half of the device has room for.
RowsParams RowsParams::defaults(const Query& q) {
    const kernels::SpmmLoad load = kernels::spmm_load(q);
    RowsParams p;
    p.vec = kernels::widest_vector(q.problem);
    p.items = load.width == 1 || (load.few_results() && load.narrow()) ? 1 : 2;
    const bool short_rows = !load.few_results() && load.degree <= 45;
    p.lanes = kernels::spmm_lanes(load.width, p.vec, p.items, short_rows ? 8 : 16);
    int most = short_rows ? 1 : !load.few_results() ? 2 : load.narrow() ? 8 : 4;
    if (const int groups = kernels::groups_of_middling_rows(load); groups > 0) most = groups;
    p.split = std::min(most, 32 / p.lanes);
    return p;
}

namespace {

void run(const void* state, const Operands& operands, void*, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    kernels::with_storage(s.dtype, [&]<typename T>(std::type_identity<T>) { launch_typed<T>(s, operands, stream); });
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<RowsParams>(params);
    const auto tiles = kernels::ceil_div(q.problem.k, kernels::tile_width(p.lanes, p.items, p.vec));
    CostTerms terms = kernels::gather_cost(q, kernels::csr_bytes(q) * static_cast<double>(tiles));
    const int team = p.split * p.unroll;
    double padded = 0;
    double edges = 0;
    for (const DegreeClass& c : kernels::row_classes(q)) {
        const double mean = static_cast<double>(c.edges) / static_cast<double>(c.rows);
        const double rounds = std::ceil(mean / team);
        terms.longest = std::max(terms.longest, rounds);
        padded += static_cast<double>(c.rows) * rounds * team;
        edges += static_cast<double>(c.edges);
    }
    if (q.problem.self_loop) terms.longest += 1;  // behind the edges
    if (edges > 0) terms.flops *= std::max(1.0, padded / edges);
    terms.threads = static_cast<double>(q.n_rows) * p.lanes * p.split * static_cast<double>(tiles);
    return terms;
}

}  // namespace
}  // namespace spmm_rows

void register_spmm_rows(Registry& registry) {
    Variant v;
    v.id = "spmm.rows";
    v.version = 2;  // all gathers of a run are in flight at once, no branch for each edge
    v.summary = "a group of lanes per row, 128-bit gathers, several in flight, no atomics";
    v.op = Op::spmm;
    v.backend = Backend::cuda;
    v.default_rank = 20;
    v.preferred = &kernels::suits_spmm<kernels::SpmmVariant::rows>;
    v.can = {.storage = kEveryStorage, .reduce = {Reduce::sum, Reduce::mean}, .self_loops = Takes::yes};
    kernels::set_typed_params<spmm_rows::RowsParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.in_stream_order = true;
    v.formats = &kernels::needs_csr;
    v.prepare = &kernels::prepare_plan_state<spmm_rows::RowsParams, CsrFormat, kFormatCsr>;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &spmm_rows::run;
    v.cost_terms = &spmm_rows::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

#include <algorithm>

#include "kernels/common/attention.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/tiles.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/gat/row_runs/launch.hpp"

namespace gnntune {
namespace gat_row_runs {

namespace {

// Vectors of a lane: two of one head, else one, since they might lie in two.
int items_for(const Problem& p, int vec) {
    return p.heads == 1 && p.k > vec ? 2 : 1;
}

// Lanes that hold a whole row, up to a warp.
int lanes_for(const Problem& p, int vec, int items) {
    const std::int64_t vectors = kernels::ceil_div(kernels::row_width(p), vec * items);
    return kernels::next_power_of_two(static_cast<std::int32_t>(std::min<std::int64_t>(vectors, 32)));
}

}  // namespace

Verdict RowRunsParams::legal(const Query& q, const RowRunsParams& p) {
    const Problem& problem = q.problem;
    if (p.vec != kernels::widest_vector(problem)) {
        return Verdict::no("vec must be the widest that divides k=" + std::to_string(problem.k));
    }
    if (p.items != items_for(problem, p.vec)) {
        return Verdict::no("two loads a lane are for one head of more than a vector, and it is for two loads");
    }
    if (p.lanes != lanes_for(problem, p.vec, p.items)) {
        return Verdict::no("every tile computes the softmax again: the fewest lanes, up to 32, that hold a row");
    }
    // The pointers of a run may allow single loads only.
    if (kernels::ceil_div(kernels::row_width(problem), p.lanes * p.items) > kernels::kMaxFeatureTiles) {
        return Verdict::no("heads * k = " + std::to_string(kernels::row_width(problem)) + " needs too many tiles");
    }
    return kernels::require_grid(kernels::ceil_div(q.n_rows, p.block_rows()));
}

RowRunsParams RowRunsParams::defaults(const Query& q) {
    RowRunsParams p;
    p.vec = kernels::widest_vector(q.problem);
    p.items = items_for(q.problem, p.vec);
    p.lanes = lanes_for(q.problem, p.vec, p.items);
    return p;
}

namespace {

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream);
    return std::make_shared<State>(State{std::move(csr), from_params<RowRunsParams>(c.params), p.k, p.heads, p.dtype});
}

void run(const void* state, const Operands& operands, void*, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    kernels::with_storage(s.dtype, [&]<typename T>(std::type_identity<T>) { launch_typed<T>(s, operands, stream); });
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<RowRunsParams>(params);
    const auto tiles = static_cast<double>(
        kernels::ceil_div(kernels::row_width(q.problem), kernels::tile_width(p.lanes, p.items, p.vec)));
    CostTerms terms = kernels::gat_cost(q, kernels::csr_bytes(q) * tiles);
    kernels::add_row_runs_cost(q, p, tiles, terms);
    return terms;
}

}  // namespace
}  // namespace gat_row_runs

void register_gat_row_runs(Registry& registry) {
    Variant v;
    v.id = "gat.row_runs";
    v.version = 2;  // sums are scaled only where a logit is above the maximum by one
    v.summary = "one kernel: a group of lanes for several consecutive rows, their edges as one stretch, online softmax";
    v.op = Op::gat;
    v.backend = Backend::cuda;
    v.default_rank = 25;
    v.can = kernels::kAttention;
    kernels::set_typed_params<gat_row_runs::RowRunsParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &gat_row_runs::prepare;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &gat_row_runs::run;
    v.cost_terms = &gat_row_runs::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

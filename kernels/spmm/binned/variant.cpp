#include "core/registry/graph.hpp"
#include "kernels/common/spmm_suits.hpp"
#include "kernels/common/tiles.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/spmm/binned/launch.hpp"

namespace gnntune {
namespace spmm_binned {

const std::vector<ParamField<BinnedParams>>& BinnedParams::fields() {
    static const std::vector<ParamField<BinnedParams>> kFields{
        {"lanes", &BinnedParams::lanes, {1, 2, 4, 8, 16, 32}},
        {"vec", &BinnedParams::vec, {1, 2, 4, 8}},
        {"items", &BinnedParams::items, {1, 2}},
        {"share", &BinnedParams::share, {8, 32}},
        {"warps_per_block", &BinnedParams::warps_per_block, {4, 16}},
    };
    return kFields;
}

namespace {

// Features of all heads, which applicable() keeps small.
std::int32_t width_of(const Problem& p) {
    return static_cast<std::int32_t>(kernels::row_width(p));
}

}  // namespace

Verdict BinnedParams::legal(const Query& q, const BinnedParams& p) {
    if (p.vec != kernels::widest_vector(q.problem)) {
        return Verdict::no("vec must be the widest that divides k=" + std::to_string(q.problem.k));
    }
    const std::int32_t row = width_of(q.problem);
    const Verdict tile = kernels::require_useful_tile(row, p.lanes, p.items, p.vec);
    if (!tile) return tile;
    const std::int64_t width = kernels::tile_width(p.lanes, p.items, p.vec);
    if (width < std::min(row, p.items == 1 ? 128 : 64)) {
        return Verdict::no("narrower tiles are searched with items=2, and not below 64 features");
    }
    return kernels::require_grid(p.shape().most_blocks(q.n_rows, q.m));
}

BinnedParams BinnedParams::defaults(const Query& q) {
    BinnedParams p;
    p.vec = kernels::widest_vector(q.problem);
    const kernels::BinnedSuit suit = kernels::binned_suit(kernels::spmm_load(q), p.vec, 2);
    p.lanes = suit.lanes;
    p.items = suit.items;
    p.share = suit.share;
    p.warps_per_block = suit.warps_per_block;
    return p;
}

namespace {

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    const auto params = from_params<BinnedParams>(c.params);
    auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream);
    auto rows = kernels::bin_rows(c, params.shape());
    return std::make_shared<Plan>(Plan{std::move(csr), std::move(rows), params, width_of(p), p.heads, p.dtype,
                                       p.weighted, p.reduce == Reduce::mean, p.self_loop});
}

std::size_t workspace(const void* state) {
    return workspace_bytes(*static_cast<const Plan*>(state));
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const Plan*>(state), operands, workspace, stream);
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<BinnedParams>(params);
    const auto tiles =
        static_cast<double>(kernels::ceil_div(width_of(q.problem), kernels::tile_width(p.lanes, p.items, p.vec)));
    const double order_bytes = 4.0 * static_cast<double>(q.n_rows);
    double index_bytes = (kernels::csr_bytes(q) + order_bytes) * tiles;
    // A tile reads the weights of its own heads.
    if (q.problem.heads > 1) index_bytes -= kernels::weight_bytes(q) * static_cast<double>(q.m) * (tiles - 1.0);
    CostTerms terms = kernels::gather_cost(q, index_bytes);
    p.shape().add_cost(kernels::row_classes(q), 8 / p.items, tiles, terms);
    if (q.problem.self_loop) terms.longest += 1;  // before the edges
    return terms;
}

}  // namespace
}  // namespace spmm_binned

void register_spmm_binned(Registry& registry) {
    Variant v;
    v.id = "spmm.binned";
    v.version = 2;  // all gathers of a run are in flight at once
    v.summary = "rows binned by degree in one launch, as many lanes, warps or blocks as a row has use for, no atomics";
    v.op = Op::spmm;
    v.backend = Backend::cuda;
    v.default_rank = 5;
    v.can = {.storage = kEveryStorage, .reduce = {Reduce::sum, Reduce::mean}, .self_loops = Takes::yes, .heads = true};
    kernels::set_typed_params<spmm_binned::BinnedParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_rows_by_degree;
    v.prepare = &spmm_binned::prepare;
    v.workspace_bytes = &spmm_binned::workspace;
    v.launch = &spmm_binned::run;
    v.cost_terms = &spmm_binned::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

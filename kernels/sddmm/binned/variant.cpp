#include <algorithm>

#include "core/graph/graph.hpp"
#include "kernels/common/tiles.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/sddmm/binned/launch.hpp"

namespace gnntune {
namespace sddmm_binned {

namespace {

constexpr int kMostLanes = 32;
constexpr int kMostItems = 4;
/// Gathers of a lane in flight at most: registers.
constexpr int kInFlight = 16;

/// Vectors of a row that a group keeps: all of them, or as many as it has room for.
int kept_vectors(const Problem& p) {
    const auto vectors = static_cast<std::int32_t>(kernels::ceil_div(p.k, kernels::widest_vector(p)));
    return std::min(kernels::next_power_of_two(vectors), kMostLanes * kMostItems);
}

}  // namespace

const std::vector<ParamField<BinnedParams>>& BinnedParams::fields() {
    static const std::vector<ParamField<BinnedParams>> kFields{
        {"lanes", &BinnedParams::lanes, {1, 2, 4, 8, 16, 32}},
        {"vec", &BinnedParams::vec, {1, 2, 4, 8}},
        {"items", &BinnedParams::items, {1, 2, 4}},
        {"run", &BinnedParams::run, {4, 8}},
        {"share", &BinnedParams::share, {8, 32}},
        {"warps_per_block", &BinnedParams::warps_per_block, {4, 16}},
    };
    return kFields;
}

Verdict BinnedParams::legal(const Query& q, const BinnedParams& p) {
    const int vec = kernels::widest_vector(q.problem);
    if (p.vec != vec) {
        return Verdict::no("vec must be the widest that divides k=" + std::to_string(q.problem.k));
    }
    const int kept = kept_vectors(q.problem);
    if (p.lanes * p.items != kept) {
        return Verdict::no("a row of k=" + std::to_string(q.problem.k) +
                           " is held by lanes * items = " + std::to_string(kept));
    }
    if (p.run * p.items > kInFlight) {
        return Verdict::no("run * items is " + std::to_string(kInFlight) + " at most: registers");
    }
    // A piece is of at least half as many edges as it may have.
    return kernels::require_grid(q.n_rows + 2 * q.m / p.shape().piece_edges() + 1);
}

// As many vectors for a lane as there are: few shuffles.
BinnedParams BinnedParams::defaults(const Query& q) {
    BinnedParams p;
    p.vec = kernels::widest_vector(q.problem);
    const int kept = kept_vectors(q.problem);
    p.items = std::min(kept, kMostItems);
    p.lanes = kept / p.items;
    p.run = 4;
    const bool much = static_cast<double>(q.m) * q.problem.k > 2e7;
    p.share = much ? 32 : 8;
    p.warps_per_block = 4;
    return p;
}

namespace {

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    const auto params = from_params<BinnedParams>(c.params);
    auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream);
    auto rows = kernels::bin_rows(c, params.shape());
    return std::make_shared<State>(State{std::move(csr), std::move(rows), params, p.k, p.weighted, p.dtype});
}

void run(const void* state, const Operands& operands, void*, StreamHandle stream) {
    launch(*static_cast<const State*>(state), operands, stream);
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<BinnedParams>(params);
    const auto element = static_cast<double>(size_of(q.problem.dtype));
    const double index_bytes = kernels::csr_bytes(q) + 4.0 * static_cast<double>(q.n_rows);
    CostTerms terms = kernels::gather_cost(q, index_bytes + element * static_cast<double>(q.m));
    p.shape().add_cost(kernels::row_classes(q), p.run, 1.0, terms);
    return terms;
}

}  // namespace
}  // namespace sddmm_binned

void register_sddmm_binned(Registry& registry) {
    Variant v;
    v.id = "sddmm.binned";
    v.summary = "rows binned by degree, a row's features in registers, a run of edges at a time, no atomics";
    v.op = Op::sddmm;
    v.backend = Backend::cuda;
    v.default_rank = 20;
    v.applicable = &kernels::require_plain_sum;
    kernels::set_typed_params<sddmm_binned::BinnedParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_rows_by_degree;
    v.prepare = &sddmm_binned::prepare;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &sddmm_binned::run;
    v.cost_terms = &sddmm_binned::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

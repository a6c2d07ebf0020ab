#include "core/registry/graph.hpp"
#include "kernels/common/spmm_suits.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/tiles.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/spmm/edges/launch.hpp"

namespace gnntune {
namespace spmm_edges {

const std::vector<ParamField<EdgesParams>>& EdgesParams::fields() {
    static const std::vector<ParamField<EdgesParams>> kFields{
        {"lanes", &EdgesParams::lanes, {1, 2, 4, 8, 16, 32}},
        {"vec", &EdgesParams::vec, {1, 2, 4, 8}},
        {"items", &EdgesParams::items, {1, 2}},
        {"unroll", &EdgesParams::unroll, {kUnroll}},
        {"chunk", &EdgesParams::chunk, {32, 128, 512}},
    };
    return kFields;
}

Verdict EdgesParams::legal(const Query& q, const EdgesParams& p) {
    if (p.vec != kernels::widest_vector(q.problem)) {
        return Verdict::no("vec must be the widest that divides k=" + std::to_string(q.problem.k));
    }
    const Verdict tile = kernels::require_useful_tile(q.problem.k, p.lanes, p.items, p.vec);
    if (!tile) return tile;
    // A chunk longer than the whole graph gives all the work to one group.
    if (p.chunk > 32 && p.chunk > q.m) return Verdict::no("the graph has fewer edges than one chunk");
    return kernels::require_grid(kernels::ceil_div(q.n_rows, 4));
}

EdgesParams EdgesParams::defaults(const Query& q) {
    EdgesParams p;
    p.vec = kernels::widest_vector(q.problem);
    p.lanes = std::clamp(kernels::next_power_of_two(q.problem.k) / p.vec, 1, 32);
    p.chunk = 32;
    return p;
}

namespace {

std::vector<std::string_view> formats(const Params&) {
    return {kFormatCsr, kFormatCooSorted};
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    const Direction direction = p.direction;
    return std::make_shared<State>(State{c.graph.format_as<CsrFormat>(kFormatCsr, direction, c.stream),
                                         c.graph.format_as<CooFormat>(kFormatCooSorted, direction, c.stream),
                                         from_params<EdgesParams>(c.params), p.k, p.weighted, p.reduce == Reduce::mean,
                                         p.self_loop, p.dtype});
}

// Sums of rows that several chunks have, before they are rounded.
std::size_t workspace_bytes(const void* state) {
    const auto& s = *static_cast<const State*>(state);
    if (s.dtype == DType::f32) return 0;
    return static_cast<std::size_t>(s.csr->n_rows) * static_cast<std::size_t>(s.k) * sizeof(float);
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    kernels::with_storage(s.dtype,
                          [&]<typename T>(std::type_identity<T>) { launch_typed<T>(s, operands, workspace, stream); });
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<EdgesParams>(params);
    const auto tiles = kernels::ceil_div(q.problem.k, kernels::tile_width(p.lanes, p.items, p.vec));
    CostTerms terms = kernels::gather_cost(q, kernels::coo_bytes(q) * static_cast<double>(tiles));
    const double chunks = static_cast<double>(q.m) / p.chunk;
    terms.reduction_bytes = std::min(2.0 * chunks, static_cast<double>(q.m)) * 4.0 * q.problem.k;
    terms.launches = q.problem.dtype == DType::f32 ? 2 : 3;
    terms.threads = chunks * p.lanes * static_cast<double>(tiles);
    terms.longest = static_cast<double>(p.chunk) / p.unroll;
    return terms;
}

}  // namespace
}  // namespace spmm_edges

void register_spmm_edges(Registry& registry) {
    Variant v;
    v.id = "spmm.edges";
    v.version = 2;  // runs of edges are counted in 32 bits
    v.summary = "equal edges per group of lanes, rows that cross chunks added with vector reductions";
    v.op = Op::spmm;
    v.backend = Backend::cuda;
    v.default_rank = 10;
    v.preferred = &kernels::suits_spmm<kernels::SpmmVariant::edges>;
    v.can = {.storage = kEveryStorage, .reduce = {Reduce::sum, Reduce::mean}, .self_loops = Takes::yes};
    kernels::set_typed_params<spmm_edges::EdgesParams>(v);
    v.deterministic = &kernels::never_deterministic;
    v.formats = &spmm_edges::formats;
    v.prepare = &spmm_edges::prepare;
    v.workspace_bytes = &spmm_edges::workspace_bytes;
    v.launch = &spmm_edges::run;
    v.cost_terms = &spmm_edges::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

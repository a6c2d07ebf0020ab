#include <algorithm>

#include "core/registry/graph.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/tiles.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/spmm_grad/columns/launch.hpp"
#include "kernels/spmm_grad/common/spmm_grad.hpp"

namespace gnntune {
namespace spmm_grad_columns {

const std::vector<ParamField<ColumnsParams>>& ColumnsParams::fields() {
    static const std::vector<ParamField<ColumnsParams>> kFields{
        {"lanes", &ColumnsParams::lanes, {1, 2, 4, 8, 16, 32}},
        {"items", &ColumnsParams::items, {1, 2}},
        {"share", &ColumnsParams::share, {8, 32}},
        {"warps_per_block", &ColumnsParams::warps_per_block, {4, 16}},
    };
    return kFields;
}

Verdict ColumnsParams::legal(const Query& q, const ColumnsParams& p) {
    const int vec = kernels::widest_vector(q.problem);
    const Verdict tile = kernels::require_useful_tile(q.problem.k, p.lanes, p.items, vec);
    if (!tile) return tile;
    const std::int64_t width = kernels::tile_width(p.lanes, p.items, vec);
    if (q.problem.self_loop && width < q.problem.k) {
        return Verdict::no("a self loop's dot product is formed by one group: narrower than k=" +
                           std::to_string(q.problem.k));
    }
    if (width < std::min(q.problem.k, p.items == 1 ? 128 : 64)) {
        return Verdict::no("narrower tiles are searched with items=2, and not below 64 features");
    }
    return kernels::require_grid(p.shape().most_blocks(q.n_cols, q.m));
}

// The rule of spmm.binned, whose gather it is; not fitted to this kernel.
ColumnsParams ColumnsParams::defaults(const Query& q) {
    ColumnsParams p;
    const int vec = kernels::widest_vector(q.problem);
    const std::int32_t vectors = kernels::next_power_of_two(q.problem.k) / vec;
    const double work = static_cast<double>(q.m) * q.problem.k;
    const double mean_degree = static_cast<double>(q.m) / std::max(1.0, static_cast<double>(q.n_cols));
    const bool each_edge_alone = vectors == 4 ? mean_degree >= 4 : vectors < 4 || (vectors <= 32 && work < 1e7);
    p.items = each_edge_alone ? 1 : 2;
    p.lanes = std::clamp(vectors / p.items, 1, each_edge_alone || q.problem.self_loop ? 32 : std::max(8, 32 / vec));
    if (vectors > 4 * p.lanes * p.items) p.lanes = std::max(p.lanes, 32 / p.items);
    p.share = work >= 3e6 ? 32 : 8;
    p.warps_per_block = work < 3e7 && mean_degree >= 12 ? 16 : 4;
    return p;
}

namespace {

/// Vectors of 16 bytes that a group holds at most.
constexpr std::int32_t kMostVectors = 64;

Verdict applicable(const Query& q) {
    const Problem& p = q.problem;
    const int vec = kernels::widest_vector(p);
    if (!kernels::whole_vectors(p)) {
        return Verdict::no("rows of k=" + std::to_string(p.k) + " are no whole vectors of 16 bytes");
    }
    if (p.self_loop && p.k > kMostVectors * vec) {
        return Verdict::no("a group holds " + std::to_string(kMostVectors * vec) +
                           " features, k=" + std::to_string(p.k) + " was asked for");
    }
    return Verdict::yes();
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    const auto params = from_params<ColumnsParams>(c.params);
    auto state = std::make_shared<State>();
    state->csc = c.graph.format_as<CsrFormat>(kFormatCsc, p.direction, c.stream);
    state->cols = kernels::bin_columns(c, params.shape());
    state->params = params;
    state->k = p.k;
    state->dtype = p.dtype;
    state->self_loop = p.self_loop;
    state->maximum = p.reduce == Reduce::max;
    if (p.reduce == Reduce::mean) {
        const auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream);
        make_shares(*csr, *state, c.stream);
    }
    return state;
}

std::size_t workspace_bytes(const void* state) {
    const auto& s = *static_cast<const State*>(state);
    return static_cast<std::size_t>(s.cols.pieces->slots) * static_cast<std::size_t>(s.k) * sizeof(float);
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    kernels::with_storage(s.dtype,
                          [&]<typename T>(std::type_identity<T>) { launch_typed<T>(s, operands, workspace, stream); });
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<ColumnsParams>(params);
    const Problem& problem = q.problem;
    const auto tiles = static_cast<double>(
        kernels::ceil_div(problem.k, kernels::tile_width(p.lanes, p.items, kernels::widest_vector(problem))));
    const double order_bytes = 4.0 * static_cast<double>(q.n_cols);
    CostTerms terms = kernels::spmm_grad_cost(q, (kernels::csr_bytes(q) + order_bytes) * tiles);
    if (problem.reduce == Reduce::mean) terms.l2_bytes += 32.0 * static_cast<double>(q.m) * tiles;
    if (problem.self_loop) {
        const double x = static_cast<double>(size_of(problem.dtype)) * static_cast<double>(q.n_cols) * problem.k;
        terms.dram_bytes += x;
        terms.l2_bytes += x;
    }
    // A row of argmax with each of grad_y.
    terms.l2_bytes += static_cast<double>(q.m) * kernels::argmax_row_bytes(q);
    terms.dram_bytes += static_cast<double>(std::min(q.n_rows, q.m)) * kernels::argmax_row_bytes(q);
    p.shape().add_cost(kernels::col_classes(q), (problem.reduce == Reduce::max ? 4 : 8) / p.items, tiles, terms);
    if (problem.self_loop) terms.longest += 1;  // a round of its own
    return terms;
}

}  // namespace
}  // namespace spmm_grad_columns

void register_spmm_grad_columns(Registry& registry) {
    Variant v;
    v.id = "spmm_grad.columns";
    v.summary =
        "without weights: columns binned by degree, shares of means in fp32, marks of maxima, self loops in the pass";
    v.op = Op::spmm_grad;
    v.backend = Backend::cuda;
    v.operand_alignment = 16;
    v.version = 2;  // maxima, and self loops of 16 bits before the edges
    v.default_rank = 4;
    v.can = {.storage = kEveryStorage,
             .reduce = kEveryReduction,
             .weights = Takes::no,
             .self_loops = Takes::yes};  // it forms no gradient of them
    v.applicable = &spmm_grad_columns::applicable;
    kernels::set_typed_params<spmm_grad_columns::ColumnsParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_columns_by_degree;
    v.prepare = &spmm_grad_columns::prepare;
    v.workspace_bytes = &spmm_grad_columns::workspace_bytes;
    v.launch = &spmm_grad_columns::run;
    v.cost_terms = &spmm_grad_columns::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

#include "kernels/common/storage.hpp"
#include "kernels/common/tiles.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/gat/binned/launch.hpp"

namespace gnntune {
namespace gat_binned {

const std::vector<ParamField<BinnedParams>>& BinnedParams::fields() {
    static const std::vector<ParamField<BinnedParams>> kFields{
        {"lanes", &BinnedParams::lanes, {1, 2, 4, 8, 16, 32}},
        {"vec", &BinnedParams::vec, {1, 2, 4, 8}},
        {"run", &BinnedParams::run, {4, 8}},
        {"share", &BinnedParams::share, {8, 32}},
        {"warps_per_block", &BinnedParams::warps_per_block, {4, 16}},
    };
    return kFields;
}

namespace {

// Lanes that hold a whole row, up to a warp.
std::int32_t lanes_for(const Problem& p, int vec) {
    return static_cast<std::int32_t>(std::min<std::int64_t>(
        32, kernels::next_power_of_two(static_cast<std::int32_t>(kernels::ceil_div(kernels::row_width(p), vec)))));
}

}  // namespace

Verdict BinnedParams::legal(const Query& q, const BinnedParams& p) {
    const Problem& problem = q.problem;
    if (p.vec != kernels::widest_vector(problem)) {
        return Verdict::no("vec must be the widest that divides k=" + std::to_string(problem.k));
    }
    const std::int32_t whole = lanes_for(problem, p.vec);
    if (p.lanes > whole) return Verdict::no("fewer lanes hold a row");
    if (p.lanes < whole && (p.lanes < whole / 2 || p.lanes * p.vec < 32)) {
        return Verdict::no("every tile computes the softmax again: at most half of the lanes that hold a row");
    }
    // The pointers of a run may allow single loads only.
    if (kernels::ceil_div(kernels::row_width(problem), p.lanes) > kernels::kMaxFeatureTiles) {
        return Verdict::no("heads * k = " + std::to_string(kernels::row_width(problem)) + " needs too many tiles");
    }
    if (p.run == 4 && p.share != 8) return Verdict::no("run=4, for short rows, is searched with share=8 only");
    // The merge has a block for each head of a row that is cut.
    const kernels::BinShape shape = p.shape();
    return kernels::require_grid(std::max(shape.most_blocks(q.n_rows, q.m), shape.most_cut(q.m) * problem.heads));
}

BinnedParams BinnedParams::defaults(const Query& q) {
    BinnedParams p;
    p.vec = kernels::widest_vector(q.problem);
    p.lanes = lanes_for(q.problem, p.vec);
    if (q.m < 6 * q.n_rows) p.run = 4;
    const bool much = static_cast<double>(q.m) * static_cast<double>(kernels::row_width(q.problem)) > 4e6;
    p.share = much && p.run == 8 ? 32 : 8;
    p.warps_per_block = much ? 4 : 16;
    return p;
}

namespace {

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    const auto params = from_params<BinnedParams>(c.params);
    auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream);
    auto rows = kernels::bin_rows(c, params.shape());
    return std::make_shared<State>(State{std::move(csr), std::move(rows), params, p.k, p.heads, p.dtype});
}

std::size_t workspace_bytes(const void* state) {
    const auto& s = *static_cast<const State*>(state);
    return kernels::piece_results_bytes(s.rows.pieces->slots, s.heads, s.k);
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    kernels::with_storage(s.dtype,
                          [&]<typename T>(std::type_identity<T>) { launch_typed<T>(s, operands, workspace, stream); });
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<BinnedParams>(params);
    const auto tiles = kernels::ceil_div(kernels::row_width(q.problem), p.lanes * p.vec);
    const double order_bytes = 4.0 * static_cast<double>(q.n_rows);
    CostTerms terms = kernels::gat_cost(q, (kernels::csr_bytes(q) + order_bytes) * static_cast<double>(tiles));
    p.shape().add_cost(kernels::row_classes(q), p.run, static_cast<double>(tiles), terms);
    return terms;
}

}  // namespace
}  // namespace gat_binned

void register_gat_binned(Registry& registry) {
    Variant v;
    v.id = "gat.binned";
    v.version = 2;  // all gathers of a run are in flight at once
    v.summary = "one kernel: rows binned by degree with all their heads, online softmax a run of edges at a time";
    v.op = Op::gat;
    v.backend = Backend::cuda;
    v.default_rank = 5;
    v.applicable = &kernels::require_attention;
    kernels::set_typed_params<gat_binned::BinnedParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_rows_by_degree;
    v.prepare = &gat_binned::prepare;
    v.workspace_bytes = &gat_binned::workspace_bytes;
    v.launch = &gat_binned::run;
    v.cost_terms = &gat_binned::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

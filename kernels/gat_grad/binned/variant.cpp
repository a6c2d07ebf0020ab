#include "kernels/common/attention.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/gat_grad/binned/launch.hpp"

namespace gnntune {
namespace gat_grad_binned {

namespace {

Verdict applicable(const Query& q) {
    return kernels::ColumnPassParams::require_head(q.problem);
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    const auto params = from_params<kernels::ColumnPassParams>(c.params);
    auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream);
    auto csc = c.graph.format_as<CsrFormat>(kFormatCsc, p.direction, c.stream);
    auto rows = kernels::bin_rows(c, row_shape(p.heads));
    auto cols = kernels::bin_columns(c, params.shape());
    return std::make_shared<State>(
        State{std::move(csr), std::move(csc), std::move(rows), std::move(cols), params, p.k, p.heads, p.dtype});
}

std::size_t bytes(const void* state) {
    return workspace_bytes(*static_cast<const State*>(state));
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const State*>(state), operands, workspace, stream);
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<kernels::ColumnPassParams>(params);
    const double m = static_cast<double>(q.m);
    const double heads = q.problem.heads;
    const double width = static_cast<double>(size_of(q.problem.dtype)) * q.problem.k * heads;
    // Row terms: y and grad_y read, 16 bytes written. Columns: those gathered, x read, g written. Rows: g read.
    const double tiles = static_cast<double>(p.tiles(q.problem.k, q.problem.heads));
    const double terms_bytes = 16.0 * static_cast<double>(q.n_rows) * heads;
    const double in_order = 2.0 * static_cast<double>(q.n_rows) * width + static_cast<double>(q.n_cols) * width +
                            2.0 * terms_bytes + 8.0 * m * heads;
    // The gathered operand has n_rows rows: the query of the opposite direction.
    Query flipped = q;
    std::swap(flipped.n_rows, flipped.n_cols);
    flipped.problem.direction = opposite(q.problem.direction);
    CostTerms terms = kernels::gather_cost(flipped, kernels::csr_bytes(q) * (tiles + 1.0));
    terms.dram_bytes += in_order;
    terms.l2_bytes += in_order + 16.0 * m * heads;
    terms.flops = (4.0 * q.problem.k + 16.0) * m * heads;
    terms.launches = 3;
    p.shape().add_cost(kernels::col_classes(q), p.run, tiles, terms);
    return terms;
}

}  // namespace
}  // namespace gat_grad_binned

void register_gat_grad_binned(Registry& registry) {
    Variant v;
    v.id = "gat_grad.binned";
    v.summary = "one gather per edge: a pass over columns binned by degree for both gradients, then sums over rows";
    v.op = Op::gat_grad;
    v.backend = Backend::cuda;
    v.operand_alignment = 16;
    v.default_rank = 5;
    v.can = kernels::kAttention;
    v.applicable = &gat_grad_binned::applicable;
    kernels::set_typed_params<kernels::ColumnPassParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_both_by_degree;
    v.prepare = &gat_grad_binned::prepare;
    v.workspace_bytes = &gat_grad_binned::bytes;
    v.launch = &gat_grad_binned::run;
    v.cost_terms = &gat_grad_binned::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

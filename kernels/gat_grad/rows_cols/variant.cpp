#include <algorithm>

#include "kernels/common/team_cost.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/gat_grad/rows_cols/launch.hpp"

namespace gnntune {
namespace gat_grad_rows_cols {
namespace {

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream);
    auto csc = c.graph.format_as<CsrFormat>(kFormatCsc, p.direction, c.stream);
    auto row_pieces = kernels::build_row_pieces(c.graph, *csr, c.stream);
    auto col_pieces = kernels::build_row_pieces(c.graph, *csc, c.stream);
    return std::make_shared<State>(State{std::move(csr), std::move(csc), std::move(row_pieces), std::move(col_pieces),
                                         from_params<kernels::TeamParams>(c.params), p.k, p.heads, p.dtype});
}

std::size_t bytes(const void* state) {
    return workspace_bytes(*static_cast<const State*>(state));
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const State*>(state), operands, workspace, stream);
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<kernels::TeamParams>(params);
    CostTerms terms = kernels::gat_grad_cost(q, 2.0 * kernels::csr_bytes(q));
    terms.launches = 2;
    // A step has an edge for each thread, and four for each group at most. Dots of rows take all features one tile after
    // another; columns have a team for each tile.
    const int run = std::min(4, p.lanes);
    const auto walks = static_cast<int>(kernels::ceil_div(q.problem.k, p.lanes * p.vec));
    const auto tiles = kernels::ceil_div(q.problem.k, kernels::tile_width(p.lanes, p.items, p.vec));
    kernels::add_team_cost(kernels::row_classes(q), {p.team, p.lanes, run, walks}, q.problem.heads, terms);
    kernels::add_team_cost(kernels::col_classes(q), {p.team, p.lanes, run},
                           static_cast<double>(tiles * q.problem.heads), terms);
    return terms;
}

}  // namespace
}  // namespace gat_grad_rows_cols

void register_gat_grad_rows_cols(Registry& registry) {
    Variant v;
    v.id = "gat_grad.rows_cols";
    v.version = 2;  // edges of logit -infinity have no gradient
    v.summary = "a pass over rows for the scores, one over columns for the features; teams of lanes, no atomics";
    v.op = Op::gat_grad;
    v.backend = Backend::cuda;
    v.default_rank = 10;
    v.can = kernels::kAttention;
    kernels::set_typed_params<kernels::TeamParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.in_stream_order = true;
    v.formats = &kernels::needs_csr_and_csc;
    v.prepare = &gat_grad_rows_cols::prepare;
    v.workspace_bytes = &gat_grad_rows_cols::bytes;
    v.launch = &gat_grad_rows_cols::run;
    v.cost_terms = &gat_grad_rows_cols::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

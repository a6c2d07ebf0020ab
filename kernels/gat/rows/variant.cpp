#include <algorithm>

#include "kernels/common/storage.hpp"
#include "kernels/common/team_cost.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/gat/rows/launch.hpp"

namespace gnntune {
namespace gat_rows {
namespace {

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream);
    auto pieces = kernels::build_row_pieces(c.graph, *csr, c.stream);
    return std::make_shared<State>(
        State{std::move(csr), std::move(pieces), from_params<kernels::TeamParams>(c.params), p.k, p.heads, p.dtype});
}

std::size_t workspace_bytes(const void* state) {
    const auto& s = *static_cast<const State*>(state);
    return kernels::piece_results_bytes(s.pieces.slots, s.heads, s.k);
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    kernels::with_storage(s.dtype,
                          [&]<typename T>(std::type_identity<T>) { launch_typed<T>(s, operands, workspace, stream); });
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<kernels::TeamParams>(params);
    const auto tiles = kernels::ceil_div(q.problem.k, kernels::tile_width(p.lanes, p.items, p.vec));
    CostTerms terms = kernels::gat_cost(q, kernels::csr_bytes(q) * static_cast<double>(tiles));
    // A step has an edge for each thread, and four for each group at most.
    kernels::add_team_cost(kernels::row_classes(q), {p.team, p.lanes, std::min(4, p.lanes)},
                           static_cast<double>(tiles * q.problem.heads), terms);
    return terms;
}

}  // namespace
}  // namespace gat_rows

void register_gat_rows(Registry& registry) {
    Variant v;
    v.id = "gat.rows";
    v.summary = "one kernel: online softmax and gather by a team of lanes per row and head, long rows in pieces";
    v.op = Op::gat;
    v.backend = Backend::cuda;
    v.default_rank = 10;
    v.can = kernels::kAttention;
    kernels::set_typed_params<kernels::TeamParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.in_stream_order = true;
    v.formats = &kernels::needs_csr;
    v.prepare = &gat_rows::prepare;
    v.workspace_bytes = &gat_rows::workspace_bytes;
    v.launch = &gat_rows::run;
    v.cost_terms = &gat_rows::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

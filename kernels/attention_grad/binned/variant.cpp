#include "kernels/attention_grad/binned/launch.hpp"
#include "kernels/common/attention.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace attention_grad_binned {
namespace {

using kernels::GatherPassParams;

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    const auto params = from_params<GatherPassParams>(c.params);
    auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream);
    auto csc = c.graph.format_as<CsrFormat>(kFormatCsc, p.direction, c.stream);
    auto rows = kernels::bin_rows(c, params.other(p).bins(p));
    auto cols = kernels::bin_columns(c, params.bins(p));
    return std::make_shared<State>(State{std::move(csr), std::move(csc), std::move(rows), std::move(cols), params, p});
}

std::size_t workspace_bytes(const void* state) {
    return Workspace(*static_cast<const State*>(state), nullptr).bytes;
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    kernels::with_storage(s.problem.dtype,
                          [&]<typename T>(std::type_identity<T>) { launch_typed<T>(s, operands, workspace, stream); });
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<GatherPassParams>(params);
    const Problem& problem = q.problem;
    const auto m = static_cast<double>(q.m);
    const double values = m * problem.heads;
    const double row_bytes = static_cast<double>(size_of(problem.dtype)) * problem.k * problem.heads;
    const auto tiles = static_cast<double>(p.tiles(problem));
    const auto other_tiles = static_cast<double>(p.other(problem).tiles(problem));
    // Rows: key gathered, grad_x_row written. Columns: two operands gathered that have n_rows rows, the query of the
    // opposite direction.
    CostTerms terms = kernels::gather_cost(q, kernels::csr_bytes(q) * other_tiles);
    Query flipped = q;
    std::swap(flipped.n_rows, flipped.n_cols);
    flipped.problem.direction = opposite(problem.direction);
    const CostTerms columns = kernels::gather_cost(flipped, (kernels::csr_bytes(flipped) + 4.0 * m) * tiles);
    const double column_index = (kernels::csr_bytes(flipped) + 4.0 * m) * tiles;
    // y and grad_y for D, key and x in order, terms written, weights written and read.
    const double in_order = 2.0 * row_bytes * (static_cast<double>(q.n_rows) + static_cast<double>(q.n_cols)) +
                            8.0 * static_cast<double>(q.n_rows) * problem.heads + 8.0 * values;
    terms.dram_bytes += 2.0 * columns.dram_bytes - column_index + in_order;
    terms.l2_bytes += 2.0 * columns.l2_bytes - column_index + in_order + 8.0 * values;
    terms.flops = (10.0 * problem.k + 16.0) * values;
    terms.launches = 3;
    kernels::add_gather_pass_cost(q, p, kernels::col_classes(q), kernels::row_classes(q), terms);
    return terms;
}

}  // namespace
}  // namespace attention_grad_binned

void register_attention_grad_binned(Registry& registry) {
    Variant v;
    v.id = "attention_grad.binned";
    v.summary =
        "columns binned by degree gather two rows for both dot products and two sums, rows one with the weights";
    v.op = Op::attention_grad;
    v.backend = Backend::cuda;
    v.operand_alignment = 16;
    v.default_rank = 5;
    v.can = kernels::kAttention;
    v.applicable = &kernels::require_gather_pass;
    kernels::set_typed_params<kernels::GatherPassParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_both_by_degree;
    v.prepare = &attention_grad_binned::prepare;
    v.workspace_bytes = &attention_grad_binned::workspace_bytes;
    v.launch = &attention_grad_binned::run;
    v.cost_terms = &attention_grad_binned::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

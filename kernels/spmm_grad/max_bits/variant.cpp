#include <algorithm>

#include "core/registry/graph.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/common/workspace.hpp"
#include "kernels/spmm_grad/common/spmm_grad.hpp"
#include "kernels/spmm_grad/max_bits/launch.hpp"

namespace gnntune {
namespace spmm_grad_max_bits {

Workspace::Workspace(const State& s, void* base) {
    kernels::WorkspaceCutter cut(base);
    partial = cut.take<float>(std::int64_t{s.cols.pieces->slots} * s.k);
    bits = cut.take<std::uint8_t>(s.csr->m * bits_stride(s.k));
    bytes = cut.bytes();
}

namespace {

/// Edges a row at which the bits take twice as much as argmax.
constexpr std::int64_t kMostEdgesARow = 64;

Verdict applicable(const Query& q) {
    if (q.m > kMostEdgesARow * std::max<std::int64_t>(1, q.n_rows)) {
        return Verdict::no("a bit for each edge and element would take more than twice the memory of argmax: over " +
                           std::to_string(kMostEdgesARow) + " edges a row");
    }
    const Verdict head = kernels::ColumnPassParams::require_head(q.problem);
    return head ? kernels::require_grid(bits_shape(q.problem.k).most_blocks(q.n_rows, q.m)) : head;
}

// Where reading argmax for every edge costs more than a launch. Other widths are padded first, where that pays.
bool preferred(const Query& q) {
    return kernels::whole_vectors(q.problem) && q.problem.k >= 16 && static_cast<double>(q.m) * q.problem.k >= 4e6;
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    const auto params = from_params<kernels::ColumnPassParams>(c.params);
    auto state = std::make_shared<State>();
    state->csr = c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream);
    state->csc = c.graph.format_as<CsrFormat>(kFormatCsc, p.direction, c.stream);
    state->params = params;
    state->k = p.k;
    state->weighted = p.weighted;
    state->dtype = p.dtype;
    state->rows = kernels::bin_rows(c, bits_shape(state->k));
    state->cols = kernels::bin_columns(c, params.shape());
    return state;
}

std::size_t workspace_bytes(const void* state) {
    return Workspace(*static_cast<const State*>(state), nullptr).bytes;
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    kernels::with_storage(s.dtype,
                          [&]<typename T>(std::type_identity<T>) { launch_typed<T>(s, operands, workspace, stream); });
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<kernels::ColumnPassParams>(params);
    const auto m = static_cast<double>(q.m);
    CostTerms terms = kernels::spmm_grad_cost(q, kernels::csr_bytes(q) + 4.0 * static_cast<double>(q.n_cols));
    if (q.problem.weighted) terms.l2_bytes += (4.0 + 64.0) * m;
    // argmax once; bits written, and read in sectors of 32 bytes.
    const auto stride = static_cast<double>(bits_stride(q.problem.k));
    const double made = static_cast<double>(q.n_rows) * kernels::argmax_row_bytes(q) + kernels::csr_bytes(q);
    terms.dram_bytes += made + stride * m;
    terms.l2_bytes += made + (stride + std::max(32.0, stride)) * m;
    const auto tiles = static_cast<double>(p.tiles(q.problem.k, q.problem.heads));
    p.shape().add_cost(kernels::col_classes(q), p.run, tiles, terms);
    terms.launches += 1;
    return terms;
}

}  // namespace
}  // namespace spmm_grad_max_bits

void register_spmm_grad_max_bits(Registry& registry) {
    Variant v;
    v.id = "spmm_grad.max_bits";
    v.summary =
        "of a maximum: bits of what each edge won first, then one pass over columns binned by degree, no atomics";
    v.op = Op::spmm_grad;
    v.backend = Backend::cuda;
    v.operand_alignment = 16;
    v.default_rank = 6;
    v.preferred = &spmm_grad_max_bits::preferred;
    v.can = {.storage = kEveryStorage, .reduce = {Reduce::max}};
    v.applicable = &spmm_grad_max_bits::applicable;
    kernels::set_typed_params<kernels::ColumnPassParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_both_by_degree;
    v.prepare = &spmm_grad_max_bits::prepare;
    v.workspace_bytes = &spmm_grad_max_bits::workspace_bytes;
    v.launch = &spmm_grad_max_bits::run;
    v.cost_terms = &spmm_grad_max_bits::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

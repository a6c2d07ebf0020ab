#include <algorithm>
#include <cmath>

#include "kernels/common/typed_variant.hpp"
#include "kernels/spmm_grad/binned/launch.hpp"
#include "kernels/spmm_grad/common/spmm_grad.hpp"

namespace gnntune {
namespace spmm_grad_binned {
namespace {

Verdict applicable(const Query& q) {
    return kernels::ColumnPassParams::require_head(q.problem);
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    const auto params = from_params<kernels::ColumnPassParams>(c.params);
    auto state = std::make_shared<State>();
    state->csc = c.graph.format_as<CsrFormat>(kFormatCsc, p.direction, c.stream);
    state->cols = kernels::bin_columns(c, params.shape());
    state->params = params;
    state->k = p.k;
    state->heads = p.heads;
    state->weighted = p.weighted;
    state->self_loop = p.self_loop;
    state->maximum = p.reduce == Reduce::max;
    state->dtype = p.dtype;
    if (p.reduce == Reduce::mean) {
        state->csr = c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream);
        make_shares(*state, c.stream);
    }
    return state;
}

std::size_t bytes(const void* state) {
    return workspace_bytes(*static_cast<const State*>(state));
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const State*>(state), operands, workspace, stream);
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<kernels::ColumnPassParams>(params);
    CostTerms terms = kernels::spmm_grad_cost(q, kernels::csr_bytes(q) + 4.0 * static_cast<double>(q.n_cols));
    // Ids of edges; weights and gradients of an edge out of order, each in sectors of 32 bytes.
    const double sectors = std::ceil(kernels::weight_bytes(q) / 32.0);
    if (q.problem.weighted) terms.l2_bytes += (4.0 + 64.0 * sectors) * static_cast<double>(q.m);
    // A row of argmax with each of grad_y.
    terms.l2_bytes += static_cast<double>(q.m) * kernels::argmax_row_bytes(q);
    terms.dram_bytes += static_cast<double>(std::min(q.n_rows, q.m)) * kernels::argmax_row_bytes(q);
    const auto tiles = static_cast<double>(p.tiles(q.problem.k, q.problem.heads));
    p.shape().add_cost(kernels::col_classes(q), p.run, tiles, terms);
    if (q.problem.self_loop) terms.longest += 1;  // a round of its own
    return terms;
}

}  // namespace
}  // namespace spmm_grad_binned

void register_spmm_grad_binned(Registry& registry) {
    Variant v;
    v.id = "spmm_grad.binned";
    v.summary = "both gradients in one pass over columns binned by degree, a gather for each edge, no atomics";
    v.op = Op::spmm_grad;
    v.backend = Backend::cuda;
    v.operand_alignment = 16;
    v.version = 2;  // shares of means are made once a plan; maxima select before they gather
    v.default_rank = 5;
    v.can = {.storage = kEveryStorage, .reduce = kEveryReduction, .self_loops = Takes::yes, .heads = true};
    v.applicable = &spmm_grad_binned::applicable;
    kernels::set_typed_params<kernels::ColumnPassParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_columns_by_degree;
    v.prepare = &spmm_grad_binned::prepare;
    v.workspace_bytes = &spmm_grad_binned::bytes;
    v.launch = &spmm_grad_binned::run;
    v.cost_terms = &spmm_grad_binned::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

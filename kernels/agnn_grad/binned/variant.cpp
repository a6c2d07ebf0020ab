#include "kernels/agnn_grad/binned/launch.hpp"
#include "kernels/common/cosine_params.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace agnn_grad_binned {
namespace {

using kernels::GatherPassParams;

Verdict applicable(const Query& q) {
    const Verdict heads = kernels::require_beta_heads(q);
    return heads ? kernels::require_gather_pass(q) : heads;
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    const auto params = from_params<GatherPassParams>(c.params);
    auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream);
    auto csc = c.graph.format_as<CsrFormat>(kFormatCsc, p.direction, c.stream);
    auto rows = kernels::bin_rows(c, params.bins(p));
    auto cols = kernels::bin_columns(c, params.other(p).bins(p));
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
    const auto tiles = static_cast<double>(p.tiles(problem));
    const auto other_tiles = static_cast<double>(p.other(problem).tiles(problem));
    CostTerms terms =
        kernels::agnn_grad_cost(q, kernels::csr_bytes(q) * tiles + (kernels::csr_bytes(q) + 4.0 * m) * other_tiles);
    const double values = 16.0 * m * problem.heads;  // weights written, and read
    terms.dram_bytes += values;
    terms.l2_bytes += values;
    terms.flops = (12.0 * problem.k + 16.0) * m * problem.heads;
    terms.launches = 3;
    kernels::add_gather_pass_cost(q, p, kernels::row_classes(q), kernels::col_classes(q), terms);
    return terms;
}

}  // namespace
}  // namespace agnn_grad_binned

void register_agnn_grad_binned(Registry& registry) {
    Variant v;
    v.id = "agnn_grad.binned";
    v.summary = "rows binned by degree gather one row for all dot products and a sum, columns two with the weights";
    v.op = Op::agnn_grad;
    v.backend = Backend::cuda;
    v.operand_alignment = 16;
    v.default_rank = 5;
    v.can = kernels::kAttention;
    v.applicable = &agnn_grad_binned::applicable;
    kernels::set_typed_params<kernels::GatherPassParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_both_by_degree;
    v.prepare = &agnn_grad_binned::prepare;
    v.workspace_bytes = &agnn_grad_binned::workspace_bytes;
    v.launch = &agnn_grad_binned::run;
    v.cost_terms = &agnn_grad_binned::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

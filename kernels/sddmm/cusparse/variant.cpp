#include "core/registry/graph.hpp"
#include "kernels/common/find_library.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/sddmm/cusparse/launch.hpp"

namespace gnntune {
namespace sddmm_cusparse {
namespace {

Verdict applicable(const Query& q) {
    const Verdict matrix = kernels::require_cusparse_matrix(q);
    if (!matrix) return matrix;
    return kernels::find_library(cusparse_library());
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    return make_plan(c.graph.format_as<CsrFormat>(kFormatCsr, c.query.problem.direction, c.stream), c.query.problem.k,
                     c.stream);
}

std::size_t workspace(const void* state) {
    return workspace_bytes(*static_cast<const Plan*>(state));
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const Plan*>(state), operands, workspace, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    CostTerms terms = kernels::gather_cost(q, kernels::csr_bytes(q) + 8.0 * static_cast<double>(q.m));
    terms.launches = 2;
    return terms;
}

}  // namespace
}  // namespace sddmm_cusparse

void register_sddmm_cusparse(Registry& registry) {
    Variant v;
    v.id = "sddmm.cusparse";
    v.summary = "cusparseSDDMM over CSR";
    v.op = Op::sddmm;
    v.backend = Backend::cuda;
    v.default_rank = 50;
    v.baseline = true;
    v.operand_alignment = 16;
    v.can = {.weights = Takes::no};  // cusparseSDDMM does not multiply by them
    v.applicable = &sddmm_cusparse::applicable;
    kernels::set_no_params(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &sddmm_cusparse::prepare;
    v.workspace_bytes = &sddmm_cusparse::workspace;
    v.launch = &sddmm_cusparse::run;
    v.cost_terms = &sddmm_cusparse::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

#include "kernels/common/spmm_grad.hpp"
#include "kernels/spmm_grad/gar/launch.hpp"

namespace gnntune {
namespace spmm_grad_gar {
namespace {

void run(const void* state, const Operands& operands, void*, StreamHandle stream) {
    launch(*static_cast<const State*>(state), operands, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    CostTerms terms = kernels::spmm_grad_cost(q, kernels::csr_bytes(q));
    if (q.problem.self_loop && !q.problem.weighted) terms.launches = 2;
    return terms;
}

}  // namespace
}  // namespace spmm_grad_gar

void register_spmm_grad_gar(Registry& registry) {
    Variant v;
    v.id = "spmm_grad.gar";
    v.summary = "fuseGNN's gather-apply-reduce over CSC: a block per source, both gradients in one pass (section 5.4)";
    v.op = Op::spmm_grad;
    v.backend = Backend::cuda;
    v.default_rank = 20;
    v.can = {.self_loops = Takes::yes};
    kernels::set_typed_params<kernels::GarParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csc;
    v.prepare = &kernels::prepare_plan_state<kernels::GarParams, CsrFormat, kFormatCsc>;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &spmm_grad_gar::run;
    v.cost_terms = &spmm_grad_gar::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

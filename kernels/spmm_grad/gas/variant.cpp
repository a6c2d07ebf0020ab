#include "kernels/common/spmm_grad.hpp"
#include "kernels/spmm_grad/gas/launch.hpp"

namespace gnntune {
namespace spmm_grad_gas {
namespace {

void run(const void* state, const Operands& operands, void*, StreamHandle stream) {
    launch(*static_cast<const State*>(state), operands, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    CostTerms terms = kernels::spmm_grad_cost(q, kernels::coo_bytes(q));
    const double rows = 4.0 * static_cast<double>(q.m) * q.problem.k;
    terms.reduction_bytes = rows;
    if (q.problem.weighted) terms.l2_bytes += rows;  // x, a row for every edge
    terms.launches = 2;
    return terms;
}

}  // namespace
}  // namespace spmm_grad_gas

void register_spmm_grad_gas(Registry& registry) {
    Variant v;
    v.id = "spmm_grad.gas";
    v.summary = "fuseGNN's gather-apply-scatter over COO, both gradients in one pass, scalar atomics (Algorithm 2)";
    v.op = Op::spmm_grad;
    v.backend = Backend::cuda;
    v.default_rank = 90;
    v.can = {.self_loops = Takes::yes};
    kernels::set_typed_params<kernels::GasParams>(v);
    v.deterministic = &kernels::never_deterministic;
    v.formats = &kernels::needs_coo;
    v.prepare = &kernels::prepare_plan_state<kernels::GasParams, CooFormat, kFormatCoo>;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &spmm_grad_gas::run;
    v.cost_terms = &spmm_grad_gas::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

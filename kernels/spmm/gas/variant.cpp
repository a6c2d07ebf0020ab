#include "kernels/common/host.hpp"
#include "kernels/spmm/gas/launch.hpp"

namespace gnntune {
namespace spmm_gas {
namespace {

void run(const void* state, const Operands& operands, void*, StreamHandle stream) {
    launch(*static_cast<const State*>(state), operands, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    CostTerms terms = kernels::gather_cost(q, kernels::coo_bytes(q));
    terms.reduction_bytes = 4.0 * static_cast<double>(q.m) * q.problem.k;
    terms.launches = 2;
    return terms;
}

}  // namespace
}  // namespace spmm_gas

void register_spmm_gas(Registry& registry) {
    Variant v;
    v.id = "spmm.gas";
    v.summary = "fuseGNN's gather-apply-scatter over COO with scalar atomics (Algorithm 1)";
    v.op = Op::spmm;
    v.backend = Backend::cuda;
    v.default_rank = 90;
    v.can = {.self_loops = Takes::yes};
    kernels::set_typed_params<kernels::GasParams>(v);
    v.deterministic = &kernels::never_deterministic;
    v.formats = &kernels::needs_coo;
    v.prepare = &kernels::prepare_plan_state<kernels::GasParams, CooFormat, kFormatCoo>;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &spmm_gas::run;
    v.cost_terms = &spmm_gas::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

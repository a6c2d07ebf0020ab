#include "kernels/common/host.hpp"
#include "kernels/spmm/gar/launch.hpp"

namespace gnntune {
namespace spmm_gar {
namespace {

void run(const void* state, const Operands& operands, void*, StreamHandle stream) {
    launch(*static_cast<const State*>(state), operands, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    return kernels::gather_cost(q, kernels::csr_bytes(q));
}

}  // namespace
}  // namespace spmm_gar

void register_spmm_gar(Registry& registry) {
    Variant v;
    v.id = "spmm.gar";
    v.version = 2;  // block reduction with fewer barriers
    v.summary = "fuseGNN's gather-apply-reduce: a block per row, reduction in shared memory (Algorithm 3)";
    v.op = Op::spmm;
    v.backend = Backend::cuda;
    v.default_rank = 80;
    v.can = {.reduce = {Reduce::sum, Reduce::mean}, .self_loops = Takes::yes};
    kernels::set_typed_params<kernels::GarParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &kernels::prepare_plan_state<kernels::GarParams, CsrFormat, kFormatCsr>;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &spmm_gar::run;
    v.cost_terms = &spmm_gar::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

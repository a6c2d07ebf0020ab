#include "kernels/common/host.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/spmm/gar/launch.hpp"

namespace gnntune {
namespace spmm_gar {
namespace {

struct GarParams {
    int block_size = 128;  ///< T of the paper

    static const std::vector<ParamField<GarParams>>& fields() {
        static const std::vector<ParamField<GarParams>> kFields{{"block_size", &GarParams::block_size, {64, 128, 256}}};
        return kFields;
    }
    static Verdict legal(const Query&, const GarParams&) { return Verdict::yes(); }
    static GarParams defaults(const Query&) { return {}; }
};

using State = kernels::PlanState<GarParams, CsrFormat>;

void run(const void* state, const Operands& operands, void*, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    launch(*s.graph, s.params.block_size, s.k, s.weighted, s.mean, operands, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    return kernels::gather_cost(q, kernels::csr_bytes(q));
}

}  // namespace
}  // namespace spmm_gar

void register_spmm_gar(Registry& registry) {
    Variant v;
    v.id = "spmm.gar";
    v.summary = "fuseGNN's gather-apply-reduce: a block per row, reduction in shared memory (Algorithm 3)";
    v.op = Op::spmm;
    v.backend = Backend::cuda;
    v.default_rank = 80;
    v.applicable = &kernels::require_fp32_sum_or_mean;
    kernels::set_typed_params<spmm_gar::GarParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &kernels::prepare_plan_state<spmm_gar::GarParams, CsrFormat, kFormatCsr>;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &spmm_gar::run;
    v.cost_terms = &spmm_gar::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

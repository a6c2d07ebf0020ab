#include "kernels/common/host.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/spmm/gas/launch.hpp"

namespace gnntune {
namespace spmm_gas {
namespace {

struct GasParams {
    int block_size = 256;  ///< T of the paper

    static const std::vector<ParamField<GasParams>>& fields() {
        static const std::vector<ParamField<GasParams>> kFields{
            {"block_size", &GasParams::block_size, {128, 256, 512}}};
        return kFields;
    }
    static Verdict legal(const Query& q, const GasParams& p) {
        const int k = q.problem.k;
        return kernels::require_grid(kernels::ceil_div(q.m, k < p.block_size ? p.block_size / k : 1));
    }
    static GasParams defaults(const Query&) { return {}; }
};

using State = kernels::PlanState<GasParams, CooFormat>;

void run(const void* state, const Operands& operands, void*, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    launch(*s.graph, s.params.block_size, s.k, s.weighted, operands, stream);
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
    v.applicable = &kernels::require_plain_fp32_sum;
    kernels::set_typed_params<spmm_gas::GasParams>(v);
    v.deterministic = &kernels::never_deterministic;
    v.formats = &kernels::needs_coo;
    v.prepare = &kernels::prepare_plan_state<spmm_gas::GasParams, CooFormat, kFormatCoo>;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &spmm_gas::run;
    v.cost_terms = &spmm_gas::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

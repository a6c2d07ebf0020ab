#include "kernels/common/gcn_norm.hpp"
#include "kernels/gcn_norm/gas/launch.hpp"

namespace gnntune {
namespace gcn_norm_gas {

const std::vector<ParamField<GasParams>>& GasParams::fields() {
    static const std::vector<ParamField<GasParams>> kFields{{"block_size", &GasParams::block_size, {128, 256, 512}}};
    return kFields;
}

Verdict GasParams::legal(const Query& q, const GasParams& p) {
    return kernels::require_grid(kernels::ceil_div(std::max(q.m, q.n_rows), p.block_size));
}

namespace {

std::size_t workspace(const void* state) {
    return workspace_bytes(*static_cast<const State*>(state));
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const State*>(state), operands, workspace, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    // Rows twice, columns and weights as often as any other variant; degrees of both ends are gathered.
    CostTerms terms = kernels::gcn_norm_cost(q, kernels::coo_bytes(q) + 4.0 * static_cast<double>(q.m));
    terms.l2_bytes += 32.0 * static_cast<double>(q.m);
    terms.reduction_bytes = (q.problem.weighted ? 8.0 : 4.0) * static_cast<double>(q.m);
    terms.launches = 3;
    return terms;
}

}  // namespace
}  // namespace gcn_norm_gas

void register_gcn_norm_gas(Registry& registry) {
    Variant v;
    v.id = "gcn_norm.gas";
    v.summary = "over COO: degrees by atomic scatter, then weights, a thread per edge";
    v.op = Op::gcn_norm;
    v.backend = Backend::cuda;
    v.default_rank = 60;
    v.applicable = &kernels::require_fp32_gcn_norm;
    kernels::set_typed_params<gcn_norm_gas::GasParams>(v);
    v.deterministic = &kernels::never_deterministic;
    v.formats = &kernels::needs_coo;
    v.prepare = &kernels::prepare_plan_state<gcn_norm_gas::GasParams, CooFormat, kFormatCoo>;
    v.workspace_bytes = &gcn_norm_gas::workspace;
    v.launch = &gcn_norm_gas::run;
    v.cost_terms = &gcn_norm_gas::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

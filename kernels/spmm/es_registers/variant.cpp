#include "kernels/spmm/es_registers/launch.hpp"

#include "kernels/common/storage.hpp"

namespace gnntune {
namespace spmm_es_registers {

const std::vector<ParamField<RegistersParams>>& RegistersParams::fields() {
    static const std::vector<ParamField<RegistersParams>> kFields{
        {"sampling", &RegistersParams::sampling, {0, 1}, kernels::kSampleKinds},
        {"S", &RegistersParams::S, {8, 16, 32}},
        {"prime", &RegistersParams::prime, kernels::kSamplePrimes},
        {"second_prime", &RegistersParams::second_prime, kernels::kSecondPrimes},
        {"rescale", &RegistersParams::rescale, {0, 1}},
        {"group", &RegistersParams::group, {8, 16, 32}},
        {"unroll", &RegistersParams::unroll, {4, 8}},
    };
    return kFields;
}

namespace {

/// Threads that hold one vector each of a row of k elements.
int whole_row(const Query& q) {
    return kernels::next_power_of_two(
        static_cast<std::int32_t>(kernels::ceil_div(q.problem.k, kernels::widest_vector(q.problem))));
}

SampleRule rule_of_params(const Params& params) {
    return kernels::rule_of(from_params<RegistersParams>(params));
}

void run(const void* state, const Operands& operands, void*, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    kernels::with_storage(s.dtype, [&]<typename T>(std::type_identity<T>) { launch_typed<T>(s, operands, stream); });
}

CostTerms cost_terms(const Query& q, const Params& params) {
    return kernels::sampled_cost(q, rule_of_params(params));
}

}  // namespace

Verdict RegistersParams::legal(const Query& q, const RegistersParams& p) {
    const Verdict useful = kernels::require_useful_rule(kernels::rule_of(p));
    return useful ? kernels::require_grid(kernels::ceil_div(q.n_rows, 128 / p.group)) : useful;
}

// Groups that walk over a row more than twice, or whose parts outnumber their samples, lose to the next width.
bool RegistersParams::searched(const Query& q, const RegistersParams& p) {
    const RegistersParams standard = defaults(q);
    const SampleRule rule = kernels::rule_of(p);
    if (p.group != standard.group && (p.group * 2 < whole_row(q) || p.group > 4 * whole_row(q))) return false;
    if (p.unroll != standard.unroll && p.S < 16) return false;
    if (kernels::departures(rule) > 0 && (p.group != standard.group || p.unroll != standard.unroll)) return false;
    return kernels::worth_searching(q, rule, standard.S);
}

RegistersParams RegistersParams::defaults(const Query& q) {
    RegistersParams p;
    p.group = std::clamp(whole_row(q), 8, 32);
    return p;
}

}  // namespace spmm_es_registers

void register_spmm_es_registers(Registry& registry) {
    Variant v;
    v.id = "spmm.es_registers";
    v.summary = "Bucket and FastRand up to 32 edges a row, sampled in registers, ids by shuffles";
    v.op = Op::spmm;
    v.backend = Backend::cuda;
    v.approximate = true;
    v.can = kernels::kSampledSpmm;
    kernels::set_typed_params<spmm_es_registers::RegistersParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &kernels::prepare_plan_state<spmm_es_registers::RegistersParams, CsrFormat, kFormatCsr>;
    v.sampling = &spmm_es_registers::rule_of_params;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &spmm_es_registers::run;
    v.cost_terms = &spmm_es_registers::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

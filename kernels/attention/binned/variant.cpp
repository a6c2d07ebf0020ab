#include "kernels/attention/binned/launch.hpp"
#include "kernels/common/dot_attention.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace attention_binned {
namespace {

using kernels::BinnedAttendParams;

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    return std::make_shared<State>(kernels::plan_binned_attend(c, from_params<BinnedAttendParams>(c.params)));
}

std::size_t workspace_bytes(const void* state) {
    const auto& s = *static_cast<const State*>(state);
    return kernels::piece_results_bytes(s.slots(), s.heads, s.k);
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    kernels::with_storage(s.dtype,
                          [&]<typename T>(std::type_identity<T>) { launch_typed<T>(s, operands, workspace, stream); });
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<BinnedAttendParams>(params);
    CostTerms terms = kernels::dot_attention_cost(q, kernels::binned_attend_index_bytes(q, p));
    kernels::add_binned_attend_cost(q, p, terms);
    return terms;
}

}  // namespace
}  // namespace attention_binned

void register_attention_binned(Registry& registry) {
    Variant v;
    v.id = "attention.binned";
    v.version = 2;  // runs of edges are counted in 32 bits
    v.summary = "one kernel: rows binned by degree with all their heads, running softmax a run of edges at a time";
    v.op = Op::attention;
    v.backend = Backend::cuda;
    v.default_rank = 5;
    v.can = kernels::kAttention;
    v.applicable = &kernels::require_binned_attend;
    kernels::set_typed_params<kernels::BinnedAttendParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_rows_by_degree;
    v.prepare = &attention_binned::prepare;
    v.workspace_bytes = &attention_binned::workspace_bytes;
    v.launch = &attention_binned::run;
    v.cost_terms = &attention_binned::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

#include "kernels/agnn/binned/launch.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace agnn_binned {
namespace {

struct BinnedParams : kernels::BinnedAttendParams {
    int stored_norms = 1;  ///< 1: a first kernel computes the inverse norms of x; 0: every gathered row gives its own

    bool operator==(const BinnedParams&) const = default;
    static const std::vector<ParamField<BinnedParams>>& fields() {
        static const auto kFields = [] {
            auto all = fields_of<BinnedParams>();
            all.push_back({"stored_norms", &BinnedParams::stored_norms, {0, 1}});
            return all;
        }();
        return kFields;
    }
    /// Its own norm costs a gathered row a second sum over its lanes; a launch costs a small graph more.
    static BinnedParams defaults(const Query& q) {
        const bool many_gathers = q.problem.k >= 64 && q.m >= 8 * q.n_rows;
        return {kernels::BinnedAttendParams::defaults(q), many_gathers ? 1 : 0};
    }
};

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const auto params = from_params<BinnedParams>(c.params);
    return std::make_shared<State>(State{kernels::plan_binned_attend(c, params), params.stored_norms != 0});
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    kernels::with_storage(s.rows.dtype,
                          [&]<typename T>(std::type_identity<T>) { launch_typed<T>(s, operands, workspace, stream); });
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto p = from_params<BinnedParams>(params);
    const double row_bytes = static_cast<double>(size_of(q.problem.dtype)) * q.problem.k * q.problem.heads;
    CostTerms terms = kernels::gather_cost(q, kernels::binned_attend_index_bytes(q, p));
    terms.dram_bytes += row_bytes * static_cast<double>(q.n_rows);
    terms.l2_bytes += 4.0 * static_cast<double>(q.m) * q.problem.heads * p.stored_norms;
    terms.flops *= p.stored_norms != 0 ? 2.0 : 3.0;
    terms.launches += p.stored_norms;
    kernels::add_binned_attend_cost(q, p, terms);
    return terms;
}

}  // namespace
}  // namespace agnn_binned

void register_agnn_binned(Registry& registry) {
    Variant v;
    v.id = "agnn.binned";
    v.summary = "rows binned by degree with all their heads, one gather for cosine and sum, a run of edges at a time";
    v.op = Op::agnn;
    v.backend = Backend::cuda;
    v.default_rank = 5;
    v.can = kernels::kAttention;
    v.applicable = &kernels::require_binned_attend;
    kernels::set_typed_params<agnn_binned::BinnedParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_rows_by_degree;
    v.prepare = &agnn_binned::prepare;
    v.workspace_bytes = &kernels::cosine_workspace_bytes<kernels::BinnedAttendPlan>;
    v.launch = &agnn_binned::run;
    v.cost_terms = &agnn_binned::cost_terms;
    registry.add(v);
}

}  // namespace gnntune

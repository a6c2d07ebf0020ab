// Record functions of the variants that run the shared-memory kernel. P is their params struct (sample_params.hpp) with
// `int group` and `static SampleRule rule(const P&)`.
#pragma once

#include "kernels/common/es_sample/launch.hpp"
#include "kernels/common/sample_params.hpp"

namespace gnntune::kernels {

/// Threads that share a row. Beyond 32 a group copies its sample faster and has more gathers in flight, and waits at
/// wider barriers.
inline const std::vector<int> kEsGroups{32, 64, 128};

template <typename P>
Verdict es_legal(const Query& q, const P& p) {
    Verdict verdict = require_useful_rule(P::rule(p));
    if (verdict) verdict = require_es_shared_memory(q, P::rule(p), p.group);
    return verdict;
}

/// A wide sample wants a wide group: its rows are long, and the shared memory that it takes leaves few rows on an SM.
template <typename P>
bool es_searched(const Query& q, const P& p) {
    const bool group_fits = p.S <= 32 ? p.group <= 64 : p.S <= 256 || p.group >= 64;
    const SampleRule rule = P::rule(p);
    return group_fits && (departures(rule) == 0 || p.group == P::defaults(q).group) &&
           worth_searching(q, rule, P::defaults(q).S);
}

template <typename P>
SampleRule es_rule_of_params(const Params& params) {
    return P::rule(from_params<P>(params));
}

template <typename P>
std::shared_ptr<const void> es_prepare(const PrepareContext& c) {
    const auto p = from_params<P>(c.params);
    const Problem& problem = c.query.problem;
    auto plan = std::make_shared<EsPlan>(EsPlan{c.graph.format_as<CsrFormat>(kFormatCsr, problem.direction, c.stream),
                                                P::rule(p), p.group, problem.k, problem.weighted,
                                                problem.reduce == Reduce::mean});
    prepare_es_sample(*plan, c.graph.device());
    return plan;
}

inline void es_run(const void* state, const Operands& operands, void*, StreamHandle stream) {
    launch_es_sample(*static_cast<const EsPlan*>(state), operands, stream);
}

template <typename P>
CostTerms es_cost(const Query& q, const Params& params) {
    return sampled_cost(q, P::rule(from_params<P>(params)));
}

/// The record of such a variant but for its id and summary.
template <typename P>
Variant es_variant() {
    Variant v;
    v.op = Op::spmm;
    v.backend = Backend::cuda;
    v.approximate = true;
    v.applicable = &require_sampled_spmm;
    set_searched_params<P>(v);
    v.deterministic = &always_deterministic;
    v.formats = &needs_csr;
    v.prepare = &es_prepare<P>;
    v.sampling = &es_rule_of_params<P>;
    v.workspace_bytes = &no_workspace;
    v.launch = &es_run;
    v.cost_terms = &es_cost<P>;
    return v;
}

}  // namespace gnntune::kernels

// Record functions of the variants that run the shared-memory kernel. P is their params struct (sample_params.hpp) with
// `int group` and `static SampleRule rule(const P&)`.
#pragma once

#include "kernels/common/spmm_suits.hpp"
#include "kernels/spmm/common/es_sample/launch.hpp"
#include "kernels/spmm/common/sample_params.hpp"

namespace gnntune::kernels {

/// Threads that share a row. The paper's are 32 to 128; fewer serve narrow and short rows.
inline const std::vector<int> kEsGroups{8, 16, 32, 64, 128};

template <typename P>
Verdict es_legal(const Query&, const P& p) {
    return require_useful_rule(P::rule(p));
}

/// A narrow group serves a row of x that needs no more than a vector of each thread; where rows are long, a wide one
/// has more gathers in flight. In a graph so small that all its rows run at once, the longest row decides.
template <typename P>
bool es_searched(const Query& q, const P& p) {
    const SampleRule rule = P::rule(p);
    const P standard = P::defaults(q);
    if (!worth_searching(q, rule, standard.S)) return false;
    if (departures(rule) > 0) return p.group == standard.group;
    if (p.group == 32) return true;
    if (p.group < 32) return q.problem.k <= p.group * widest_vector(q.problem);
    const double kept = sampled_edges(q, rule) / static_cast<double>(std::max<std::int64_t>(1, q.n_rows));
    const std::int64_t resident = q.device ? static_cast<std::int64_t>(places_of(q)) : 0;
    return kept >= 24 || (most_kept(q, rule) >= p.group && std::int64_t{q.n_rows} * p.group <= 2 * resident);
}

template <typename P>
SampleRule es_rule_of_params(const Params& params) {
    return P::rule(from_params<P>(params));
}

template <typename P>
std::shared_ptr<const void> es_prepare(const PrepareContext& c) {
    const auto p = from_params<P>(c.params);
    const Problem& problem = c.query.problem;
    return std::make_shared<EsPlan>(EsPlan{c.graph.format_as<CsrFormat>(kFormatCsr, problem.direction, c.stream),
                                           P::rule(p), p.group, problem.k, problem.weighted,
                                           problem.reduce == Reduce::mean, problem.dtype});
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
    v.can = kSampledSpmm;
    set_typed_params<P>(v);
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

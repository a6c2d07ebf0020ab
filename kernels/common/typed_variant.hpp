// Record functions that follow from a typed params struct, so that a variant states only what is its own.
//
// P has fields() (core/registry/param_fields.hpp) and two static functions:
//   static Verdict legal(const Query&, const P&)   whether these params may be launched on this problem
//   static P defaults(const Query&)                O(1), always legal
// and, where not all that is legal is worth a search, a third:
//   static bool searched(const Query&, const P&)   Variant::searched
#pragma once

#include <vector>

#include "core/graph/formats.hpp"
#include "core/registry/graph.hpp"
#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::kernels {

template <typename P>
std::vector<Params> typed_space(const Query& query) {
    std::vector<Params> out;
    for (const P& p : enumerate_params<P>()) {
        if constexpr (requires { P::searched(query, p); }) {
            if (!P::searched(query, p)) continue;
        }
        if (P::legal(query, p)) out.push_back(to_params(p));
    }
    return out;
}

template <typename P>
bool typed_searched(const Query& query, const Params& params) {
    return P::searched(query, from_params<P>(params));
}

template <typename P>
Params typed_default(const Query& query) {
    return to_params(P::defaults(query));
}

template <typename P>
Verdict typed_valid(const Query& query, const Params& params) {
    try {
        return P::legal(query, from_params<P>(params));
    } catch (const Error& e) {
        return Verdict::no(e.what());
    }
}

/// Fills in the parts of a record that follow from P.
template <typename P>
void set_typed_params(Variant& v) {
    v.space = &typed_space<P>;
    if constexpr (requires(const Query& query, const P& p) { P::searched(query, p); }) v.searched = &typed_searched<P>;
    v.default_params = &typed_default<P>;
    v.valid = &typed_valid<P>;
}

/// What most plans keep: one format of the graph, the params, and the facts of the problem that a launch needs.
template <typename P, typename Format>
struct PlanState {
    std::shared_ptr<const Format> graph;
    P params;
    std::int32_t k;
    bool weighted;
    bool mean;
    bool max;
    bool self_loop;
    DType dtype;
    std::int32_t heads;
};

/// prepare() of a variant that needs nothing but a PlanState. `Id` names the format.
template <typename P, typename Format, const char* const& Id>
std::shared_ptr<const void> prepare_plan_state(const PrepareContext& c) {
    return std::make_shared<PlanState<P, Format>>(PlanState<P, Format>{
        c.graph.format_as<Format>(Id, c.query.problem.direction, c.stream), from_params<P>(c.params), c.query.problem.k,
        c.query.problem.weighted, c.query.problem.reduce == Reduce::mean, c.query.problem.reduce == Reduce::max,
        c.query.problem.self_loop, c.query.problem.dtype, c.query.problem.heads});
}

/// For variants without params.
inline std::vector<Params> no_params_space(const Query&) {
    return {Params{}};
}
inline Params no_params_default(const Query&) {
    return {};
}
inline Verdict no_params_valid(const Query&, const Params& params) {
    return params.empty() ? Verdict::yes() : Verdict::no("it has no params, " + params.text() + " was given");
}
inline void set_no_params(Variant& v) {
    v.space = &no_params_space;
    v.default_params = &no_params_default;
    v.valid = &no_params_valid;
}

/// For variants without workspace.
inline std::size_t no_workspace(const void*) {
    return 0;
}
inline bool always_deterministic(const Params&) {
    return true;
}
inline bool never_deterministic(const Params&) {
    return false;
}
/// For compositions: what their parts need is built with the parts' plans.
inline std::vector<std::string_view> needs_no_format(const Params&) {
    return {};
}
inline std::vector<std::string_view> needs_csr(const Params&) {
    return {kFormatCsr};
}
inline std::vector<std::string_view> needs_csc(const Params&) {
    return {kFormatCsc};
}
inline std::vector<std::string_view> needs_csr_and_csc(const Params&) {
    return {kFormatCsr, kFormatCsc};
}
inline std::vector<std::string_view> needs_coo(const Params&) {
    return {kFormatCoo};
}
inline std::vector<std::string_view> needs_coo_sorted(const Params&) {
    return {kFormatCooSorted};
}
inline std::vector<std::string_view> needs_sgt(const Params&) {
    return {kFormatSgt};
}

}  // namespace gnntune::kernels

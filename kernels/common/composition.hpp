// What compositions share: record functions that follow from the list of their parts, and the parts' plans.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/common/error.hpp"
#include "core/dispatch/plan.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::kernels {

/// Problem of a part: fp32, a sum, one head.
inline Problem part_problem(Op op, std::int32_t k, bool weighted, Direction direction) {
    Problem p;
    p.op = op;
    p.k = k;
    p.weighted = weighted;
    p.direction = direction;
    return p;
}

// Record functions of a composition C, which has
//   static std::vector<Part> parts(const Query&)
// Its params are one for each part, in that order; its space is their standard values, and every config of the part's
// op is valid (a plan refuses those that cannot run the part's problem).

template <typename C>
Params composition_default(const Query& query) {
    Params params;
    for (const Part& part : C::parts(query)) params.set(part.param, part.standard);
    return params;
}

template <typename C>
std::vector<Params> composition_space(const Query& query) {
    return {composition_default<C>(query)};
}

template <typename C>
Verdict composition_valid(const Query& query, const Params& params) {
    const std::vector<Part> parts = C::parts(query);
    for (const auto& [name, value] : params.values()) {
        const auto part = std::find_if(parts.begin(), parts.end(), [&](const Part& p) { return p.param == name; });
        if (part == parts.end()) return Verdict::no("it has no part '" + name + "'");
        if (value == "default") continue;
        const std::string op(to_text(part->problem.op));
        try {
            if (Config::parse(value).variant.rfind(op + ".", 0) != 0) {
                return Verdict::no("part " + name + "=" + value + " does not compute " + op);
            }
        } catch (const Error& e) {
            return Verdict::no("part " + name + ": " + e.what());
        }
    }
    return Verdict::yes();
}

template <typename C>
void set_parts(Variant& v) {
    v.space = &composition_space<C>;
    v.default_params = &composition_default<C>;
    v.valid = &composition_valid<C>;
    v.parts = &C::parts;
}

/// Plans of the parts, in the order of C::parts(). They run one after the other, on one workspace of `workspace_bytes`.
struct PartPlans {
    std::vector<std::unique_ptr<const Plan>> plans;
    std::size_t workspace_bytes = 0;

    const Plan& operator[](std::size_t i) const { return *plans[i]; }
};

template <typename C>
PartPlans make_part_plans(const PrepareContext& c) {
    PartPlans out;
    for (const Part& part : C::parts(c.query)) {
        out.plans.push_back(
            std::make_unique<const Plan>(c.graph, part.problem, part_config(c.graph, c.params, part), c.stream));
        out.workspace_bytes = std::max(out.workspace_bytes, out.plans.back()->workspace_bytes());
    }
    return out;
}

}  // namespace gnntune::kernels

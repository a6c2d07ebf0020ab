#include "tuner/measuring/measurable.hpp"

#include "core/common/error.hpp"
#include "core/dispatch/plan.hpp"
#include "core/registry/errata.hpp"

namespace gnntune::tuner {

Measurable measurable_configs(const Registry& registry, const Query& query,
                              const std::function<bool(const Variant&)>& wanted,
                              const std::function<std::vector<Params>(const Variant&)>& offered) {
    Measurable out;
    for (const Variant& v : registry.variants()) {
        if (v.op != query.problem.op || v.backend != query.device->backend || !wanted(v)) continue;
        if (const Verdict verdict = registry.applicable(v, query); !verdict) {
            out.refusals.emplace_back(&v, verdict.reason);
            continue;
        }
        for (Params& params : offered ? offered(v) : v.space(query)) {
            try {
                const auto parts = parts_of(registry, query, v, params);
                if (const Erratum* erratum = find_erratum(registry, query, v, params, parts)) {
                    out.held_back_by.insert(condition_text(*erratum));
                    ++out.held_back;
                    continue;
                }
            } catch (const Error& e) {
                out.refusals.emplace_back(&v, e.what());
                continue;
            }
            out.configs.push_back({v.id, std::move(params)});
        }
    }
    return out;
}

}  // namespace gnntune::tuner

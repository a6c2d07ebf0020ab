#include "tuner/measuring/standing.hpp"

#include <algorithm>

#include "core/dispatch/plan.hpp"

namespace gnntune::tuner {

bool stands(const Registry& registry, const Query& query, const Measurement& m) {
    const Variant* v = registry.find(m.config.variant);
    if (!v || v->version != m.variant_version) return false;
    if (!registry.applicable(*v, query) || !v->valid(query, m.config.params)) return false;
    if (!erratum_words(registry, query, *v, m.config.params, m.parts).empty()) return false;
    return std::all_of(m.parts.begin(), m.parts.end(), [&](const PartVersion& part) {
        const Variant* p = registry.find(part.config.variant);
        return p && p->version == part.variant_version;
    });
}

bool may_be_captured(const Registry& registry, const Measurement& m) {
    const auto may = [&](const Config& config) {
        const Variant* v = registry.find(config.variant);
        return v && (!v->capturable || v->capturable(config.params));
    };
    return may(m.config) &&
           std::all_of(m.parts.begin(), m.parts.end(), [&](const PartVersion& part) { return may(part.config); });
}

}  // namespace gnntune::tuner

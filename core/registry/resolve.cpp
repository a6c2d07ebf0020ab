#include "core/registry/resolve.hpp"

#include "core/common/error.hpp"

namespace gnntune {

const Variant& resolve(const Registry& registry, const Query& query, const Config& config) {
    const Variant* variant = registry.find(config.variant);
    if (!variant) {
        throw unsupported("this build has no variant '" + config.variant + "'; `gnntune list` names those it has");
    }
    Verdict verdict = registry.applicable(*variant, query);
    if (verdict) verdict = variant->valid(query, config.params);
    if (!verdict) throw unsupported(config.text() + " cannot run " + to_text(query.problem) + ": " + verdict.reason);
    return *variant;
}

Config part_config(const Registry& registry, const Query& query, const Params& params, const Part& part) {
    const std::string* given = params.find(part.param);
    const std::string& text = given ? *given : part.standard;
    const Query part_query = query.with(part.problem);
    if (text == "default") return registry.default_part(part_query);
    Config config = Config::parse(text);
    resolve(registry, part_query, config);
    return config;
}

std::vector<Params> space_or_default(const Variant& variant, const Query& query) {
    std::vector<Params> space = variant.space(query);
    if (space.empty()) space.push_back(variant.default_params(query));
    return space;
}

}  // namespace gnntune

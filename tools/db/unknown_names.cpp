#include "tools/db/unknown_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <vector>

#include "core/ops/legal.hpp"
#include "core/registry/device.hpp"
#include "core/registry/typical.hpp"
#include "tools/common/program.hpp"
#include "tools/common/suggest.hpp"
#include "tools/common/typical.hpp"

namespace gnntune::tools {
namespace {

bool fits(const Variant& v, const Erratum& e) {
    return (e.variant.empty() || e.variant == v.id) && (!e.op || *e.op == v.op) &&
           (!e.backend || *e.backend == v.backend);
}

bool is_whole_number(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// One of whole vectors, and one that is none.
constexpr std::array<std::int32_t, 2> kWidths{64, 33};
constexpr std::array<std::int32_t, 2> kHeads{1, 8};

/// The params of a variant by name, and whether all values of each are numbers, as far as problems of typical size
/// tell.
const std::map<std::string, bool>& known_params(const Variant& variant) {
    static std::map<std::string, std::map<std::string, bool>, std::less<>> known;
    const auto [at, is_new] = known.try_emplace(std::string(variant.id));
    if (!is_new) return at->second;
    static const Device cpu = typical_device(Backend::cpu);
    static const Device cuda = typical_device(Backend::cuda);
    const Device& device = variant.backend == Backend::cpu ? cpu : cuda;
    const auto take = [&params = at->second](const Params& of_config) {
        for (const auto& [name, value] : of_config.values()) {
            const auto found = params.try_emplace(name, true).first;
            found->second = found->second && is_whole_number(value);
        }
    };
    Problem problem;
    problem.op = variant.op;
    problem.k = 64;
    take(variant.default_params(typical_query(problem, device)));
    // Of a composition the parts, and so the params, depend on what a problem has.
    for (const Problem& p : legal_problems(std::array{variant.op}, kWidths, kHeads)) {
        const Query query = typical_query(p, device);
        if (p.direction != Direction::forward || !takes(variant, query)) continue;
        for (const Params& params : variant.space(query)) take(params);
    }
    return at->second;
}

std::string spelled(const std::string& id) {
    std::vector<std::string> known;
    for (const Variant& v : registry().variants()) known.emplace_back(v.id);
    return did_you_mean(id, known);
}

}  // namespace

bool has_param(const Variant& variant, const std::string& name) {
    return known_params(variant).contains(name);
}

std::optional<std::string> foreign_params(const Config& config, std::int32_t version) {
    const Variant* variant = registry().find(config.variant);
    if (!variant || variant->version != version) return std::nullopt;
    const auto& known = known_params(*variant);
    for (const auto& [name, value] : config.params.values()) {
        const auto found = known.find(name);
        if (found == known.end()) return fmt::format("{} has no param '{}'", variant->id, name);
        if (found->second && !is_whole_number(value)) {
            return fmt::format("the param '{}' of {} is a number, not '{}'", name, variant->id, value);
        }
    }
    return std::nullopt;
}

std::optional<std::string> unknown_name(const Erratum& erratum) {
    std::vector<const Variant*> named;
    for (const Variant& v : registry().variants()) {
        if (fits(v, erratum)) named.push_back(&v);
    }
    if (named.empty()) {
        const bool known = erratum.variant.empty() || registry().find(erratum.variant);
        return known
                   ? std::string("no variant of this build is of that id, op and backend together")
                   : fmt::format("no variant of this build is called {}{}", erratum.variant, spelled(erratum.variant));
    }
    for (const auto& [name, value] : erratum.params) {
        const auto has = [&name = name](const Variant* v) { return has_param(*v, name); };
        if (std::none_of(named.begin(), named.end(), has)) {
            return fmt::format("no variant of this build that it names has a param '{}'", name);
        }
    }
    return std::nullopt;
}

bool may_be_of_cuda(const Erratum& erratum) {
    return !built_with_cuda() && erratum.backend != Backend::cpu && !registry().find(erratum.variant);
}

}  // namespace gnntune::tools

#include "tools/unknown_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/registry/typical.hpp"
#include "tools/program.hpp"
#include "tools/suggest.hpp"
#include "tools/typical.hpp"

namespace gnntune::tools {
namespace {

bool fits(const Variant& v, const Erratum& e) {
    return (e.variant.empty() || e.variant == v.id) && (!e.op || *e.op == v.op) &&
           (!e.backend || *e.backend == v.backend);
}

std::string spelled(const std::string& id) {
    std::vector<std::string> known;
    for (const Variant& v : registry().variants()) known.emplace_back(v.id);
    return did_you_mean(id, known);
}

}  // namespace

bool has_param(const Variant& variant, const std::string& name) {
    static const Device cpu = typical_device(Backend::cpu);
    static const Device cuda = typical_device(Backend::cuda);
    Problem problem;
    problem.op = variant.op;
    problem.k = 64;
    const Query query = typical_query(problem, variant.backend == Backend::cpu ? cpu : cuda);
    if (variant.default_params(query).find(name)) return true;
    if (!variant.applicable(query)) return false;
    const auto space = variant.space(query);
    return std::any_of(space.begin(), space.end(), [&name](const Params& p) { return p.find(name) != nullptr; });
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
    return GNNTUNE_WITH_CUDA == 0 && erratum.backend != Backend::cpu && !registry().find(erratum.variant);
}

}  // namespace gnntune::tools

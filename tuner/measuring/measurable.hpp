// Which configs of a problem may be measured on a graph: asked by `gnntune tune` and by tune_on_miss alike.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/registry/registry.hpp"

namespace gnntune::tuner {

struct Measurable {
    std::vector<Config> configs;  ///< in the order of the registry
    /// Variants that cannot do the problem, and those of which a config has a part that cannot run here.
    std::vector<std::pair<const Variant*, std::string>> refusals;
    std::size_t held_back = 0;           ///< configs that errata keep from running, parts of compositions among them
    std::set<std::string> held_back_by;  ///< the conditions of these errata
};

/// Of the variants of the op and backend those that are `wanted`, with the params that `offered` names; without it all
/// that their records name.
Measurable measurable_configs(const Registry& registry, const Query& query,
                              const std::function<bool(const Variant&)>& wanted,
                              const std::function<std::vector<Params>(const Variant&)>& offered = {});

}  // namespace gnntune::tuner

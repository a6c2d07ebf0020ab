// Everything that could be measured for a problem. Of tuner/tune*.cpp only.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tuner/tune.hpp"

namespace gnntune::tuner {

/// Everything that could be measured for a problem.
struct Tuner::Space {
    std::vector<Contender> contenders;  ///< the default first, then baselines, then the rest in registry order
    std::size_t first = 0;              ///< so many of them a search has measured in any case
    std::vector<std::pair<const Variant*, std::string>> refusals;
    double estimate_us = 0;  ///< of one call of each
    /// Places of those that were fast in an environment much like this one, best first, the default before them.
    std::vector<std::size_t> recalled;
    std::size_t errata = 0;  ///< configs left out because of them
    std::string no_default;  ///< why no exact variant can do the problem; empty if one can
};

}  // namespace gnntune::tuner

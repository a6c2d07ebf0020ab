// A guided tuning on times that were recorded before: how good it is, without a device.
#pragma once

#include <optional>
#include <string>

#include "tuner/measuring/guide.hpp"
#include "tuner/training.hpp"

namespace gnntune::tuner {

struct Replay {
    std::string chosen;        ///< the fastest candidate among those measured; empty: none was
    std::size_t measured = 0;  ///< configs
    double time_share = 0;     ///< sum of their times over that of all configs that could be chosen
};

/// What runs where nothing is known: the registry's default, of other classes than fp32 their variant of lowest rank.
std::optional<Config> default_of(const TrainingProblem& problem, const Registry& registry);

/// What a search finds that is told the times of `problem`: among the configs of its class. The default comes first.
/// Building counts nothing.
Replay replay(const TrainingProblem& problem, const Registry& registry, const model::Model* model,
              const SearchOptions& options = {});

}  // namespace gnntune::tuner

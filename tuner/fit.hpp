// Fits a cost model to measurements.
#pragma once

#include <set>
#include <string>

#include "core/model/model.hpp"
#include "tuner/boost_options.hpp"
#include "tuner/training.hpp"

namespace gnntune::tuner {

/// A variant is near if this much of its times is near the fastest: the mean over all problems of f^-focus, where its
/// fastest config takes f times as long as the fastest of all, and 0 where it has none.
inline constexpr double kNear = 0.05;
/// One that is not has one forest of a quarter of the trees, each of which adds twice as much: that it is slow is soon said.
inline constexpr int kFarTrees = 4;
inline constexpr float kFarRate = 2;

/// What many problems say takes more trees: one for so many problems that teach the model.
inline constexpr std::size_t kProblemsPerTree = 9;

struct FitOptions {
    BoostOptions trees;    ///< the least, of a forest of few problems
    int most_trees = 400;  ///< of a forest of many; at or below trees.trees: every forest has trees.trees
    int members = 2;       ///< forests that are averaged, of variants that are near
    double worst = 1.5;    ///< natural logarithm of a slowdown beyond which all are equally bad
    double focus = 4;      ///< a config slower by the factor f counts f^-focus: what decides is who is fastest
    double least = 0.2;    ///< what a variant's fastest config of a problem counts, however slow it is there
    int folds = 5;         ///< of graphs, for the spreads; below 2: spreads stay 0
    std::uint64_t seed = 1;
    std::set<std::string> without;  ///< names of features that the trees do not see (core/model/model_features.hpp)
};

/// Trees of a near variant's forest where so many problems teach the model. A correction's are its options'.
int trees_of(const FitOptions& options, std::size_t problems);

/// A model of the problems' op and backend, and of those kinds that a tenth of the graphs or more has. Problems of one
/// graph stay together in every split. Deterministic for a seed. Throws ErrorKind::invalid_argument if there are no problems, or problems of several ops or backends.
model::Model fit(const std::vector<TrainingProblem>& problems, const Registry& registry,
                 const FitOptions& options = {});

/// Few and shallow trees: a dozen problems say how far another device departs from what is known, and no more.
FitOptions correction_options();

/// A model that was fitted to much, of another device, with what these few problems say beyond it: trees that say what is
/// left of its errors stand behind its own, so that what the problems do not touch stays as it was. A variant that it does
/// not know in the registry's version is fitted to them alone. Splits and errors as fit() has them.
model::Model refit(const model::Model& known, const std::vector<TrainingProblem>& problems, const Registry& registry,
                   const FitOptions& options = correction_options());

}  // namespace gnntune::tuner

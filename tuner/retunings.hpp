// Whether tuning again chooses the same: the choices that several complete runs over the same problems lead to.
#pragma once

#include <string>
#include <vector>

#include "profiles/store/store.hpp"
#include "tuner/training.hpp"

namespace gnntune::tuner {

/// What the choices of successive runs do under one way of deciding.
struct Retunings {
    std::string rule;    ///< "alone": every run decides without the others; "kept": it knows what was chosen before
    int problems = 0;    ///< of which every run measured the same configs, on the same environment
    int incomplete = 0;  ///< the others of the first run
    int retunings = 0;   ///< problems times the runs after the first
    int changes = 0;     ///< retunings whose choice is not the one before
    int changed_problems = 0;
    double mean_regret = 0;  ///< of the changes; see below
    double worst_regret = 0;
    double mean_loss = 0;  ///< of all choices: their time over the fastest's, both over all runs, less 1
    double worst_loss = 0;
};

/// By the choosing rule (core/dispatch/choose.hpp), with its default constraints: "alone", then "kept". The regret of a
/// change is what the slower of the two configs takes over the faster, less 1, where a config's time over all runs is
/// the median of their medians. `runs` are in the order in which they were taken; at least two.
std::vector<Retunings> retunings(const std::vector<const store::Store*>& runs, const Registry& registry,
                                 const TrainingFilter& filter);

}  // namespace gnntune::tuner

// What fit, predict and eval have in common: which measurements they mean.
#pragma once

#include <string>
#include <vector>

#include "profiles/store.hpp"
#include "tools/options.hpp"
#include "tuner/fit.hpp"

namespace gnntune::tools {

/// --op, --policy, --clock and the options of the trees, in a group of `options`.
void add_training_options(Options& options, const char* default_ops);
/// --trees, --depth, --rate, --members.
tuner::FitOptions fit_options(const Parsed& parsed);

/// The problems of `op` on GPUs (on CPUs with --device cpu), by the clock that was asked for, else the one with most
/// problems. Empty if there are none.
struct Measured {
    tuner::TrainingFilter filter;
    std::vector<tuner::TrainingProblem> problems;
};
Measured measured(const store::Store& store, const Parsed& parsed, Op op);
/// The same problems of another database.
std::vector<tuner::TrainingProblem> measured_there(const store::Store& store, const tuner::TrainingFilter& filter);

/// Names of the graphs, in order, each once.
std::vector<std::string> graph_names(const std::vector<tuner::TrainingProblem>& problems);

}  // namespace gnntune::tools

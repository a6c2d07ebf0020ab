// What fit, predict and eval have in common: which measurements they mean.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/model/model.hpp"
#include "profiles/store/store.hpp"
#include "tools/common/options.hpp"
#include "tools/common/output.hpp"
#include "tuner/fit.hpp"

namespace gnntune::tools {

/// --op, --policy, --clock, --complete and the options of the trees, in groups of `options`.
void add_training_options(Options& options, const char* default_ops);
/// --trees, --depth, --rate, --members, --without.
tuner::FitOptions fit_options(const Parsed& parsed);
/// Throws ErrorKind::invalid_argument if one of `names` is no feature of the problems or of their configs.
void check_features(const std::set<std::string>& names, const std::vector<tuner::TrainingProblem>& problems);

/// The problems of `op` on one backend, by the clock that was asked for, else the one with most problems. Empty if
/// there are none.
struct Measured {
    tuner::TrainingFilter filter;
    std::vector<tuner::TrainingProblem> problems;
    tuner::LeftOut left_out;
};
/// Warns of graphs whose features the store does not have, and of problems that `complete` passes over. `precision` is
/// the class of the candidates.
Measured measured(const store::Store& store, const Parsed& parsed, Op op, Output& out,
                  Precision precision = Precision::fp32, bool complete = false);
/// The same problems of another database.
std::vector<tuner::TrainingProblem> measured_there(const store::Store& store, const tuner::TrainingFilter& filter,
                                                   tuner::LeftOut* left_out = nullptr);
/// Says how many problems --complete passed over, `kept` others being left, and for want of which variants.
void note_incomplete(Op op, const tuner::LeftOut& left_out, std::size_t kept, Output& out);

/// --device cpu or cuda; without, CUDA if the store knows a GPU, else the CPU. No device has to be there.
Backend backend_of(const store::Store& store, const Parsed& parsed);
/// --policy: hot or cold.
Policy policy_of(const Parsed& parsed);
/// --clock, or nothing.
std::optional<Clock> clock_of(const Parsed& parsed);

/// Why fit and eval found nothing of the ops in `store`, which lies in `file`.
std::string nothing_measured(const store::Store& store, const std::string& file, const Parsed& parsed);

/// Why --complete left nothing of the op in `file`.
std::string nothing_complete(const std::string& file, Op op);

/// Exact variants that can do the problem and of which the model knows nothing, in the registry's order.
std::vector<std::string> unknown_to(const model::Model& model, const Query& query);

/// Names of the graphs, in order, each once.
std::vector<std::string> graph_names(const std::vector<tuner::TrainingProblem>& problems);

}  // namespace gnntune::tools

// How good choices are: decided on one set of measurements, scored on another.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/fit.hpp"

namespace gnntune::tuner {

struct EvaluateOptions {
    FitOptions fit;
    int folds = 0;                      ///< parts that the graphs are split into; 0: one for each graph
    std::vector<std::string> held_out;  ///< names of graphs: fit on the others, score these. Empty: every graph in turn
    /// Family of each graph, by name; a graph that is not there is a family of its own. Where any is given, a family at
    /// a time is scored, and nothing is learnt from it.
    std::map<std::string, std::string> families;
    std::vector<double>
        least_gains;  ///< a strategy more for each: model_or_default with this in the place of kLeastGain
    /// The model that was learnt is corrected (refit()) by so many graphs of those that decide, drawn by the seed and none
    /// that is scored: what a device of which little is known gains. Without, it chooses as it was learnt.
    std::optional<int> few;
    const model::Model* known =
        nullptr;           ///< what was learnt already: nothing is fitted to `learn`, but corrected by few
    bool models = true;    ///< false: nothing is fitted, and strategies that need a model have no choice
    bool searches = true;  ///< whether to replay searches too, which takes most of the time
    std::function<void(std::size_t done, std::size_t total)> progress;  ///< after each fold, one at a time; optional
};

/// A problem of the scoring run, with what each strategy's choice costs there over the fastest candidate.
struct EvaluatedCase {
    std::string graph;
    std::string fingerprint;  ///< of the graph
    Problem problem;
    double best_us = 0;
    std::string best;
    double best_library_us =
        0;  ///< of the fastest library's routine of the class, also one that cannot be captured; 0: none
    std::vector<double> efficiency;  ///< best over chosen, in (0, 1]; by strategy; 0: the strategy has no choice here
    std::vector<std::string> chosen;
    double expected_us = 0;          ///< what the model says of its first choice; 0: it has none
    std::vector<double> measured;    ///< configs that the strategy measures
    std::vector<double> time_share;  ///< that they take of the time of all; guided strategies only, 0 of the others
};

struct Evaluation {
    std::vector<std::string> strategies;
    std::vector<EvaluatedCase> cases;
    int common = 0;  ///< problems that both runs have, scored or not
};

/// One strategy's efficiencies, of the cases where it has a choice.
struct StrategyScore {
    std::string name;
    int cases = 0;
    double geomean = 0;
    double worst = 0;
    double share_95 = 0;          ///< of the cases with an efficiency of 0.95 or better
    double top_1 = 0;             ///< of the cases where the choice is the fastest
    double measured = 0;          ///< configs, mean
    double time_share = 0;        ///< mean; guided strategies only
    double lost = 0;              ///< of the cases with a default: whose choice costs over kLostMargin more than it
    int with_library = 0;         ///< cases in which a library's routine was timed
    int behind_library = 0;       ///< of those: whose choice is slower than its fastest, by however little
    double worst_of_library = 0;  ///< least time of the library's fastest over the choice's; 0 where there is none
};

/// Leaving the default for something slower by no more than this is no loss: two runs differ by as much.
inline constexpr double kLostMargin = 0.02;

/// Strategies: model (its first), model_2 to model_5 (the fastest in `decide` of its first so many), model_or_default
/// (what a dispatcher runs where nothing was measured: core/dispatch/advise.hpp), guided (what a search with the model
/// finds in `decide`), guided_3 and guided_10 (of so many configs at most, the default among them), unguided (what a
/// search without a model finds), oracle (the fastest in `decide`: the noise floor), default (the registry's), static
/// (the config that is best over the training graphs), library_default, library_best, random (the geometric mean over
/// all candidates), for spmm papers (GAR above a mean degree of 8, else GAS; of class tf32 TC-GNN with its warps), and
/// bucket (what model_or_default chose for an earlier graph of the same core/dispatch/bucket.hpp; the first graph of a
/// bucket has none). Choices are made among candidates that both runs have, on the environment that decided or the only
/// one with its device's name. Those of EvaluateOptions::least_gains, "model_or_default 5 %", come last. A model is fitted on `learn` without the graphs that it is asked about.
Evaluation evaluate(const std::vector<TrainingProblem>& learn, const std::vector<TrainingProblem>& decide,
                    const std::vector<TrainingProblem>& score, const Registry& registry,
                    const EvaluateOptions& options = {});

std::vector<StrategyScore> scores_of(const Evaluation& evaluation);
/// Of those cases alone.
std::vector<StrategyScore> scores_of(const Evaluation& evaluation,
                                     const std::function<bool(const EvaluatedCase&)>& counts);

}  // namespace gnntune::tuner

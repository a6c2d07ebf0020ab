#include "tuner/retunings.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/dispatch/choose.hpp"
#include "tuner/measuring/statistics.hpp"
#include "tuner/tune.hpp"

namespace gnntune::tuner {
namespace {

/// What a run measured of a problem, and what of it may be chosen.
struct Run {
    std::set<std::string> configs;  ///< with any row
    std::vector<Candidate> candidates;
};

Run run_of(const store::Store& store, const Registry& registry, const TrainingProblem& problem,
           const TrainingFilter& filter) {
    const auto fingerprint = Fingerprint::parse(problem.fingerprint);
    const auto graph = fingerprint ? store.find_graph_id(*fingerprint) : std::nullopt;
    const auto environment = store.find_environment_id(problem.device.environment);
    const auto id = store.find_problem_id(problem.problem);
    Run run;
    if (!graph || !environment || !id) return run;
    const auto rows = store.measurements({*graph, *environment, *id}, {filter.policy, filter.clock, {}});
    for (const Measurement& m : rows) run.configs.insert(m.config.text());
    run.candidates = candidates_of(registry, problem.query(), rows);
    const Decision decision = choose(run.candidates, {});
    for (auto rejected = decision.rejected.rbegin(); rejected != decision.rejected.rend(); ++rejected) {
        run.candidates.erase(run.candidates.begin() + static_cast<std::ptrdiff_t>(rejected->candidate));
    }
    return run;
}

using Runs = std::vector<std::vector<Candidate>>;

std::map<std::string, double> times_over(const Runs& runs) {
    std::map<std::string, std::vector<double>> all;
    for (const auto& run : runs) {
        for (const Candidate& c : run) all[c.config.text()].push_back(c.median_us);
    }
    std::map<std::string, double> out;
    for (auto& [config, times] : all) out[config] = summarise(std::move(times)).median;
    return out;
}

void judge(Retunings& result, Runs runs, bool keeps) {
    const auto times = times_over(runs);
    const double best = std::min_element(times.begin(), times.end(), [](const auto& a, const auto& b) {
                            return a.second < b.second;
                        })->second;
    std::string before;
    int changes = 0;
    for (auto& candidates : runs) {
        for (Candidate& c : candidates) c.incumbent = keeps && c.config.text() == before;
        const std::string now = candidates[*choose(candidates, {}).winner].config.text();
        const double loss = times.at(now) / best - 1;
        result.mean_loss += loss;
        result.worst_loss = std::max(result.worst_loss, loss);
        if (!before.empty() && now != before) {
            const auto [fast, slow] = std::minmax(times.at(before), times.at(now));
            result.mean_regret += slow / fast - 1;
            result.worst_regret = std::max(result.worst_regret, slow / fast - 1);
            ++changes;
        }
        before = now;
    }
    ++result.problems;
    result.retunings += static_cast<int>(runs.size()) - 1;
    result.changes += changes;
    result.changed_problems += changes > 0 ? 1 : 0;
}

}  // namespace

std::vector<Retunings> retunings(const std::vector<const store::Store*>& runs, const Registry& registry,
                                 const TrainingFilter& filter) {
    std::vector<Retunings> out(2);
    out[0].rule = "alone";
    out[1].rule = "kept";
    for (const TrainingProblem& problem : training_problems(*runs.front(), registry, filter)) {
        Runs measured;
        std::set<std::string> configs;
        for (const store::Store* store : runs) {
            Run run = run_of(*store, registry, problem, filter);
            if (measured.empty()) configs = run.configs;
            if (run.configs == configs && !run.candidates.empty()) measured.push_back(std::move(run.candidates));
        }
        if (measured.size() < runs.size()) {
            for (Retunings& r : out) ++r.incomplete;
            continue;
        }
        judge(out[0], measured, false);
        judge(out[1], std::move(measured), true);
    }
    for (Retunings& r : out) {
        if (r.changes > 0) r.mean_regret /= r.changes;
        if (r.problems > 0) r.mean_loss /= r.problems + r.retunings;
    }
    return out;
}

}  // namespace gnntune::tuner

#include "tuner/retunings.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "core/dispatch/choose.hpp"
#include "tuner/statistics.hpp"
#include "tuner/tune.hpp"

namespace gnntune::tuner {
namespace {

/// What a run may choose from; nothing if it did not measure the problem.
std::optional<std::vector<Candidate>> candidates_in(const store::Store& run, const Registry& registry,
                                                    const TrainingProblem& problem, const TrainingFilter& filter) {
    const auto fingerprint = Fingerprint::parse(problem.fingerprint);
    const auto graph = fingerprint ? run.find_graph_id(*fingerprint) : std::nullopt;
    const auto environment = run.find_environment_id(problem.device.environment);
    const auto id = run.find_problem_id(problem.problem);
    if (!graph || !environment || !id) return std::nullopt;
    const auto rows = run.measurements({*graph, *environment, *id}, {filter.policy, filter.clock, {}});
    auto candidates = candidates_of(registry, problem.query(), rows);
    if (!choose(candidates, {}).winner) return std::nullopt;
    return candidates;
}

using Runs = std::vector<std::vector<Candidate>>;

std::map<std::string, double> times_over(const Runs& runs) {
    std::map<std::string, std::vector<double>> all;
    for (const auto& run : runs) {
        for (const Candidate& c : run) {
            if (!refusal(c, {})) all[c.config.text()].push_back(c.median_us);
        }
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
        for (const store::Store* run : runs) {
            auto candidates = candidates_in(*run, registry, problem, filter);
            if (candidates) measured.push_back(std::move(*candidates));
        }
        if (measured.size() < runs.size()) continue;
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

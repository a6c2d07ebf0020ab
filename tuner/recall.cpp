#include "tuner/recall.hpp"

#include <algorithm>
#include <string>

#include "profiles/snapshot/layers.hpp"
#include "profiles/snapshot/snapshot.hpp"
#include "tuner/tune.hpp"

namespace gnntune::tuner {
namespace {

std::vector<Config> best_first(std::vector<Candidate> candidates) {
    std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
        return std::pair(!a.incumbent, a.median_us) < std::pair(!b.incumbent, b.median_us);
    });
    double fastest_us = candidates.front().median_us;
    for (const Candidate& c : candidates) fastest_us = std::min(fastest_us, c.median_us);
    std::vector<Config> out;
    for (const Candidate& c : candidates) {
        const bool is_near = c.incumbent || c.median_us <= fastest_us * (1 + kRecallMargin);
        if (is_near && out.size() < kMostRecalled) out.push_back(c.config);
    }
    return out;
}

std::vector<Config> recalled_from(const store::Store& store, bool shipped, const Registry& registry, const Query& query,
                                  const Fingerprint& graph, Policy policy, Clock clock) {
    const auto graph_id = store.find_graph_id(graph);
    const auto problem_id = store.find_problem_id(query.problem);
    if (!graph_id || !problem_id) return {};
    std::string newest;
    std::vector<Candidate> there;
    for (const store::EnvironmentRow& e : store.environments()) {
        const auto match = store::match(e.environment, query.device->environment);
        if (match == store::EnvironmentMatch::none || (match == store::EnvironmentMatch::exact && !shipped)) continue;
        const store::Key key{*graph_id, e.id, *problem_id};
        const auto rows = store.measurements(key, {policy, clock, {}});
        if (rows.empty() || rows.back().taken_at <= newest) continue;
        auto candidates = candidates_of(registry, query, rows, store.choice(key, policy, clock));
        if (candidates.empty()) continue;
        newest = rows.back().taken_at;
        there = std::move(candidates);
    }
    return there.empty() ? std::vector<Config>() : best_first(std::move(there));
}

}  // namespace

std::vector<Config> recalled(const store::Store& store, const Registry& registry, const Query& query,
                             const Fingerprint& graph, Policy policy, Clock clock) {
    auto found = recalled_from(store, false, registry, query, graph, policy, clock);
    if (!found.empty()) return found;
    for (const store::Store& layer : store::open_layers(store.path(), store::WhenMissing::nothing)) {
        if (layer.path() == store.path()) continue;
        found = recalled_from(layer, true, registry, query, graph, policy, clock);
        if (!found.empty()) return found;
    }
    return {};
}

}  // namespace gnntune::tuner

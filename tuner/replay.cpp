#include "tuner/replay.hpp"

#include "core/common/error.hpp"

namespace gnntune::tuner {

Replay replay(const TrainingProblem& problem, const Registry& registry, const model::Model* model,
              const SearchOptions& options) {
    const Query query = problem.query();
    std::vector<const TimedConfig*> timed;
    std::vector<Config> configs;
    double all_us = 0;
    for (const TimedConfig& t : problem.configs) {
        if (!may_be_chosen(*registry.find(t.config.variant), t.config.params, {})) continue;
        timed.push_back(&t);
        configs.push_back(t.config);
        all_us += t.us;
    }
    auto known = search_configs(registry, query, configs, {model, problem.constants, {}, {}});
    try {
        const Config standard = registry.default_config(query, {});
        for (SearchConfig& c : known) c.first = c.config == standard;
    } catch (const Error&) {  // the problem has none
    }
    Replay out;
    Search search(std::move(known), options);
    const TimedConfig* best = nullptr;
    for (auto group = search.next(); !group.empty(); group = search.next()) {
        for (const std::size_t i : group) {
            search.tell(i, timed[i]->us);
            ++out.measured;
            out.time_share += timed[i]->us / all_us;
            if (timed[i]->candidate && (!best || timed[i]->us < best->us)) best = timed[i];
        }
    }
    if (best) out.chosen = best->config.text();
    return out;
}

}  // namespace gnntune::tuner

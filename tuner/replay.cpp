#include "tuner/replay.hpp"

#include "core/common/error.hpp"

namespace gnntune::tuner {

std::optional<Config> default_of(const TrainingProblem& problem, const Registry& registry) {
    const Query query = problem.query();
    if (problem.precision == Precision::fp32) {
        try {
            return registry.default_config(query, {});
        } catch (const Error&) {  // the problem has none
            return std::nullopt;
        }
    }
    const Variant* first = nullptr;
    for (const Variant& v : registry.variants()) {
        if (v.precision != problem.precision || v.approximate || !registry.applicable(v, query)) continue;
        if (!first || v.default_rank < first->default_rank) first = &v;
    }
    if (!first) return std::nullopt;
    return Config{first->id, first->default_params(query)};
}

Replay replay(const TrainingProblem& problem, const Registry& registry, const model::Model* model,
              const SearchOptions& options) {
    const Query query = problem.query();
    Constraints limits;
    if (problem.precision != Precision::fp32) limits.max_error = 1;
    std::vector<const TimedConfig*> timed;
    std::vector<Config> configs;
    double all_us = 0;
    for (const TimedConfig& t : problem.configs) {
        const Variant& v = *registry.find(t.config.variant);
        if (v.precision != problem.precision || !may_be_chosen(v, t.config.params, limits)) continue;
        timed.push_back(&t);
        configs.push_back(t.config);
        all_us += t.us;
    }
    auto known = search_configs(registry, query, configs, {model, problem.constants, limits, {}});
    if (const auto standard = default_of(problem, registry)) {
        for (SearchConfig& c : known) c.first = c.config == *standard;
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

#include "core/dispatch/advise.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "core/common/error.hpp"
#include "core/registry/errata.hpp"

namespace gnntune {
namespace {

bool exact(const Variant& v) {
    return !v.approximate && v.precision == Precision::fp32;
}

std::vector<Candidate> every_config(const Registry& registry, const Query& query) {
    // On the smallest graph: whatever else limits a config, it is never that a graph is too small, and the list shall
    // not depend on the graph that happens to come first.
    Query smallest = query;
    smallest.n_rows = smallest.n_cols = smallest.m = 1;
    smallest.features = nullptr;
    std::vector<Candidate> out;
    for (const Variant& v : registry.variants()) {
        if (!exact(v) || !registry.applicable(v, smallest)) continue;
        for (Params& params : v.space(smallest)) out.push_back(unmeasured(v, std::move(params)));
    }
    return out;
}

std::vector<Candidate> exact_ones(const Registry& registry, const std::vector<Config>& configs) {
    std::vector<Candidate> out;
    for (const Config& config : configs) {
        const Variant* v = registry.find(config.variant);
        if (v && exact(*v)) out.push_back(unmeasured(*v, config.params));
    }
    return out;
}

std::vector<Config> configs_of(const std::vector<Candidate>& candidates) {
    std::vector<Config> out;
    for (const Candidate& c : candidates) out.push_back(c.config);
    return out;
}

std::string percent(double share) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g %%", 100 * share);
    return text;
}

std::string explain(const std::optional<std::string>& unknown_kind, const Advice& advice, std::size_t legal,
                    const std::optional<double>& gain, double least_gain) {
    if (unknown_kind) return "the model has not learnt from " + *unknown_kind + "; tune it instead (gnntune tune)";
    if (advice.asked == 0) return "the model knows no variant of this build that can do this problem, in its version";
    if (legal == 0) return "every config that the model knows breaks a constraint";
    const std::string all = std::to_string(legal) + (legal == 1 ? " config" : " configs");
    if (!advice.standard) return "expected cheapest of " + all + "; there is no default under these constraints";
    const std::string standard = advice.standard->text();
    if (!gain) return "the model does not know the default " + standard + ", so what another would gain is unknown";
    if (advice.better.empty()) {
        return "the model expects no config to gain " + percent(least_gain) + " over the default " + standard +
               " (the best of " + all + ": " + percent(*gain) + ")";
    }
    return "expected cheapest of " + all + "; the default " + standard + " is expected to take " + percent(*gain) +
           " more";
}

}  // namespace

Prospects::Prospects(const model::Model& model, const Registry& registry, const Query& query)
    : Prospects(model, registry, every_config(registry, query)) {}

Prospects::Prospects(const model::Model& model, const Registry& registry, const std::vector<Config>& configs)
    : Prospects(model, registry, exact_ones(registry, configs)) {}

Prospects::Prospects(const model::Model& model, const Registry& registry, std::vector<Candidate> candidates)
    : candidates_(std::move(candidates)), coded_(model, registry, configs_of(candidates_)) {}

Config exact_default(const Registry& registry, const Query& query, const Constraints& constraints) {
    Constraints exact = constraints;
    exact.max_error = 0;
    return registry.default_config(query, exact);
}

Advice advise(const model::Model& model, const Prospects& prospects, const Registry& registry, const Query& query,
              const DeviceConstants& constants, const Constraints& constraints, const BuildCost& build,
              double least_gain) {
    Advice advice;
    try {
        advice.standard = exact_default(registry, query, constraints);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported) throw;
    }
    const double calls = constraints.expected_calls > 0 ? constraints.expected_calls : 1.0;
    const auto cost = [&](const Expected& e) { return e.us + e.build_us / calls; };
    const auto& candidates = prospects.candidates();
    const auto predictions = model::predict(model, prospects.coded(), query, constants);
    for (const model::Prediction& p : predictions) {
        const Candidate& c = candidates[p.config];
        const bool standard = advice.standard && c.config == *advice.standard;
        if (!standard && p.variant->searched && !p.variant->searched(query, c.config.params)) continue;
        ++advice.asked;
        const Erratum* erratum = erratum_of(*p.variant, c.config.params, query);
        if (auto reason = erratum ? std::optional("erratum: " + erratum->reason) : refusal(c, constraints)) {
            advice.rejected.push_back({p.config, std::move(*reason)});
            continue;
        }
        const Expected e{p.config, std::exp(p.log_us), std::hypot(p.sigma, double{model.level_spread}),
                         build ? build(c.config) : 0.0};
        if (standard) advice.expected_standard = e;
        advice.better.push_back(e);
    }
    std::stable_sort(advice.better.begin(), advice.better.end(),
                     [&](const Expected& a, const Expected& b) { return cost(a) < cost(b); });
    const std::size_t legal = advice.better.size();
    std::optional<double> gain;  // of the cheapest over the default
    if (advice.expected_standard) {
        const double standard = cost(*advice.expected_standard);
        gain = standard / cost(advice.better.front()) - 1;
        std::erase_if(advice.better, [&](const Expected& e) { return standard <= cost(e) * (1 + least_gain); });
    } else if (advice.standard) {
        advice.better.clear();
    }
    advice.reason = explain(model.unknown_kind(query.problem), advice, legal, gain, least_gain);
    return advice;
}

}  // namespace gnntune

#include "tuner/training.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/dispatch/candidates.hpp"
#include "core/registry/errata.hpp"
#include "profiles/fields/features_json.hpp"
#include "profiles/store/device_constants.hpp"

namespace gnntune::tuner {
namespace {

// Whether a search would try it. Of a composition it tries parts that are not of its own space, too.
class Searched {
public:
    explicit Searched(const Query& query) : query_(query) {}
    bool operator()(const Variant& v, const Params& params) {
        if (v.parts) return true;
        const auto [at, fresh] = spaces_.try_emplace(&v);
        if (fresh) at->second = v.space(query_);
        return std::find(at->second.begin(), at->second.end(), params) != at->second.end();
    }

private:
    const Query& query_;
    std::map<const Variant*, std::vector<Params>> spaces_;
};

// The newest row of each config, as far as it stands; rows in the order they were taken. A composition whose part was
// another one than today's default is what it was, and nobody chooses it by that row.
std::vector<TimedConfig> timed(const Registry& registry, const Query& query, const std::vector<Measurement>& rows,
                               Precision precision) {
    std::map<std::string, TimedConfig> newest;
    Searched searched(query);
    for (const Measurement& m : rows) {
        const Config config = as_measured(registry, query, m.config, m.parts);
        const std::string text = config.text();
        if (const Variant* v = registry.find(m.config.variant); !v || v->version != m.variant_version) continue;
        newest.erase(text);
        const bool abandoned = m.status == MeasurementStatus::abandoned;
        if (m.status != MeasurementStatus::ok && !abandoned) continue;
        if (!std::isfinite(m.median_us) || m.median_us <= 0 || !stands(registry, query, m)) continue;
        const Variant& v = *registry.find(m.config.variant);
        const bool judged = !v.approximate && v.precision == precision && config == m.config &&
                            may_be_captured(registry, m.config, m.parts) && searched(v, m.config.params);
        newest.emplace(text, TimedConfig{config, m.median_us, judged, abandoned});
    }
    std::vector<TimedConfig> out;
    for (auto& [text, c] : newest) out.push_back(std::move(c));
    return out;
}

// Variants of the class with a config in their own space that nobody tried in today's version, or whose time other
// programs took: how fast it is, is not known. One that was given up early, refused, wrong or failed is known as well
// as it can be. Parts that a tuning exchanged in a composition are not of its space.
std::vector<const Variant*> untried(const Registry& registry, const Query& query, const std::vector<Measurement>& rows,
                                    Precision precision) {
    std::set<std::string> tried;
    for (const Measurement& m : rows) {
        if (m.disturbed() || !stands(registry, query, m)) continue;
        tried.insert(as_measured(registry, query, m.config, m.parts).text());
    }
    std::vector<const Variant*> out;
    for (const Variant& v : registry.variants()) {
        if (v.approximate || v.precision != precision || !registry.applicable(v, query)) continue;
        const auto space = v.space(query);
        const bool lacks = std::any_of(space.begin(), space.end(), [&](const Params& params) {
            if (v.capturable && !v.capturable(params)) return false;
            return !erratum_of(v, params, query) && !tried.contains(Config{v.id, params}.text());
        });
        if (lacks) out.push_back(&v);
    }
    return out;
}

}  // namespace

Device device_of(const Environment& environment) {
    Device device;
    device.backend = environment.backend;
    device.multiprocessors = environment.multiprocessors;
    device.l2_bytes = environment.l2_bytes;
    device.environment = environment;
    const std::string& cc = environment.compute_capability;
    if (const auto dot = cc.find('.'); environment.backend == Backend::cuda && dot != std::string::npos) {
        device.compute_capability = 10 * std::atoi(cc.c_str()) + std::atoi(cc.c_str() + dot + 1);
    }
    set_usual_limits(device, device.compute_capability);  // rows do not say
    return device;
}

Query TrainingProblem::query() const {
    const bool reversed = problem.direction == Direction::reversed;
    const FeatureCounts& c = features->counts;
    return {problem, reversed ? c.n_cols : c.n_rows, reversed ? c.n_rows : c.n_cols, c.m, features.get(), &device};
}

std::vector<TrainingProblem> training_problems(const store::Store& store, const Registry& registry,
                                               const TrainingFilter& filter, LeftOut* left_out) {
    std::vector<TrainingProblem> out;
    const auto environments = store.environments();
    const auto problems = store.problems();
    std::map<std::int64_t, DeviceConstants> constants;
    for (const store::EnvironmentRow& e : environments) {
        constants.emplace(e.id, store::stored_device_constants(store, e.environment));
    }
    // Most problems of a database are of few of its graphs.
    const std::vector<store::Key> measured = store.measured(filter.policy, filter.clock);
    LeftOut passed_over;
    for (const store::GraphRow& g : store.graphs()) {
        auto features = store::features_from(g.record.features_json);
        if (!features) {
            ++passed_over.without_features;
            continue;
        }
        const auto shared = std::make_shared<const Features>(std::move(*features));
        for (const store::EnvironmentRow& e : environments) {
            if (e.environment.backend != filter.backend) continue;
            for (const store::ProblemRow& p : problems) {
                if (p.problem.op != filter.op) continue;
                const store::Key key{g.id, e.id, p.id};
                if (!std::binary_search(measured.begin(), measured.end(), key)) continue;
                const auto rows = store.measurements(key, {filter.policy, filter.clock, {}});
                if (rows.empty()) continue;  // of texts that nothing reads
                TrainingProblem t;
                t.graph = g.record.name;
                t.fingerprint = g.record.fingerprint.text();
                t.problem = p.problem;
                t.device = device_of(e.environment);
                t.constants = constants.at(e.id);
                t.features = shared;
                t.precision = filter.precision;
                t.configs = timed(registry, t.query(), rows, filter.precision);
                double best = 0;
                for (const TimedConfig& c : t.configs) {
                    if (c.candidate && !c.abandoned && (best == 0 || c.us < best)) best = c.us;
                }
                if (best == 0) continue;
                t.best_log_us = std::log(best);
                if (filter.complete) {
                    const auto lacking = untried(registry, t.query(), rows, filter.precision);
                    for (const Variant* v : lacking) ++passed_over.by_variant[v->id];
                    passed_over.incomplete += lacking.empty() ? 0 : 1;
                    if (!lacking.empty()) continue;
                }
                out.push_back(std::move(t));
            }
        }
    }
    if (left_out) *left_out = std::move(passed_over);
    return out;
}

}  // namespace gnntune::tuner

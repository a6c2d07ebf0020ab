#include "tuner/profile.hpp"

#include <algorithm>

#include "core/common/error.hpp"

namespace gnntune::tuner {

namespace {

/// The default config, unless it is `config` or no exact variant can do the problem.
std::vector<Config> standard_but(const Registry& registry, const Query& query, const Config& config) {
    try {
        Config standard = registry.default_config(query, {});
        if (!(standard == config)) return {std::move(standard)};
    } catch (const Error&) {
    }
    return {};
}

}  // namespace

std::optional<store::StoredMeasurement> Profiler::newest(const store::Key& key, const ProfileTask& task) const {
    std::optional<store::StoredMeasurement> found;
    for (auto& row : store_.stored_measurements(key, {task.policy, task.clock, {}})) {
        const Measurement& m = row.measurement;
        const bool current = m.variant_version == registry_.find(task.config.variant)->version;
        if (current && m.config == task.config) found = std::move(row);
    }
    return found;
}

store::StoredMeasurement Profiler::measured(GraphWorkload& graph, const GraphRecord& record, const ProfileTask& task,
                                            const store::Key& key, std::int64_t run) {
    const Query query = graph.graph().query(task.problem);
    const auto candidates = candidates_of(registry_, query, store_.measurements(key, {task.policy, task.clock, {}}));
    const bool counts =
        std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& c) { return c.config == task.config; });
    if (!counts) {
        TuneOptions options;
        options.problems = {task.problem};
        options.policies = {task.policy};
        options.clocks = {task.clock};
        options.seed = seed_;
        options.again = true;  // one that was given up early has a row
        // The default first, so that whoever chooses from these rows is not worse off than without them.
        if (candidates.empty()) options.configs = standard_but(registry_, query, task.config);
        options.configs.push_back(task.config);
        Tuner(registry_, device_, store_).tune(graph, record, options, run, {});
    }
    auto row = newest(key, task);
    if (!row || row->measurement.status != MeasurementStatus::ok) {
        const Measurement& m = row.value().measurement;
        const bool wrong = m.status == MeasurementStatus::wrong;
        throw Error(wrong ? ErrorKind::verification : ErrorKind::runtime,
                    m.config.text() + " on " + record.name + ": " + m.reason);
    }
    return std::move(*row);
}

std::optional<Counters> Profiler::count(GraphWorkload& graph, const ProfileTask& task) {
    if (why_not_) return std::nullopt;
    ProblemWorkload workload(graph, task.problem, seed_);
    const Plan plan(graph.graph(), task.problem, task.config, graph.stream());
    workload.run(plan);  // so that a failing kernel is not taken for a failing counter
    graph.synchronise();
    try {
        if (!reader_) reader_ = counter_reader(device_);
        return reader_->read([&] { workload.run(plan); }, graph.stream(), task.policy);
    } catch (const Error& e) {
        if (e.kind() != ErrorKind::no_device && e.kind() != ErrorKind::unsupported) throw;
        why_not_ = e;
        return std::nullopt;
    }
}

Measurement Profiler::profile(GraphWorkload& graph, const GraphRecord& record, const ProfileTask& task,
                              std::int64_t run) {
    const store::Key key{store_.graph_id(record), store_.environment_id(device_.environment),
                         store_.problem_id(task.problem)};
    store::StoredMeasurement row = measured(graph, record, task, key, run);
    if (const auto counters = count(graph, task)) {
        store_.put_counters(row.id, *counters);
        row.measurement.counters = counters;
    }
    return std::move(row.measurement);
}

}  // namespace gnntune::tuner

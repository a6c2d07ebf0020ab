#include "tuner/tune.hpp"

#include <algorithm>
#include <map>
#include <new>
#include <optional>
#include <set>

#include "core/common/error.hpp"
#include "profiles/layers.hpp"
#include "tuner/clocks.hpp"
#include "tuner/measuring/guide.hpp"
#include "tuner/tune_space.hpp"

namespace gnntune::tuner {
namespace {

constexpr double kOverheadPerConfigSeconds = 0.01;

// Calls of a config from its check to its last sample. Contenders go on to max_samples, others stop at min_samples: half
// of them each, as tunings of CPUs and GPUs came out. One untimed call goes before each burst, one is checked, one is the
// plan's first.
double calls_per_config(const MeasureOptions& measuring) {
    const int most = measuring.max_samples;
    const double samples = (std::min(measuring.min_samples, most) + most) / 2.0;
    return samples * (1.0 + 1.0 / measuring.burst) + 2;
}

bool searches(const TuneOptions& options) {
    return !options.exhaustive && options.configs.empty();
}

const model::Model* model_for(const TuneOptions& options, const TuneStep& step) {
    return options.model ? options.model(step.problem, step.policy, step.clock) : nullptr;
}

}  // namespace

TuneStep Tuner::step_of(GraphWorkload& graph, const Problem& problem, Policy policy, Clock clock, const Space& space,
                        const std::optional<store::Key>& key, const TuneOptions& options) const {
    TuneStep step{problem, policy, clock, space.contenders.size(), 0, space.errata, 0};
    if (searches(options)) {
        const Search search = search_of(graph, step, space, key, options);
        if (!search.next().empty()) {
            const std::size_t expected = expected_search(step.configs, model_for(options, step) != nullptr);
            step.open = std::max(search.next().size(), expected - std::min(expected, search.told()));
            if (options.max_configs > 0) step.open = std::min(step.open, search.left());
        }
    } else {
        const store::AttemptSet done = key && !options.again ? store_.done(*key) : store::AttemptSet();
        const Query query = graph.graph().query(problem);
        for (const Contender& c : space.contenders) {
            step.open += done.contains(attempt_of(graph, query, c.config, policy, clock)) ? 0 : 1;
        }
    }
    const double share = static_cast<double>(step.open) / static_cast<double>(std::max<std::size_t>(1, step.configs));
    step.estimate_s = share * (space.estimate_us * 1e-6 * calls_per_config(options.measuring) +
                               kOverheadPerConfigSeconds * static_cast<double>(step.configs));
    return step;
}

// Knows what the store has.
Search Tuner::search_of(GraphWorkload& graph, const TuneStep& step, const Space& space,
                        const std::optional<store::Key>& key, const TuneOptions& options) const {
    const Query query = graph.graph().query(step.problem);
    std::vector<Config> configs;
    for (const Contender& c : space.contenders) configs.push_back(c.config);
    Outlook outlook{model_for(options, step), {}, options.constraints, {}};
    if (outlook.model) outlook.constants = store::constants_of_layers(store_, device_.environment);
    if (key) outlook.builds = store_.format_builds(key->graph, key->environment);
    auto known = search_configs(registry_, query, configs, outlook);
    for (std::size_t i = 0; i < space.first; ++i) known[i].first = true;
    for (std::size_t i = 0; i < space.recalled.size(); ++i) known[space.recalled[i]].recalled = i;
    SearchOptions limits;
    // What ratios need is no part of the search.
    if (options.max_configs > 0)
        limits.most = options.max_configs + space.first - std::min<std::size_t>(1, space.first);
    Search search(std::move(known), limits);
    if (!key || options.again) return search;
    const store::AttemptSet done = store_.done(*key);
    std::map<std::string, Measurement> newest;
    for (Measurement& m : store_.measurements(*key, {step.policy, step.clock, {}})) {
        const Variant* v = registry_.find(m.config.variant);  // another build may have written of others
        if (v && m.variant_version == v->version) newest[m.config.text()] = std::move(m);
    }
    for (std::size_t i = 0; i < configs.size(); ++i) {
        if (!done.contains(attempt_of(graph, query, configs[i], step.policy, step.clock))) continue;
        tell(search, i, newest.at(configs[i].text()), query, options);
    }
    return search;
}

// `m.prepare_us` has the formats in it.
void Tuner::tell(Search& search, std::size_t config, const Measurement& m, const Query& query,
                 const TuneOptions& options) const {
    const bool timed = m.status == MeasurementStatus::ok || m.status == MeasurementStatus::abandoned;
    if (!timed || m.median_us <= 0) {
        search.tell_unusable(config);
        return;
    }
    const auto candidate = candidates_of(registry_, query, {m});
    const bool stands = !candidate.empty() && choose(candidate, options.constraints).winner;
    search.tell(config, per_call_us(m.median_us, m.prepare_us, options.constraints), stands);
}

std::vector<TuneStep> Tuner::plan(GraphWorkload& graph, const GraphRecord& record, const TuneOptions& options) {
    std::vector<TuneStep> steps;
    for (const Problem& problem : options.problems) {
        Space space = space_of(graph, problem, options);
        if (space.contenders.empty()) continue;
        const auto graph_id = store_.find_graph_id(record.fingerprint);
        const auto environment_id = store_.find_environment_id(device_.environment);
        const auto problem_id = store_.find_problem_id(problem);
        std::optional<store::Key> key;
        if (graph_id && environment_id && problem_id) key = {*graph_id, *environment_id, *problem_id};
        for (const Policy policy : options.policies) {
            for (const Clock clock : options.clocks) {
                recall(space, graph, problem, policy, clock);
                steps.push_back(step_of(graph, problem, policy, clock, space, key, options));
            }
        }
    }
    return steps;
}

bool Tuner::tune(GraphWorkload& graph, const GraphRecord& record, const TuneOptions& options, std::int64_t run,
                 const TuneEvents& events) {
    const std::int64_t graph_id = store_.graph_id(record);
    const std::int64_t environment_id = store_.environment_id(device_.environment);
    const store::Key of_formats{graph_id, environment_id, 0};
    if (!options.limited && !measure_format_builds(graph, of_formats, events.quit)) return false;
    for (const Problem& problem : options.problems) {
        if (events.quit && events.quit()) return false;
        Space space = space_of(graph, problem, options);
        if (space.contenders.empty()) {
            if (events.problem_refused) {
                events.problem_refused(problem, space.no_default);
            } else if (options.problems.size() == 1) {
                throw unsupported(space.no_default);
            }
            continue;
        }
        const store::Key key{graph_id, environment_id, store_.problem_id(problem)};
        try {
            if (!tune_problem(graph, key, problem, space, options, run, events)) return false;
        } catch (const std::bad_alloc&) {
            if (!events.memory_ran_out) throw;
            events.memory_ran_out(problem, "memory ran out");
        } catch (const Error& e) {
            if (e.kind() != ErrorKind::out_of_memory || !events.memory_ran_out) throw;
            events.memory_ran_out(problem, e.what());
        }
    }
    return !options.limited || measure_format_builds(graph, of_formats, events.stop);
}

bool Tuner::tune_problem(GraphWorkload& graph, const store::Key& key, const Problem& problem, Space& space,
                         const TuneOptions& options, std::int64_t run, const TuneEvents& events) {
    const Query query = graph.graph().query(problem);
    std::unique_ptr<ProblemWorkload> workload;
    for (const Policy policy : options.policies) {
        for (const Clock clock : options.clocks) {
            const store::AttemptSet done = options.again ? store::AttemptSet() : store_.done(key);
            recall(space, graph, problem, policy, clock);
            TuneStep step = step_of(graph, problem, policy, clock, space, key, options);
            const bool owed = options.limited && measured_ == 0;
            if (step.open > 0 && !owed && events.stop && events.stop()) return false;
            if (events.step_begins) events.step_begins(step);
            for (const auto& [variant, reason] : space.refusals) {
                if (!done.contains({variant->id, variant->version, policy, clock, {}})) {
                    store_.add_measurement(run, key, refused(*variant, reason, policy, clock));
                }
            }
            if (step.open > 0) {
                if (!workload) workload = std::make_unique<ProblemWorkload>(graph, problem, options.seed);
                step.stopped = !tune_step(*workload, key, step, space, options, run, events);
            }
            // Half of what is taken again is not held against the other half: the choice stays.
            const bool half = step.stopped && options.again;
            const auto rows = store_.measurements(key, {policy, clock, half ? std::optional(run) : std::nullopt});
            const auto before = store_.choice(key, policy, clock);
            const auto candidates = candidates_of(registry_, query, rows, before);
            const Decision decision = choose(candidates, options.constraints);
            if (decision.winner && options.configs.empty() && !(half && before)) {
                store_.set_choice(run, key, policy, clock, choice_of(registry_, candidates, decision));
            }
            if (events.step_ends) events.step_ends(step, decision, candidates, before);
            if (step.stopped) return false;
        }
    }
    return true;
}

void Tuner::add_stored(Frontier& frontier, const Query& query, const std::vector<Measurement>& rows) const {
    for (const Candidate& c : candidates_of(registry_, query, rows)) {
        const bool exact = !c.approximate && c.precision == Precision::fp32;
        frontier.add(
            {c.deterministic, exact, c.capturable, c.workspace_bytes == 0, c.operand_alignment, c.format_bytes},
            c.median_us);
    }
}

/// What the stored rows would have chosen, and what is tied with it.
std::vector<Config> Tuner::deciding(const store::Key& key, const Query& query, const TuneStep& step,
                                    const TuneOptions& options) const {
    const auto candidates = candidates_of(registry_, query, store_.measurements(key, {step.policy, step.clock, {}}));
    const Decision decision = choose(candidates, options.constraints);
    std::vector<Config> out;
    if (decision.winner) out.push_back(candidates[*decision.winner].config);
    for (const std::size_t i : decision.tied) out.push_back(candidates[i].config);
    return out;
}

bool Tuner::tune_step(ProblemWorkload& workload, const store::Key& key, const TuneStep& step, Space& space,
                      const TuneOptions& options, std::int64_t run, const TuneEvents& events) {
    const auto stopwatch = make_stopwatch(step.clock, device_, workload.graph().stream());
    const store::AttemptSet done = options.again ? store::AttemptSet() : store_.done(key);
    const Query query = workload.graph().graph().query(step.problem);
    Frontier frontier;
    // Stored times are what `again` has in doubt: no new one is judged by them.
    if (!options.again) add_stored(frontier, query, store_.measurements(key, {step.policy, step.clock, {}}));
    std::optional<Search> search;
    std::map<std::string, std::size_t> numbers;
    if (searches(options)) {
        search = search_of(workload.graph(), step, space, key, options);
        for (std::size_t i = 0; i < space.contenders.size(); ++i) numbers[space.contenders[i].config.text()] = i;
    }
    std::set<std::string> taken;  // configs, in this run
    MeasureHooks hooks;
    hooks.stop = events.stop;
    hooks.quit = events.quit;
    auto builds = store_.format_builds(key.graph, key.environment);
    hooks.finished = [&](Measurement m) {
        const auto formats = registry_.find(m.config.variant)->formats(m.config.params);
        m.prepare_us += total_build_us(builds, formats, kFormatCsr, step.problem.direction);
        store_.add_measurement(run, key, m);
        ++measured_;
        taken.insert(m.config.text());
        if (search) tell(*search, numbers.at(m.config.text()), m, query, options);
        if (events.measured) events.measured(m, frontier.best());
    };
    std::vector<Contender> group;
    const auto flush = [&] {
        if (group.empty()) return true;
        MeasureOptions measuring = options.measuring;
        measuring.first_in_any_case = options.limited && measured_ == 0;
        if (options.limited) {
            measure_format_builds(workload.graph(), key, step.problem, group);
            builds = store_.format_builds(key.graph, key.environment);
        }
        const bool complete = measure(workload, group, *stopwatch, step.policy, measuring, hooks, frontier);
        group.clear();
        return complete;
    };
    if (search) {
        for (auto next = search->next(); !next.empty(); next = search->next()) {
            for (const std::size_t i : next) group.push_back(space.contenders[i]);
            if (!flush()) return false;
        }
        if (!options.again) return true;
        // What the search has left out may have a stored time that would decide: that is taken once more too.
        const auto stale = [&] {
            for (const Config& config : deciding(key, query, step, options)) {
                const auto number = numbers.find(config.text());
                if (number != numbers.end() && taken.insert(number->first).second) {
                    group.push_back(space.contenders[number->second]);
                }
            }
            return !group.empty();
        };
        while (stale()) {
            if (!flush()) return false;
        }
        return true;
    }
    std::vector<std::size_t> order = space.recalled;
    for (std::size_t i = 0; i < space.contenders.size(); ++i) {
        if (std::find(space.recalled.begin(), space.recalled.end(), i) == space.recalled.end()) order.push_back(i);
    }
    for (const std::size_t i : order) {
        const Contender& c = space.contenders[i];
        if (done.contains(attempt_of(workload.graph(), query, c.config, step.policy, step.clock))) continue;
        group.push_back(c);
        if (group.size() == options.group && !flush()) return false;
    }
    return flush();
}

}  // namespace gnntune::tuner

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
#include "tuner/measuring/standing.hpp"
#include "tuner/recall.hpp"

namespace gnntune::tuner {

/// Everything that could be measured for a problem.
struct Tuner::Space {
    std::vector<Contender> contenders;  ///< the default first, then baselines, then the rest in registry order
    std::size_t first = 0;              ///< so many of them a search has measured in any case
    std::vector<std::pair<const Variant*, std::string>> refusals;
    double estimate_us = 0;  ///< of one call of each
    /// Places of those that were fast in an environment much like this one, best first, the default before them.
    std::vector<std::size_t> recalled;
    std::size_t errata = 0;  ///< configs left out because of them
    std::string no_default;  ///< why no exact variant can do the problem; empty if one can
};

namespace {

// Rough rate for estimates of tuning time before anything is known of the device; never shown as a measurement.
double assumed_gbps(const Device& device) {
    return device.backend == Backend::cuda ? 1500.0 : 10.0;
}
constexpr double kOverheadPerConfigSeconds = 0.01;
/// Measured configs of a part that a composition is tried with.
constexpr std::size_t kOfferedParts = 3;

bool searches(const TuneOptions& options) {
    return !options.exhaustive && options.configs.empty();
}

const model::Model* model_for(const TuneOptions& options, const TuneStep& step) {
    return options.model ? options.model(step.problem, step.policy, step.clock) : nullptr;
}

}  // namespace

// A composition's own space, and each of its parts exchanged for the three configs that were measured fastest for it.
std::vector<Params> Tuner::offered(GraphWorkload& graph, const Variant& v, const Query& query) const {
    std::vector<Params> all = v.space(query);
    if (!v.parts) return all;
    const auto graph_id = store_.find_graph_id(graph.graph().fingerprint());
    const auto environment_id = store_.find_environment_id(device_.environment);
    if (!graph_id || !environment_id) return all;
    Params best = v.default_params(query);
    std::vector<std::pair<std::string, std::string>> others;
    for (const Part& part : v.parts(query)) {
        const auto problem_id = store_.find_problem_id(part.problem);
        if (!problem_id) continue;
        const Query part_query = graph.graph().query(part.problem);
        auto measured =
            candidates_of(registry_, part_query, store_.measurements({*graph_id, *environment_id, *problem_id}));
        std::erase_if(measured, [&](const Candidate& c) { return !may_be_part(*registry_.find(c.config.variant), v); });
        std::sort(measured.begin(), measured.end(),
                  [](const Candidate& a, const Candidate& b) { return a.median_us < b.median_us; });
        for (std::size_t i = 0; i < std::min(kOfferedParts, measured.size()); ++i) {
            const std::string text = measured[i].config.text();
            if (i == 0) {
                best.set(part.param, text);
            } else {
                others.emplace_back(part.param, text);
            }
        }
    }
    std::vector<Params> more{best};
    for (const auto& [param, text] : others) {
        more.push_back(best);
        more.back().set(param, text);
    }
    for (Params& params : more) {
        if (v.valid(query, params) && std::find(all.begin(), all.end(), params) == all.end()) all.push_back(params);
    }
    return all;
}

store::Attempt Tuner::attempt_of(GraphWorkload& graph, const Query& query, const Config& config, Policy policy,
                                 Clock clock) const {
    const Variant& v = *registry_.find(config.variant);
    store::Attempt attempt{config.text(), v.version, policy, clock, {}};
    if (v.parts) attempt.parts = store::parts_text(parts_of(graph.graph(), v, query, config.params));
    return attempt;
}

Tuner::Space Tuner::space_of(GraphWorkload& graph, const Problem& problem, const TuneOptions& options) const {
    graph.graph().features();  // cost terms and applicability may ask for them
    const Query query = graph.graph().query(problem);
    if (!options.configs.empty()) return named(graph, query, options.configs);
    Space space;
    Config standard;
    try {
        standard = registry_.default_config(query, {});
    } catch (const Error& e) {
        space.no_default = e.what();  // approximate variants may still do it
    }
    std::vector<Contender> kept;  // though no ratio needs them
    std::vector<Contender> rest;
    for (const Variant& v : registry_.variants()) {
        if (v.op != problem.op || v.backend != device_.backend) continue;
        const bool is_named =
            std::find(options.variants.begin(), options.variants.end(), v.id) != options.variants.end();
        if (!options.variants.empty() && !is_named) continue;
        if (v.sampling && !is_named && !options.constraints.allow_sampling) continue;
        if (const Verdict verdict = registry_.applicable(v, query); !verdict) {
            space.refusals.emplace_back(&v, verdict.reason);
            continue;
        }
        const Params variant_default = v.default_params(query);
        for (const Params& params : offered(graph, v, query)) {
            Contender c;
            c.config = {v.id, params};
            try {
                const auto parts = parts_of(graph.graph(), v, query, params);
                if (!erratum_words(registry_, query, v, params, parts).empty()) {
                    ++space.errata;
                    continue;
                }
            } catch (const Error& e) {
                space.refusals.emplace_back(&v, e.what());
                continue;
            }
            const bool is_default = c.config == standard;
            c.keep = is_default || ((v.baseline || is_named) && params == variant_default);
            const CostTerms terms = v.cost_terms(query, params);
            const double bytes = std::max(terms.dram_bytes, terms.l2_bytes / 3) + terms.reduction_bytes;
            space.estimate_us += bytes / assumed_gbps(device_) / 1e3 + 3.0 * terms.launches;
            const bool for_ratios = is_default || is_named || v.precision == Precision::fp32;
            auto& list = !c.keep ? rest : for_ratios ? space.contenders : kept;
            list.insert(is_default ? list.begin() : list.end(), std::move(c));
        }
    }
    if (options.every_format) cover_formats(graph, query, options.constraints, space.contenders, rest);
    space.first = space.contenders.size();
    for (auto* list : {&kept, &rest}) {
        space.contenders.insert(space.contenders.end(), std::make_move_iterator(list->begin()),
                                std::make_move_iterator(list->end()));
    }
    if (space.contenders.empty() && !options.variants.empty()) {
        space.no_default = "none of the variants that were named can do " + to_text(problem);
        for (const auto& [variant, reason] : space.refusals) {
            space.no_default.append("; ").append(variant->id).append(": ").append(reason);
        }
    }
    return space;
}

Tuner::Space Tuner::named(GraphWorkload& graph, const Query& query, const std::vector<Config>& configs) const {
    Space space;
    for (const Config& config : configs) {
        const Variant& v = resolve(registry_, query, config);
        const auto words =
            erratum_words(registry_, query, v, config.params, parts_of(graph.graph(), v, query, config.params));
        if (!words.empty()) throw unsupported(config.text() + " is not measured: " + words);
        Contender c;
        c.config = config;
        c.keep = true;
        space.contenders.push_back(std::move(c));
    }
    return space;
}

void Tuner::recall(Space& space, GraphWorkload& graph, const Problem& problem, Policy policy, Clock clock) const {
    space.recalled.clear();
    const Query query = graph.graph().query(problem);
    for (const Config& config : recalled(store_, registry_, query, graph.graph().fingerprint(), policy, clock)) {
        const auto found = std::find_if(space.contenders.begin(), space.contenders.end(),
                                        [&](const Contender& c) { return c.config == config; });
        if (found == space.contenders.end()) continue;
        // A tuning that is cut short is no worse than none.
        if (space.recalled.empty()) space.recalled.push_back(0);
        const auto place = static_cast<std::size_t>(found - space.contenders.begin());
        if (place > 0) space.recalled.push_back(place);
    }
}

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
    step.estimate_s = share * (space.estimate_us * 1e-6 * (options.measuring.min_samples + 4) +
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
    measure_format_builds(graph, graph_id, environment_id);
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
    return true;
}

bool Tuner::tune_problem(GraphWorkload& graph, const store::Key& key, const Problem& problem, Space& space,
                         const TuneOptions& options, std::int64_t run, const TuneEvents& events) {
    const Query query = graph.graph().query(problem);
    std::unique_ptr<ProblemWorkload> workload;
    for (const Policy policy : options.policies) {
        for (const Clock clock : options.clocks) {
            const store::AttemptSet done = options.again ? store::AttemptSet() : store_.done(key);
            recall(space, graph, problem, policy, clock);
            const TuneStep step = step_of(graph, problem, policy, clock, space, key, options);
            if (events.step_begins) events.step_begins(step);
            for (const auto& [variant, reason] : space.refusals) {
                if (!done.contains({variant->id, variant->version, policy, clock, {}})) {
                    store_.add_measurement(run, key, refused(*variant, reason, policy, clock));
                }
            }
            if (step.open > 0) {
                if (!workload) workload = std::make_unique<ProblemWorkload>(graph, problem, options.seed);
                if (!tune_step(*workload, key, step, space, options, run, events)) return false;
            }
            const auto rows = store_.measurements(key, {policy, clock, {}});
            const auto before = store_.choice(key, policy, clock);
            const auto candidates = candidates_of(registry_, query, rows, before);
            const Decision decision = choose(candidates, options.constraints);
            if (decision.winner && options.configs.empty()) {
                store_.set_choice(run, key, policy, clock, choice_of(registry_, candidates, decision));
            }
            if (events.step_ends) events.step_ends(step, decision, candidates, before);
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
    const auto candidates =
        candidates_of(registry_, query, store_.measurements(key, {step.policy, step.clock, {}}));
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
    const auto builds = store_.format_builds(key.graph, key.environment);
    hooks.finished = [&](Measurement m) {
        const auto formats = registry_.find(m.config.variant)->formats(m.config.params);
        m.prepare_us += total_build_us(builds, formats, kFormatCsr, step.problem.direction);
        store_.add_measurement(run, key, m);
        taken.insert(m.config.text());
        if (search) tell(*search, numbers.at(m.config.text()), m, query, options);
        if (events.measured) events.measured(m, frontier.best());
    };
    std::vector<Contender> group;
    const auto flush = [&] {
        const bool complete =
            group.empty() || measure(workload, group, *stopwatch, step.policy, options.measuring, hooks, frontier);
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

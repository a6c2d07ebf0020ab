#include "tuner/tune_session.hpp"

#include <algorithm>
#include <map>
#include <new>
#include <utility>

#include "core/common/error.hpp"
#include "profiles/snapshot/layers.hpp"
#include "tuner/clocks.hpp"
#include "tuner/measuring/guide.hpp"

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

bool asked(const std::function<bool()>& event) {
    return event && event();
}

}  // namespace

TuneSession::TuneSession(const Registry& registry, const Device& device, store::Store& store, GraphWorkload& graph,
                         const GraphRecord& record, const TuneOptions& options, std::size_t& measured)
    : registry_(registry),
      device_(device),
      store_(store),
      graph_(graph),
      record_(record),
      options_(options),
      measured_(measured),
      planned_(options.problems.size()) {
    graph.graph().features();  // cost terms and applicability may ask for them
    query_ = graph.graph().query({});
}

bool TuneSession::is_done(const Step& step, const Config& config) const {
    if (step.done.empty()) return false;
    const Variant& v = *registry_.find(config.variant);
    store::Attempt attempt{config.text(), v.version, step.told.policy, step.told.clock, {}};
    if (v.parts) attempt.parts = store::parts_text(parts_of(registry_, step.space.query, v, config.params));
    return step.done.contains(attempt);
}

TuneSession::Step TuneSession::step_of(const Space& space, Policy policy, Clock clock,
                                       const std::optional<store::Key>& key) const {
    Step step{{space.query.problem, policy, clock, space.contenders.size(), 0, space.errata, 0},
              space,
              key,
              space.recalled.at({policy, clock}),
              {},
              {}};
    if (key && !options_.again) step.done = store_.done(*key);
    if (searches(options_)) step.search = search_of(step);
    step.told.open = open_of(step);
    const auto configs = static_cast<double>(step.told.configs);
    const double share = static_cast<double>(step.told.open) / std::max(1.0, configs);
    step.told.estimate_s =
        share * (space.estimate_us * 1e-6 * calls_per_config(options_.measuring) + kOverheadPerConfigSeconds * configs);
    return step;
}

std::size_t TuneSession::open_of(const Step& step) const {
    if (!step.search) {
        return static_cast<std::size_t>(std::count_if(step.space.contenders.begin(), step.space.contenders.end(),
                                                      [&](const Contender& c) { return !is_done(step, c.config); }));
    }
    const Search& search = *step.search;
    const std::size_t next = search.next().size();
    if (next == 0) return 0;
    const std::size_t expected = expected_search(step.told.configs, model_for(options_, step.told) != nullptr);
    const std::size_t open = std::max(next, expected - std::min(expected, search.told()));
    return options_.max_configs > 0 ? std::min(open, search.left()) : open;
}

// Knows what the store has.
Search TuneSession::search_of(const Step& step) const {
    const Space& space = step.space;
    std::vector<Config> configs;
    for (const Contender& c : space.contenders) configs.push_back(c.config);
    Outlook outlook{model_for(options_, step.told), {}, options_.constraints, {}};
    if (outlook.model) outlook.constants = store::constants_of_layers(store_, device_.environment);
    if (step.key) outlook.builds = store_.format_builds(step.key->graph, step.key->environment);
    auto known = search_configs(registry_, space.query, configs, outlook);
    for (std::size_t i = 0; i < space.first; ++i) known[i].first = true;
    for (std::size_t i = 0; i < step.recalled.size(); ++i) known[step.recalled[i]].recalled = i;
    SearchOptions limits;
    // What ratios need is no part of the search.
    if (options_.max_configs > 0) {
        limits.most = options_.max_configs + space.first - std::min<std::size_t>(1, space.first);
    }
    Search search(std::move(known), limits);
    if (!step.key || options_.again) return search;
    std::map<std::string, Measurement> newest;
    for (Measurement& m : store_.measurements(*step.key, {step.told.policy, step.told.clock, {}})) {
        const Variant* v = registry_.find(m.config.variant);  // another build may have written of others
        if (v && m.variant_version == v->version) newest[m.config.text()] = std::move(m);
    }
    for (std::size_t i = 0; i < configs.size(); ++i) {
        if (!is_done(step, configs[i])) continue;
        tell(search, i, registry_, space.query, newest.at(configs[i].text()), options_.constraints);
    }
    return search;
}

std::vector<TuneStep> TuneSession::plan() {
    graph_id_ = store_.find_graph_id(record_.fingerprint);
    environment_id_ = store_.find_environment_id(device_.environment);
    std::vector<TuneStep> steps;
    for (std::size_t i = 0; i < options_.problems.size(); ++i) {
        Space space = space_of(options_.problems[i]);
        if (!space.contenders.empty()) {
            const auto problem_id = store_.find_problem_id(options_.problems[i]);
            std::optional<store::Key> key;
            if (graph_id_ && environment_id_ && problem_id) key = {*graph_id_, *environment_id_, *problem_id};
            // Of a step only what it tells is kept: its search counts what formats take to build, and that is measured
            // between plan() and tune().
            for (const Policy policy : options_.policies) {
                for (const Clock clock : options_.clocks) steps.push_back(step_of(space, policy, clock, key).told);
            }
        }
        // Rows of other problems are written until its turn.
        if (!space.of_rows) planned_[i] = std::move(space);
    }
    return steps;
}

// What plan() found of a problem, else what there is now.
TuneSession::Space TuneSession::taken_space(std::size_t problem) {
    auto planned = std::exchange(planned_[problem], std::nullopt);
    return planned ? *std::move(planned) : space_of(options_.problems[problem]);
}

bool TuneSession::tune(std::int64_t run, const TuneEvents& events) {
    graph_id_ = store_.graph_id(record_);
    environment_id_ = store_.environment_id(device_.environment);
    run_ = run;
    events_ = &events;
    if (!options_.limited && !measure_format_builds(events.quit)) return false;
    for (std::size_t i = 0; i < options_.problems.size(); ++i) {
        if (asked(events.quit)) return false;
        const Problem& problem = options_.problems[i];
        const Space space = taken_space(i);
        if (space.contenders.empty()) {
            if (events.problem_refused) {
                events.problem_refused(problem, space.no_default);
            } else if (options_.problems.size() == 1) {
                throw unsupported(space.no_default);
            }
            continue;
        }
        try {
            if (!tune_problem(space)) return false;
        } catch (const std::bad_alloc&) {
            if (!events.memory_ran_out) throw;
            events.memory_ran_out(problem, "memory ran out");
        } catch (const Error& e) {
            if (e.kind() != ErrorKind::out_of_memory || !events.memory_ran_out) throw;
            events.memory_ran_out(problem, e.what());
        }
    }
    return !options_.limited || measure_format_builds(events.stop);
}

bool TuneSession::tune_problem(const Space& space) {
    const Problem& problem = space.query.problem;
    const store::Key key{*graph_id_, *environment_id_, store_.problem_id(problem)};
    std::unique_ptr<ProblemWorkload> workload;
    bool stopped = false;  // steps behind that are done already are told all the same
    for (const Policy policy : options_.policies) {
        for (const Clock clock : options_.clocks) {
            Step step = step_of(space, policy, clock, key);
            const bool owed = options_.limited && measured_ == 0;
            stopped = stopped || (step.told.open > 0 && !owed && asked(events_->stop));
            if (stopped && step.told.open > 0) continue;
            if (events_->step_begins) events_->step_begins(step.told);
            note_refusals(step);
            if (step.told.open > 0) {
                if (!workload) workload = std::make_unique<ProblemWorkload>(graph_, problem, options_.seed);
                step.told.stopped = !measure(step, *workload);
            }
            decide(step);
            stopped = stopped || step.told.stopped;
        }
    }
    return !stopped;
}

void TuneSession::note_refusals(const Step& step) {
    for (const auto& [variant, reason] : step.space.refusals) {
        if (step.done.contains({variant->id, variant->version, step.told.policy, step.told.clock, {}})) continue;
        store_.add_measurement(run_, *step.key, refused(*variant, reason, step.told.policy, step.told.clock));
    }
}

std::vector<Candidate> TuneSession::stored(const Step& step, const store::MeasurementFilter& filter,
                                           const std::optional<Choice>& before) const {
    return candidates_of(registry_, step.space.query, store_.measurements(*step.key, filter), before);
}

void TuneSession::decide(const Step& step) {
    const auto [policy, clock] = std::pair(step.told.policy, step.told.clock);
    // Half of what is taken again is not held against the other half: the choice stays.
    const bool half = step.told.stopped && options_.again;
    const auto before = store_.choice(*step.key, policy, clock);
    const auto candidates = stored(step, {policy, clock, half ? std::optional(run_) : std::nullopt}, before);
    const Decision decision = choose(candidates, options_.constraints);
    if (decision.winner && options_.configs.empty() && !(half && before)) {
        store_.set_choice(run_, *step.key, policy, clock, choice_of(registry_, candidates, decision));
    }
    if (events_->step_ends) events_->step_ends(step.told, decision, candidates, before);
}

/// What the stored rows would choose, and what is tied with it, as far as it was not taken in this session.
std::vector<std::size_t> TuneSession::stale(const Step& step, const Session& session) const {
    const auto candidates = stored(step, {step.told.policy, step.told.clock, {}});
    const Decision decision = choose(candidates, options_.constraints);
    std::vector<std::size_t> deciding = decision.tied;
    if (decision.winner) deciding.insert(deciding.begin(), *decision.winner);
    std::vector<std::size_t> out;
    for (const std::size_t i : deciding) {
        const std::size_t number = session.number_of(candidates[i].config);
        if (number < step.space.contenders.size() && !session.taken().contains(number)) out.push_back(number);
    }
    return out;
}

bool TuneSession::measure(Step& step, ProblemWorkload& workload) {
    const auto stopwatch = make_stopwatch(step.told.clock, device_, graph_.stream());
    auto builds = store_.format_builds(step.key->graph, step.key->environment);
    SessionEvents events;
    events.stop = events_->stop;
    events.quit = events_->quit;
    events.formats_us = [&](const Config& config) {
        const auto formats = registry_.find(config.variant)->formats(config.params);
        return total_build_us(builds, formats, kFormatCsr, step.told.problem.direction);
    };
    events.group_begins = [&](const std::vector<Contender>& group, MeasureOptions& measuring) {
        measuring.first_in_any_case = options_.limited && measured_ == 0;
        if (!options_.limited) return;
        measure_format_builds(step.told.problem, group);
        builds = store_.format_builds(step.key->graph, step.key->environment);
    };
    events.measured = [&](const Measurement& m, double best_us) {
        store_.add_measurement(run_, *step.key, m);
        ++measured_;
        if (events_->measured) events_->measured(m, best_us);
    };
    Session session(workload, *stopwatch, step.told.policy, options_.measuring, options_.constraints,
                    step.space.contenders, std::move(events));
    // Stored times are what `again` has in doubt: no new one is judged by them.
    if (!options_.again) session.remember(stored(step, {step.told.policy, step.told.clock, {}}));
    return step.search ? measure_searched(step, *step.search, session) : measure_all(step, session);
}

bool TuneSession::measure_searched(const Step& step, Search& search, Session& session) {
    if (!session.follow(search)) return false;
    if (!options_.again) return true;
    // What the search has left out may have a stored time that would decide: that is taken once more too.
    for (auto group = stale(step, session); !group.empty(); group = stale(step, session)) {
        if (!session.measure(group)) return false;
    }
    return true;
}

bool TuneSession::measure_all(const Step& step, Session& session) {
    std::vector<std::size_t> order = step.recalled;
    for (std::size_t i = 0; i < step.space.contenders.size(); ++i) {
        if (std::find(step.recalled.begin(), step.recalled.end(), i) == step.recalled.end()) order.push_back(i);
    }
    std::vector<std::size_t> group;
    for (const std::size_t i : order) {
        if (is_done(step, step.space.contenders[i].config)) continue;
        group.push_back(i);
        if (group.size() < options_.group) continue;
        if (!session.measure(group)) return false;
        group.clear();
    }
    return session.measure(group);
}

}  // namespace gnntune::tuner

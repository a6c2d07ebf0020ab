// gnntune tune: the promising configs, or every one, of every applicable variant on each graph, checked, timed and
// remembered.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "core/common/error.hpp"
#include "profiles/snapshot/layers.hpp"
#include "profiles/store/store.hpp"
#include "tools/common/exclusive.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/fitted_models.hpp"
#include "tools/common/graphs.hpp"
#include "tools/common/interrupt.hpp"
#include "tools/common/machine_load.hpp"
#include "tools/common/open_store.hpp"
#include "tools/common/problems.hpp"
#include "tools/common/program.hpp"
#include "tools/common/progress.hpp"
#include "tools/common/steps.hpp"
#include "tools/common/within_memory.hpp"
#include "tools/verbs/graph_outcome.hpp"
#include "tools/verbs/held_graph.hpp"
#include "tools/verbs/plan_store.hpp"
#include "tools/verbs/tune_options.hpp"
#include "tools/verbs/tune_plan.hpp"
#include "tools/verbs/tune_shard.hpp"
#include "tuner/profile.hpp"
#include "tuner/tune_session.hpp"

namespace gnntune::tools {
namespace {

class TuneVerb {
public:
    TuneVerb(const Parsed& parsed)
        : parsed_(parsed),
          out_("tune", parsed.common),
          shard_(TuneShard::from(parsed, out_)),
          device_(shard_ ? shard_->device() : parsed.common.device()),
          store_(open_store()),
          tuner_(registry(), device_, store_),
          profiler_(registry(), device_, store_, parsed.common.seed) {
        out_.set_device(device_);
        step_ = step_of(parsed);
        tune_.problems = step_ ? problems_of(*step_) : problems(parsed);
        tune_.every_format = step_.has_value();
        tune_.policies = policies(parsed, device_);
        tune_.constraints = constraints(parsed);
        if (step_ && parsed.given("variant")) {
            throw invalid_argument("--variant names variants of one op, and --step has several: give one of them");
        }
        tune_.variants = named_variants(parsed, tune_.problems, device_, true, out_);
        read_extent(parsed, tune_);
        models_.load(store_, parsed_.common.known_database_path(), device_.environment,
                     tune_.exhaustive ? std::vector<Problem>() : tune_.problems, out_);
        tune_.model = [this](const Problem& problem, Policy policy, Clock clock) {
            return models_.find(problem, policy, clock);
        };
        tune_.measuring.max_samples = static_cast<int>(parsed.integer("max-samples", 5, 100000).value_or(100));
        budget_s_ = parsed.duration_s("budget").value_or(std::numeric_limits<double>::infinity());
        shares_ = TimeShares(budget_s_);
        tune_.limited = parsed.given("budget");
        tune_.measuring.enough_when_stopped = tune_.measuring.burst;
        graphs_ = find_graphs(parsed.arguments, read_options(parsed), out_);
        constants_ = store::constants_of_layers(store_, device_.environment);
        // Last, since they may wait, and look for clocks on the device.
        if (!parsed.flag("dry-run")) lock_ = exclusive(device_, parsed, out_);
        tune_.clocks = clocks(parsed, device_, out_);
        problems_ = tune_.problems;
        if (shard_) shard_->agree(device_, tune_, step_.has_value(), graphs_);
    }

    int run() {
        if (parsed_.flag("dry-run")) return print_tune_plan(graphs_, device_, tuner_, tune_, step_, out_);
        try {
            return measure();
        } catch (const store::FileMoved& moved) {
            progress_ = nullptr;
            out_.set_status("");
            print_results();
            throw database_error(fmt::format("{}; {}", moved.what(), store_.save_elsewhere()));
        }
    }

private:
    int measure() {
        if (interrupted()) return kExitInterrupted;  // while it waited for the GPU
        if (shard_ && shard_->all_done()) return leave(kExitOk);
        if (const auto warning = load_warning(device_, "the same command measures what is missing"))
            out_.warn(*warning);
        const auto database = store_.path();
        out_.note(fmt::format("gnntune {} on {}, database {}", version(), device_.environment.device_name,
                              database.string()));
        if (const auto words = store::stands_in(&store_, device_.environment); !tune_.exhaustive && !words.empty()) {
            out_.note(words);
        }
        if (shard_) shard_->time_sentinels(device_, tune_.clocks.front());
        const std::int64_t run =
            store_.begin_run({command_line(), version(), git_commit(), static_cast<std::int64_t>(parsed_.common.seed),
                              shard_ ? shard_->host(device_) : device_.environment.device_name});
        Progress progress(out_, "tune", 0);
        if (std::isfinite(budget_s_)) progress.set_deadline_s(budget_s_);
        progress_ = &progress;
        const bool complete = shard_ ? tune_units(run) : tune_graphs(run);
        progress_ = nullptr;
        store_.end_run(run);
        out_.set_status("");
        print_results();
        const int code = complete ? exit_code() : interrupted() ? kExitInterrupted : kExitIncomplete;
        if (shard_) return leave(code);
        if (complete && code != kExitIncomplete) return code;
        out_.note(fmt::format("{}everything measured is in {}; {}: {}", complete ? "" : "stopped; ", database.string(),
                              tune_.again ? "--again begins anew, with more time" : "go on with", command_line()));
        return code;
    }

    // Others may read its database from now on.
    int leave(int code) {
        { const store::Store closed = std::move(store_); }
        return shard_->leave() || code != kExitOk ? code : kExitIncomplete;
    }

    // False if something is left.
    bool tune_graphs(std::int64_t run) {
        outcomes_.resize(graphs_.size());
        work_ = ExpectedWork(graphs_.size());
        TimeShares::Hooks hooks;
        hooks.work = [&](std::size_t graph) {
            current_ = graph;
            outcome() = {};
            const bool done = tune_graph(graph, run);
            held_.reset();
            if (!work_.was_read(graph)) work_.read(graph, 0);
            return done;
        };
        hooks.quit = [this] { return quit(); };
        hooks.elapsed_s = [this] { return elapsed_s(); };
        hooks.done = [this] { return measured_; };
        const auto open = shares_.run(graphs_.size(), hooks);
        for (const std::size_t graph : open) {
            if (!work_.was_read(graph)) outcomes_[graph].leave_out(graphs_[graph].name, why_stopped());
        }
        return open.empty();
    }
    // What this rank gets of it. False if it was stopped before nothing was left.
    bool tune_units(std::int64_t run) {
        while (!quit()) {
            const auto unit = shard_->next(store_, held_ ? std::optional(held_graph_) : std::nullopt);
            if (!unit) return !interrupted();
            current_ = outcomes_.size();
            outcomes_.emplace_back();
            work_ = ExpectedWork(outcomes_.size());
            tune_.problems.clear();
            for (const std::size_t p : unit->problems) tune_.problems.push_back(problems_.at(p));
            const std::int64_t disturbed = disturbed_;
            if (!tune_graph(unit->graph, run)) return false;
            const GraphOutcome& all = outcome();
            shard_->finish(disturbed_ == disturbed && all.lost + all.untimed + all.unread == 0);
        }
        return false;
    }
    bool quit() const { return interrupted() || (measured_ > 0 && shares_.all_is_over(elapsed_s())); }
    GraphOutcome& outcome() { return outcomes_[current_]; }
    void print_results() {
        for (const GraphOutcome& one : outcomes_) all_.add(one);
        say_what_is_missing();
        if (step_) {
            all_.steps.print(out_);
        } else {
            out_.print(all_.rows);
        }
    }

    store::Store open_store() {
        store::OpenOptions options;
        options.warn = [this](const std::string& text) { out_.warn(text); };
        if (!parsed_.flag("dry-run")) {
            const auto path = shard_ ? shard_->database() : parsed_.common.database_path();
            options.set_damaged_aside = true;  // a night of measuring must not stand still for it
            return tools::open_store(path, store::Mode::read_write_create, std::move(options));
        }
        return plan_store(parsed_.common.known_database_path(), scratch_);
    }

    void say_what_is_missing() {
        const auto some = [](std::int64_t n, const char* what) {
            return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
        };
        if (disturbed_ > 0) {
            out_.warn(
                fmt::format("{} could not be timed, since other programs had the processor; stop them, "
                            "and the same command measures what is missing",
                            some(disturbed_, "config")));
        }
        const std::int64_t problems = all_.left_problems;
        const std::int64_t graphs = all_.left_graphs;
        if (problems + graphs > 0) {
            out_.note(fmt::format("{}{}{}, {}", problems > 0 ? some(problems, "problem") : "",
                                  problems > 0 && graphs > 0 ? " and " : "", graphs > 0 ? some(graphs, "graph") : "",
                                  why_stopped()));
        }
    }
    const char* why_stopped() const { return interrupted() ? "left out: stopped" : "left out: the budget ended"; }

    // Of a run that came to its end.
    int exit_code() const {
        if (all_.wrong > 0) return kExitVerification;
        if (shard_ && outcomes_.empty()) return kExitOk;  // others did all of it
        if (all_.unread > 0 || (all_.unfit > 0 && all_.unfit == outcomes_.size())) return kExitInput;
        // With a limit of time what other programs have prevented is left for the next run, as what came too late is:
        // which of both it was is a matter of moments.
        if (tune_.limited && all_.lost == 0 && all_.untimed > 0) return kExitIncomplete;
        return all_.tuned > 0 && all_.lost + all_.untimed == 0 ? kExitOk : kExitRuntime;
    }

    bool stop() const { return interrupted() || shares_.share_is_over(elapsed_s()); }
    double elapsed_s() const { return progress_ ? progress_->elapsed_s() : 0.0; }

    // False if the graph cannot be used: the outcome has it.
    bool hold(std::size_t graph) {
        if (held_ && held_graph_ == graph) return true;
        held_.reset();  // first: memory may not be enough for two
        held_ = hold_graph(graphs_[graph], graphs_.size(), device_, outcome(), out_);
        held_graph_ = graph;
        return held_ != nullptr;
    }

    // False if it was stopped.
    bool tune_graph(std::size_t graph, std::int64_t run) {
        if (!hold(graph)) return true;
        tuner::GraphWorkload& workload = held_->workload;
        const GraphRecord& record = held_->record;
        std::int64_t later = 0;  // of the steps that have not begun
        tuner::TuneSession session = tuner_.session(workload, record, tune_);
        const auto planned = session.plan();
        for (const auto& step : planned) later += static_cast<std::int64_t>(step.open);
        work_.read(current_, later);
        std::set<std::string> begun;
        const auto name_of = [](const tuner::TuneStep& step) {
            return fmt::format("{} {} {}", to_text(step.problem), to_text(step.policy), to_text(step.clock));
        };
        // The step that is being measured.
        struct {
            Problem problem;
            std::string text;            // graph and problem
            std::string best;            // its fastest config
            std::int64_t end = 0;        // of measured_, as expected
            std::int64_t disturbed = 0;  // of its configs
        } now;
        tuner::TuneEvents events;
        events.stop = [this] { return stop(); };
        events.quit = [] { return interrupted(); };
        events.problem_refused = [&](const Problem&, const std::string& why) { out_.warn(record.name + ": " + why); };
        events.memory_ran_out = [&](const Problem& problem, const std::string& why) {
            ++outcome().lost;
            warn_left_out(record.name + " " + short_problem(problem), why, out_);
        };
        events.step_begins = [&](const tuner::TuneStep& step) {
            const auto open = static_cast<std::int64_t>(step.open);
            now = {step.problem, record.name + " " + short_problem(step.problem), {}, measured_ + open, 0};
            begun.insert(name_of(step));
            later = std::max<std::int64_t>(0, later - open);
            if (step.errata > 0) {
                out_.note(fmt::format("{}: {} configs left out, which must not run (gnntune db errata)", now.text,
                                      step.errata));
            }
        };
        events.measured = [&](const Measurement& m, double best_us) {
            ++measured_;
            ++measured_of_[place_of(record, now.problem, m.policy, m.clock)];
            // A search may measure more than was expected.
            const std::int64_t elsewhere = work_.of_others();
            progress_->set_total(std::max(measured_, now.end) + later + elsewhere, elsewhere > 0);
            if (m.status == MeasurementStatus::ok && m.median_us <= best_us) now.best = m.config.text();
            if (m.disturbed()) {
                ++disturbed_;
                ++now.disturbed;
                out_.detail(m.config.text() + " on " + now.text + ": " + m.reason);
            } else if (m.status == MeasurementStatus::wrong || m.status == MeasurementStatus::failed) {
                out_.warn(m.config.text() + " on " + now.text + ": " + m.reason);
            }
            const std::string where = graphs_.size() > 1 ? fmt::format("graph {}/{} ", graph + 1, graphs_.size()) : "";
            const std::string name = now.best.empty() ? "" : now.best + " ";
            progress_->update(measured_, fmt::format("{}{}  best {}{:.1f} us", where, now.text, name, best_us));
        };
        events.step_ends = [&](const tuner::TuneStep& step, const Decision& decision,
                               const std::vector<Candidate>& candidates, const std::optional<Choice>& before) {
            if (step.stopped && tune_.again && before) {
                out_.note(fmt::format("{}: stays {}: not all of it was taken again", now.text, before->config.text()));
                return leave_out(record.name, step);
            }
            report(record, workload, step, decision, candidates, now.disturbed);
            if (step.stopped && !candidates.empty()) tell_cut(now.text, step, now.end - measured_);
            if (!before || !decision.winner) return;
            const Config& winner = candidates[*decision.winner].config;
            if (winner == before->config) return;
            out_.note(fmt::format("{}: now {}, before {}", now.text, winner.text(), before->config.text()));
        };
        if (!session.tune(run, events)) {
            for (const auto& step : planned) {
                if (!begun.contains(name_of(step))) leave_out(record.name, step);
            }
            if (step_ && !interrupted()) choose_steps(workload, record, run);
            return false;
        }
        if (step_) choose_steps(workload, record, run);
        if (parsed_.flag("counters")) count_choices(workload, record, run);
        return true;
    }

    // Of a step that has a row, though not all of it was measured; `left`: configs, as expected.
    void tell_cut(const std::string& what, const tuner::TuneStep& step, std::int64_t left) {
        out_.note(fmt::format("{}, policy {}, clock {}: cut midway: {}; what was measured is chosen from", what,
                              to_text(step.policy), to_text(step.clock),
                              left > 0 ? fmt::format("about {} config{} left", left, left == 1 ? " is" : "s are")
                                       : "the last config was not timed to its end"));
    }
    void leave_out(const std::string& graph, const tuner::TuneStep& step) {
        if (step.open == 0) return;
        outcome().leave_out(graph, step, why_stopped());
    }

    void choose_steps(tuner::GraphWorkload& workload, const GraphRecord& record, std::int64_t run) {
        const std::int64_t graph = store_.graph_id(record);
        const std::int64_t environment = store_.environment_id(device_.environment);
        const auto query_of = [&](const Problem& problem) { return workload.graph().query(problem); };
        for (const Policy policy : tune_.policies) {
            for (const Clock clock : tune_.clocks) {
                auto options =
                    tuner::step_options(registry(), store_, *step_, graph, environment, policy, clock, query_of);
                const StepReport report(registry(), {record.name, *step_, policy, clock}, std::move(options),
                                        step_limits(parsed_), query_of);
                if (report.decision().picks) {
                    store_.set_step_choice(run, graph, environment, policy, clock, report.stored(registry()));
                } else {
                    warn_unchosen(report, record.name + " " + to_text(*step_) + ": no choice is stored", out_);
                }
                outcome().steps.add(report, out_);
            }
        }
    }

    // After all timing of the graph: counters are taken in a replay.
    void count_choices(tuner::GraphWorkload& workload, const GraphRecord& record, std::int64_t run) {
        const bool could = !profiler_.why_not();
        for (const Problem& problem : tune_.problems) {
            const store::Key key{store_.graph_id(record), store_.environment_id(device_.environment),
                                 store_.problem_id(problem)};
            for (const Policy policy : tune_.policies) {
                for (const Clock clock : tune_.clocks) {
                    const auto choice = store_.choice(key, policy, clock);
                    if (!choice || stop() || profiler_.why_not()) continue;
                    profiler_.profile(workload, record, {problem, choice->config, policy, clock}, run);
                }
            }
        }
        if (could && profiler_.why_not()) out_.warn(profiler_.why_not()->what());
    }

    // A problem on a graph, whatever round it was measured in.
    static std::string place_of(const GraphRecord& record, const Problem& problem, Policy policy, Clock clock) {
        return fmt::format("{} {} {} {}", record.fingerprint.text(), to_text(problem), to_text(policy), to_text(clock));
    }

    // Whether the database has a result of the problem that disagrees with the oracle.
    bool has_wrong(const GraphRecord& record, const tuner::TuneStep& step) {
        const store::Key key{store_.graph_id(record), store_.environment_id(device_.environment),
                             store_.problem_id(step.problem)};
        const auto rows = store_.measurements(key, {step.policy, step.clock, {}});
        return std::any_of(rows.begin(), rows.end(),
                           [](const Measurement& m) { return m.status == MeasurementStatus::wrong; });
    }

    // `disturbed`: configs of the step that could not be timed beside other programs.
    void report(const GraphRecord& record, tuner::GraphWorkload& workload, const tuner::TuneStep& step,
                const Decision& decision, const std::vector<Candidate>& candidates, std::int64_t disturbed) {
        const Query query = workload.graph().query(step.problem);
        outcome().tuned += candidates.empty() ? 0 : 1;
        if (candidates.empty() && step.stopped) return leave_out(record.name, step);
        if (candidates.empty() && disturbed > 0) {
            ++outcome().untimed;
            out_.warn(record.name + " " + to_text(step.problem) +
                      ": no config could be timed, since other programs had the processor; nothing is chosen");
            return;
        }
        if (!decision.winner) {
            const bool wrong = candidates.empty() && has_wrong(record, step);
            outcome().wrong += wrong ? 1 : 0;
            out_.warn(
                record.name + " " + to_text(step.problem) + ": " +
                (wrong ? "no result agrees with the oracle; nothing is chosen" : why_unchosen(decision, candidates)));
            return;
        }
        add_result(outcome().rows, record.name, step, decision, candidates,
                   {query, gathered_rows(step.problem, workload.graph().features()), constants_},
                   measured_of_[place_of(record, step.problem, step.policy, step.clock)]);
    }

    const Parsed& parsed_;
    std::optional<store::FolderBeside> scratch_;
    Output out_;
    std::optional<TuneShard> shard_;
    Device device_;
    std::optional<tuner::DeviceLock> lock_;
    store::Store store_;
    tuner::Tuner tuner_;
    tuner::Profiler profiler_;
    std::optional<Step> step_;
    tuner::TuneOptions tune_;
    FittedModels models_;
    double budget_s_ = 0;
    TimeShares shares_{0};
    std::vector<GraphArgument> graphs_;
    std::vector<Problem> problems_;       // that are asked for
    std::vector<GraphOutcome> outcomes_;  // of each graph, or of each unit that this rank took up
    ExpectedWork work_;
    std::size_t current_ = 0;  // of outcomes_
    std::unique_ptr<HeldGraph> held_;
    std::size_t held_graph_ = 0;  // of graphs_
    GraphOutcome all_;
    std::map<std::string, std::int64_t> measured_of_;  // by this run, by place_of()
    DeviceConstants constants_;
    Progress* progress_ = nullptr;
    std::int64_t measured_ = 0;
    std::int64_t disturbed_ = 0;  // configs that could not be timed beside other programs
};

}  // namespace

int run_tune(const Args& args) {
    const Options options = tune_options();
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 1, SIZE_MAX, "gnntune tune [options] GRAPH...");
    return TuneVerb(*parsed).run();
}

}  // namespace gnntune::tools

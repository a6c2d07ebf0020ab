// gnntune coverage: every legal problem, tuned and held against its plain sibling; or named, without measuring.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "core/common/error.hpp"
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
#include "tools/common/within_memory.hpp"
#include "tools/verbs/coverage_list.hpp"
#include "tools/verbs/coverage_tables.hpp"
#include "tools/verbs/held_graph.hpp"
#include "tuner/coverage.hpp"
#include "tuner/draw.hpp"
#include "tuner/tune.hpp"

namespace gnntune::tools {
namespace {

using tuner::Coverage;
using tuner::CoverageOutcome;

Options coverage_options() {
    Options options(
        "coverage",
        {"gnntune coverage [options] GRAPH...",
         "Tunes every legal problem of each graph and prints the time of its fastest exact config over that of its "
         "plain sibling: the same problem without what is looked at (self loops, f16, max, ...). Exit code 1 if a "
         "problem has no variant or is slower than the bound of its kind. What the database has is not measured again.",
         {"gnntune coverage graph.mtx large.mtx --db coverage.db", "gnntune coverage --list --device cuda",
          "gnntune coverage graph.mtx --op spmm,spmm_grad --dim 64 --exhaustive --csv",
          "gnntune coverage graph.mtx --bound self_loop=1.3,max=2 --only over",
          "gnntune coverage graphs/ --draw 8 --exhaustive --dim 16,33,64 --heads 1,4,8 --budget 10m"}});
    // clang-format off
    options.group("Problems").add_options()
        ("op", value("LIST", "all"), "ops (gnntune list ops)")
        ("dim", value("LIST", "64,33"), "feature dimensions k")
        ("heads", value("LIST", "1,8"), "heads of ops that have heads of their own")
        ("draw", value("N"), "N of each op, evenly over kinds and others on every graph (--seed), and compare nothing: "
         "with --exhaustive what a cost model learns from")
        ("turn", value("I"), "which draw, counted from 0 for the first graph: turns one after the other go through all "
         "problems before one comes again (default: one that follows from the graph)")
        ("max-edges", value("N"), "leave out graphs of more edges");
    options.group("Verdicts").add_options()
        ("bound", value("LIST"), "other bounds, such as self_loop=1.3,max=2; on the CPU only those that are named count")
        ("only", value("LIST"), "rows of these verdicts: ok, over, no_variant, wrong, not_measured, left_out, "
         "no_sibling, or all; without, in a table what is not as it should be, and all in CSV and JSON")
        ("list", boost::program_options::bool_switch(), "name the problems and their variants and measure nothing: "
         "needs no graph, and no device");
    // clang-format on
    add_timing_options(options);
    // clang-format off
    options.group("Search").add_options()
        ("exhaustive", boost::program_options::bool_switch(), "measure every config, not only promising ones")
        ("max-configs", value("N"), "most configs of a search for each problem, beside the library's default")
        ("budget", value("TIME"), "stop after this time, such as 30s or 5m")
        ("max-samples", value("N", "100"), "most timed calls per config");
    // clang-format on
    add_exclusive_options(options);
    add_graph_options(options);
    return options;
}

class CoverageVerb {
public:
    explicit CoverageVerb(const Parsed& parsed)
        : parsed_(parsed),
          out_("coverage", parsed.common),
          device_(parsed.common.device()),
          demands_(coverage_demands(parsed, device_.backend)),
          shown_(shown_verdicts(parsed, out_)),
          problems_(coverage_problems(parsed)),
          store_(open_store()),
          tuner_(registry(), device_, store_) {
        out_.set_device(device_);
        tune_.policies = policies(parsed, device_);
        (void)one_policy(parsed);
        if (parsed.text("clock") == "both") {
            throw invalid_argument("--clock: coverage compares times of one clock; give span, events or auto");
        }
        draw_ = static_cast<std::size_t>(parsed.integer("draw", 1, 1000000).value_or(0));
        if (draw_ > 0 && !demands_.bounds.empty()) {
            throw invalid_argument("--bound: what is drawn has no siblings to be compared with; leave out --draw");
        }
        demands_.compare = draw_ == 0;
        turn_ = parsed.integer("turn", 0, INT64_MAX);
        if (turn_ && draw_ == 0) throw invalid_argument("--turn says which draw; give --draw N");
        most_edges_ = parsed.integer("max-edges", 1, INT64_MAX).value_or(INT64_MAX);
        tune_.exhaustive = parsed.flag("exhaustive");
        const auto most = parsed.integer("max-configs", 1, 1000000);
        if (most && tune_.exhaustive) {
            throw invalid_argument(
                "--max-configs limits a search, and --exhaustive measures every config: give one of them");
        }
        tune_.max_configs = static_cast<std::size_t>(most.value_or(0));
        models_.load(store_, parsed_.common.database_path(), device_.environment,
                     tune_.exhaustive ? std::vector<Problem>() : problems_, out_);
        tune_.model = [this](const Problem& problem, Policy policy, Clock clock) {
            return models_.find(problem, policy, clock);
        };
        tune_.seed = parsed.common.seed;
        tune_.measuring.max_samples = static_cast<int>(parsed.integer("max-samples", 5, 100000).value_or(100));
        budget_s_ = parsed.duration_s("budget").value_or(std::numeric_limits<double>::infinity());
        tune_.limited = parsed.given("budget");
        tune_.measuring.enough_when_stopped = tune_.measuring.burst;
        graphs_ = find_graphs(parsed.arguments, read_options(parsed), out_);
        lock_ = exclusive(device_, parsed, out_);
        tune_.clocks = clocks(parsed, device_, out_);
    }

    int run() {
        if (interrupted()) return kExitInterrupted;  // while it waited for the GPU
        if (const auto warning = load_warning(device_, "the same command measures what is missing")) {
            out_.warn(*warning);
        }
        const std::int64_t run =
            store_.begin_run({command_line(), version(), git_commit(), static_cast<std::int64_t>(parsed_.common.seed),
                              device_.environment.device_name});
        Progress progress(out_, "coverage", static_cast<std::int64_t>(problems_a_graph() * graphs_.size()));
        if (std::isfinite(budget_s_)) progress.set_deadline_s(budget_s_);
        progress_ = &progress;
        try {
            for (std::size_t graph = 0; graph < graphs_.size(); ++graph) {
                const GraphArgument& argument = graphs_[graph];
                if (complete_ && (interrupted() || (measured_ > 0 && stop()))) complete_ = false;
                if (complete_) {
                    cover(argument, graph, run);
                } else {
                    out_.warn(argument.name + ": " + why_stopped());
                }
            }
        } catch (const store::FileMoved& moved) {
            progress_ = nullptr;
            out_.set_status("");
            throw database_error(fmt::format("{}; {}", moved.what(), store_.save_elsewhere()));
        }
        progress_ = nullptr;
        store_.end_run(run);
        out_.set_status("");
        return report();
    }

private:
    store::Store open_store() {
        store::OpenOptions options;
        options.warn = [this](const std::string& text) { out_.warn(text); };
        options.set_damaged_aside = true;
        return tools::open_store(parsed_.common.database_path(), store::Mode::read_write_create, std::move(options));
    }

    bool stop() const { return interrupted() || (progress_ ? progress_->elapsed_s() : 0.0) > budget_s_; }
    const char* why_stopped() const { return interrupted() ? "left out: stopped" : "left out: the budget ended"; }

    std::size_t problems_a_graph() const {
        if (draw_ == 0) return problems_.size();
        std::map<Op, std::size_t> of_op;
        for (const Problem& p : problems_) ++of_op[p.op];
        std::size_t sum = 0;
        for (const auto& [op, count] : of_op) sum += std::min(draw_, count);
        return sum;
    }

    /// `graph` counts them from 0, those that are left out too.
    void cover(const GraphArgument& argument, std::size_t graph, std::int64_t run) {
        auto input = load_among(argument, graphs_.size(), out_);
        if (!input) {
            all_read_ = false;
            return;
        }
        if (input->graph.m() == 0) {
            all_read_ = false;
            out_.warn(input->name + " has no edges: there is nothing to tune");
            return;
        }
        if (input->graph.m() > most_edges_) {
            out_.note(fmt::format("{}: left out, it has {} edges (--max-edges {})", input->name, input->graph.m(),
                                  most_edges_));
            return;
        }
        std::unique_ptr<HeldGraph> held;
        const bool fits = hold_among(sized_name(*input), graphs_.size(), out_,
                                     [&] { held = held_graph(std::move(*input), device_); });
        if (!fits) {
            all_read_ = false;
            return;
        }
        tuner::GraphWorkload& workload = held->workload;
        const GraphRecord& record = held->record;
        std::vector<CoverageOutcome>& outcomes = outcomes_.emplace_back();
        tune_.problems.clear();
        std::vector<Problem> defined;
        const Query any = workload.graph().query({});
        for (const Problem& problem : problems_) {
            const Query query = any.with(problem);
            if (defined_on(problem, query.n_rows, query.n_cols)) defined.push_back(problem);
        }
        const std::size_t undefined = problems_.size() - defined.size();
        if (draw_ > 0) {
            const std::uint64_t turn = turn_ ? static_cast<std::uint64_t>(*turn_) + graph : record.fingerprint.lo;
            defined = tuner::draw_problems(defined, draw_, parsed_.common.seed, turn);
        }
        for (const Problem& problem : defined) {
            const Query query = any.with(problem);
            const auto found = tuner::exact_variants(registry(), query);
            CoverageOutcome& outcome = outcomes.emplace_back();
            outcome.graph = record.name;
            outcome.problem = problem;
            if (found.variants.empty()) {
                outcome.what = Coverage::no_variant;
                outcome.reason = found.refusals_text();
                ++done_;
            } else {
                tune_.problems.push_back(problem);
            }
        }
        if (undefined > 0) {
            out_.note(fmt::format("{}: {} problems need a square graph, this one has {} rows and {} columns",
                                  record.name, undefined, record.n_rows, record.n_cols));
        }
        complete_ = tune(workload, record, outcomes, run) && complete_;
        for (CoverageOutcome& outcome : outcomes) {
            if (outcome.what == Coverage::left_out && outcome.reason.empty()) outcome.reason = why_stopped();
        }
    }

    // False if it was stopped.
    bool tune(tuner::GraphWorkload& workload, const GraphRecord& record, std::vector<CoverageOutcome>& outcomes,
              std::int64_t run) {
        const auto of = [&](const Problem& problem) -> CoverageOutcome& {
            return *std::find_if(outcomes.begin(), outcomes.end(),
                                 [&](const CoverageOutcome& o) { return o.problem == problem; });
        };
        std::string where;
        tuner::TuneEvents events;
        events.stop = [this] { return stop(); };
        events.quit = [] { return interrupted(); };
        events.problem_refused = [&](const Problem& problem, const std::string& why) {
            of(problem).what = Coverage::no_variant;
            of(problem).reason = why;
            ++done_;
        };
        events.memory_ran_out = [&](const Problem& problem, const std::string& why) {
            of(problem).what = Coverage::not_measured;
            of(problem).reason = why;
            ++done_;
        };
        events.step_begins = [&](const tuner::TuneStep& step) {
            where = record.name + " " + short_problem(step.problem);
        };
        events.measured = [&](const Measurement& m, double best_us) {
            ++measured_;
            if (m.status == MeasurementStatus::wrong || m.status == MeasurementStatus::failed) {
                out_.detail(m.config.text() + " on " + where + ": " + m.reason);
            }
            progress_->update(done_, fmt::format("{}  best {:.1f} us", where, best_us));
        };
        events.step_ends = [&](const tuner::TuneStep& step, const Decision&, const std::vector<Candidate>& candidates,
                               const std::optional<Choice>&) {
            ++done_;
            settle(of(step.problem), record, step, candidates);
        };
        return tuner_.tune(workload, record, tune_, run, events);
    }

    void settle(CoverageOutcome& outcome, const GraphRecord& record, const tuner::TuneStep& step,
                const std::vector<Candidate>& candidates) {
        const store::Key key{store_.graph_id(record), store_.environment_id(device_.environment),
                             store_.problem_id(step.problem)};
        std::size_t wrong = 0;
        std::string first_wrong;
        std::string failed;
        for (const Measurement& m : store_.measurements(key, {step.policy, step.clock, {}})) {
            const Variant* v = registry().find(m.config.variant);
            if (!v || v->version != m.variant_version) continue;
            const std::string words = m.config.text() + ": " + m.reason;
            if (m.status == MeasurementStatus::wrong && wrong++ == 0) first_wrong = words;
            if (m.status == MeasurementStatus::failed && failed.empty()) failed = words;
        }
        if (const Candidate* best = tuner::fastest_exact(candidates)) {
            outcome.what = Coverage::timed;
            outcome.config = best->config.text();
            outcome.time_us = best->median_us;
            outcome.ci_low_us = best->ci_low_us;
            outcome.ci_high_us = best->ci_high_us;
            if (wrong > 0) {
                out_.warn(fmt::format("{} {}: {} config{} disagreed with the oracle, {}", record.name,
                                      short_problem(step.problem), wrong, wrong == 1 ? "" : "s", first_wrong));
            }
            return;
        }
        if (step.stopped) return;
        outcome.what = wrong > 0 ? Coverage::wrong : Coverage::not_measured;
        outcome.reason = wrong > 0 ? first_wrong : failed;
        if (!outcome.reason.empty()) return;
        outcome.reason = step.errata > 0 ? "errata keep its configs from running (gnntune db errata)"
                                         : "no exact config of it has a time";
    }

    int report() {
        std::vector<tuner::CoverageRow> rows;
        std::size_t problems = 0;
        for (const auto& outcomes : outcomes_) {
            problems += outcomes.size();
            for (auto& row : tuner::coverage_rows(outcomes, demands_)) rows.push_back(std::move(row));
        }
        print_coverage(out_, rows, demands_, shown_, !parsed_.given("only"), one_policy(parsed_), tune_.clocks.front());
        const auto count = [&](auto is) { return std::count_if(rows.begin(), rows.end(), is); };
        const auto of = [&](tuner::CoverageVerdict verdict) {
            return count([verdict](const tuner::CoverageRow& row) { return row.verdict == verdict; });
        };
        const auto failing = count([](const tuner::CoverageRow& row) { return row.fails; });
        out_.note(fmt::format(
            "{} problems on {} graph{}: {} without a variant, {} wrong, {} not measured, {} left out; {} comparisons "
            "over their bound; {} rows fail",
            problems, outcomes_.size(), outcomes_.size() == 1 ? "" : "s", of(tuner::CoverageVerdict::no_variant),
            of(tuner::CoverageVerdict::wrong), of(tuner::CoverageVerdict::not_measured),
            of(tuner::CoverageVerdict::left_out), of(tuner::CoverageVerdict::over), failing));
        if (!complete_) {
            out_.note(fmt::format("stopped; everything measured is in {}; go on with: {}", store_.path().string(),
                                  command_line()));
        }
        if (interrupted()) return kExitInterrupted;
        if (of(tuner::CoverageVerdict::wrong) > 0) return kExitVerification;
        if (failing > 0) return kExitRuntime;
        if (!all_read_) return kExitInput;
        return complete_ ? kExitOk : kExitIncomplete;
    }

    const Parsed& parsed_;
    Output out_;
    Device device_;
    tuner::CoverageDemands demands_;
    std::set<tuner::CoverageVerdict> shown_;
    std::vector<Problem> problems_;
    std::optional<tuner::DeviceLock> lock_;
    store::Store store_;
    tuner::Tuner tuner_;
    tuner::TuneOptions tune_;
    FittedModels models_;
    std::size_t draw_ = 0;              // problems of each op; 0: all
    std::optional<std::int64_t> turn_;  // of the first graph
    std::int64_t most_edges_ = INT64_MAX;
    double budget_s_ = 0;
    std::vector<GraphArgument> graphs_;
    std::deque<std::vector<CoverageOutcome>> outcomes_;  // of a graph each; rows point into them
    Progress* progress_ = nullptr;
    std::int64_t measured_ = 0;
    std::int64_t done_ = 0;  // problems
    bool complete_ = true;
    bool all_read_ = true;
};

}  // namespace

int run_coverage(const Args& args) {
    const Options options = coverage_options();
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    if (parsed->flag("list")) {
        for (const char* name : {"draw", "turn", "max-edges"}) {
            if (parsed->given(name))
                throw invalid_argument(std::string("--list measures no graph: leave out --") + name);
        }
        return list_coverage(*parsed);
    }
    require_arguments(*parsed, 1, SIZE_MAX, "gnntune coverage [options] GRAPH...");
    return CoverageVerb(*parsed).run();
}

}  // namespace gnntune::tools

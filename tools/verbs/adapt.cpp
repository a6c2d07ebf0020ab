// gnntune adapt: measures the problems that tell most about this device and corrects the cost models by them.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>

#include "core/common/error.hpp"
#include "core/generate/generate.hpp"
#include "profiles/snapshot/layers.hpp"
#include "profiles/store/device_constants.hpp"
#include "tools/common/exclusive.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/graphs.hpp"
#include "tools/common/interrupt.hpp"
#include "tools/common/machine_load.hpp"
#include "tools/common/models.hpp"
#include "tools/common/open_store.hpp"
#include "tools/common/problems.hpp"
#include "tools/common/program.hpp"
#include "tools/common/progress.hpp"
#include "tools/common/within_memory.hpp"
#include "tools/verbs/held_graph.hpp"
#include "tuner/device_constants.hpp"
#include "tuner/evaluate.hpp"
#include "tuner/tune.hpp"

namespace gnntune::tools {
namespace {

Options adapt_options() {
    Options options(
        "adapt",
        {"gnntune adapt [options] [GRAPH...]",
         "Brings the cost models that came with the program to this device: measures a dozen problems that tell most "
         "about it (made for that, or GRAPH at --dim), corrects the models by all that the database has of this "
         "device, "
         "and stores those that choose better so. Says what was gained on graphs that the correction had not seen. The "
         "same command measures nothing twice.",
         {"gnntune adapt", "gnntune adapt --op spmm,gat --budget 1m", "gnntune adapt my_graphs/ --dim 32,64"}});
    // clang-format off
    options.group("What").add_options()
        ("op", value("LIST"), "ops, or all (default: those of which a model is there, else spmm)")
        ("count", value("N", "12"), "problems of each op, most telling first")
        ("dim", value("LIST", "16,64,256"), "feature dimensions k of GRAPH");
    options.group("Measuring").add_options()
        ("budget", value("TIME", "100s"), "stop measuring after this time; the same command goes on")
        ("clock", value("WHICH", "events"), "span (CUPTI) or events; on a CPU its own")
        ("max-samples", value("N", "10"), "most timed calls per config");
    // clang-format on
    add_exclusive_options(options);
    add_graph_options(options);
    return options;
}

/// A graph to measure, and at which widths.
struct Telling {
    GraphArgument graph;
    std::vector<std::int32_t> widths;
};

/// A model to begin with, and what it is called.
struct Known {
    model::Model model;
    store::ModelRow row;
    std::filesystem::path path;
};

bool is_adapted(const store::ModelRow& row) {
    const Json training = Json::parse(row.training, nullptr, false);
    return training.is_object() && training.contains("adapted_from");
}

class AdaptVerb {
public:
    explicit AdaptVerb(const Parsed& parsed)
        : parsed_(parsed),
          out_("adapt", parsed.common),
          device_(parsed.common.device()),
          store_(open_store(parsed.common.database_path(), store::Mode::read_write_create, out_)),
          tuner_(registry(), device_, store_),
          table_({{"op", "op", "", 0},
                  {"graphs", "graphs", "", 0},
                  {"problems", "problems", "", 0},
                  {"before_percent", "before", "%", 1},
                  {"before_worst_percent", "worst", "%", 1},
                  {"after_percent", "after", "%", 1},
                  {"after_worst_percent", "worst", "%", 1},
                  {"before_3_percent", "three measured", "%", 1},
                  {"after_3_percent", "after", "%", 1},
                  {"stored", "stored", "", 0}}) {
        out_.set_device(device_);
        const auto count = static_cast<std::size_t>(*parsed.integer("count", 2, 1000));
        if (parsed.arguments.empty()) {
            refuse_reading(read_options(parsed), "without GRAPH the graphs are generated; leave them out");
            auto problems = generate::telling_problems();
            problems.resize(std::min(count, problems.size()));
            // On a CPU the first could take all of the time.
            if (device_.backend == Backend::cpu) {
                std::stable_sort(problems.begin(), problems.end(), [](const auto& a, const auto& b) {
                    return generate::rough_size(a) < generate::rough_size(b);
                });
            }
            for (const generate::TellingProblem& p : problems) {
                telling_.push_back({generated_argument(p.recipe), {p.k}});
            }
        } else {
            std::vector<std::int32_t> widths;
            for (const std::int64_t k : parsed.integers("dim", 1, 1 << 20)) {
                widths.push_back(static_cast<std::int32_t>(k));
            }
            for (GraphArgument& graph : find_graphs(parsed.arguments, read_options(parsed), out_)) {
                telling_.push_back({std::move(graph), widths});
            }
        }
        read_models();
        tune_.exhaustive = true;
        tune_.limited = true;
        tune_.seed = parsed.common.seed;
        tune_.measuring.max_samples = static_cast<int>(*parsed.integer("max-samples", 5, 100000));
        budget_s_ = *parsed.duration_s("budget");
        // Last, since they may wait, and look for clocks on the device.
        lock_ = exclusive(device_, parsed, out_);
        if (device_.backend == Backend::cpu) {
            tune_.clocks = {Clock::host};
        } else {
            tune_.clocks = clocks(parsed, device_, out_);
            if (tune_.clocks.size() != 1) {
                throw invalid_argument("--clock: a model is of one clock; give span or events");
            }
        }
    }

    int run() {
        if (interrupted()) return kExitInterrupted;  // while it waited for the GPU
        if (const auto warning = load_warning(device_, "the same command measures what is missing")) {
            out_.warn(*warning);
        }
        out_.note(fmt::format("gnntune {} on {}, database {}", version(), device_.environment.device_name,
                              store_.path().string()));
        const auto started = std::chrono::steady_clock::now();
        const bool whole = measure();
        const double measuring_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
        for (const Op op : ops_) correct(op);
        if (table_.rows() == 0) {
            if (interrupted()) return kExitInterrupted;
            throw Error(ErrorKind::runtime,
                        "nothing was measured that a model could be corrected by: fewer than two graphs of "
                        "any op; give more time (--budget) or other graphs");
        }
        out_.print(table_);
        out_.note(
            fmt::format("measured for {:.0f} s. 100 % is the fastest config's speed. before, after: the config that is "
                        "chosen unmeasured; three measured: the fastest of the model's first three. No graph is scored "
                        "by a model that had seen it",
                        measuring_s));
        if (interrupted()) return kExitInterrupted;
        if (!whole) out_.note("the budget ended first; the same command goes on: " + command_line());
        return whole ? kExitOk : kExitIncomplete;
    }

private:
    // The model of each op that is corrected: the user's own, else a shipped one. One that this verb made is made anew,
    // and one of features of another version is nobody's.
    void read_models() {
        const Policy policy = Policy::hot;
        std::map<Op, store::LayeredModel> rows;
        for (store::LayeredModel& m : store::shipped_models(device_.environment)) {
            if (m.row.backend == device_.backend && m.row.policy == policy) rows.try_emplace(m.row.op, std::move(m));
        }
        for (store::ModelRow& row : store_.models()) {
            if (row.backend != device_.backend || row.policy != policy || is_adapted(row)) continue;
            if (!model::is_readable(row.feature_version)) {
                out_.warn(
                    fmt::format("the cost model of {} in {} is not used: it was fitted on features of version {}, "
                                "this program knows {}",
                                to_text(row.op), store_.path().string(), row.feature_version, model::kFeatureVersion));
                continue;
            }
            const Op op = row.op;
            rows.insert_or_assign(op, store::LayeredModel{std::move(row), store_.path()});
        }
        for (auto& [op, m] : rows) {
            try {
                known_.emplace(op, Known{model::from_bytes(m.row.bytes), m.row, m.path});
            } catch (const Error& e) {
                out_.warn(fmt::format("the cost model of {} is not used: {}", to_text(op), e.what()));
            }
        }
        if (parsed_.given("op")) {
            ops_ = parsed_.ops("op");
        } else {
            for (const auto& [op, known] : known_) ops_.push_back(op);
            if (ops_.empty()) ops_.push_back(Op::spmm);
        }
    }

    // False if something is left.
    bool measure() {
        const std::int64_t run =
            store_.begin_run({command_line(), version(), git_commit(), static_cast<std::int64_t>(parsed_.common.seed),
                              device_.environment.device_name});
        if (device_.backend == Backend::cuda &&
            store::stored_device_constants(store_, device_.environment).gather.empty()) {
            out_.note("measuring the device's constants (gnntune doctor --measure)");
            tuner::measure_device_constants(device_, store_, [&](const std::string& line) { out_.detail(line); });
        }
        Progress progress(out_, "adapt", static_cast<std::int64_t>(telling_.size() * ops_.size()));
        progress.set_deadline_s(budget_s_);
        put_the_measured_last();
        std::int64_t done = 0;
        bool whole = true;
        const auto over = [&] { return interrupted() || progress.elapsed_s() > budget_s_; };
        for (const Telling& telling : telling_) {
            if (over()) {
                whole = false;
                break;
            }
            GraphOutcome outcome;
            const auto held = hold_graph(telling.graph, telling_.size(), device_, outcome, out_);
            if (!held) continue;
            tune_.problems.clear();
            for (const Op op : ops_) {
                for (const std::int32_t k : telling.widths) tune_.problems.push_back(plain(op, k));
            }
            tuner::TuneEvents events;
            events.stop = over;
            events.quit = over;
            events.problem_refused = [&](const Problem&, const std::string& why) {
                out_.warn(held->record.name + ": " + why);
            };
            events.memory_ran_out = [&](const Problem& problem, const std::string& why) {
                warn_left_out(held->record.name + " " + short_problem(problem), why, out_);
            };
            events.step_begins = [&](const tuner::TuneStep& step) {
                progress.update(done, held->record.name + " " + short_problem(step.problem));
            };
            events.step_ends = [&](const tuner::TuneStep& step, const Decision&, const std::vector<Candidate>&,
                                   const std::optional<Choice>&) {
                // Of half of the configs nobody knows which is the fastest.
                if (step.stopped && step.open > 0) cut_.insert(held->record.name + " " + to_text(step.problem));
                ++done;
            };
            if (!tuner_.tune(held->workload, held->record, tune_, run, events)) whole = false;
        }
        store_.end_run(run);
        return whole;
    }

    // What other programs disturbed is measured again, and may be disturbed again until the budget is over.
    void put_the_measured_last() {
        std::set<std::string> measured;
        for (const Op op : ops_) {
            for (tuner::TrainingProblem& p : problems_of(op)) measured.insert(std::move(p.graph));
        }
        std::stable_partition(telling_.begin(), telling_.end(),
                              [&](const Telling& telling) { return !measured.contains(telling.graph.name); });
    }

    // Weighted where the op takes weights, as `tune` has it.
    static Problem plain(Op op, std::int32_t k) {
        Problem p;
        p.op = op;
        p.k = k;
        p.weighted = true;
        return normalised(p);
    }

    // All that the database has of this device, but what was cut short just now.
    std::vector<tuner::TrainingProblem> problems_of(Op op) const {
        tuner::TrainingFilter filter;
        filter.op = op;
        filter.backend = device_.backend;
        filter.clock = tune_.clocks.front();
        auto problems = tuner::training_problems(store_, registry(), filter);
        std::erase_if(problems, [&](const tuner::TrainingProblem& p) {
            return p.device.environment.device_name != device_.environment.device_name ||
                   cut_.contains(p.graph + " " + to_text(p.problem));
        });
        return problems;
    }

    void correct(Op op) {
        const auto problems = problems_of(op);
        const std::size_t graphs = graph_names(problems).size();
        if (graphs < 2) {
            out_.warn(fmt::format(
                "{}: {} graph{} measured on this device; a correction that nothing can be said about is not "
                "stored",
                to_text(op), graphs, graphs == 1 ? " is" : "s are"));
            return;
        }
        const auto found = known_.find(op);
        const model::Model* known = found == known_.end() ? nullptr : &found->second.model;
        tuner::EvaluateOptions options;
        options.searches = false;
        options.folds = graphs > kMostFolds ? static_cast<int>(kMostFolds) : 0;
        options.known = known;
        options.models = known != nullptr;
        const auto before = scores(problems, options);
        options.models = true;
        if (known) options.few = static_cast<int>(graphs);
        const auto after = scores(problems, options);
        const char* untaught = known ? "model_or_default" : "default";
        const double least = before.at(known ? "model" : untaught).geomean * (1 + kLeastGain);
        const bool better = after.at("model").geomean >= least;
        const bool enough = known || graphs >= kFewestToFit;
        const bool theirs = has_theirs(op);
        const bool stores = better && enough && !theirs;
        if (stores) store(op, problems, known, after);
        if (theirs) {
            out_.note(
                fmt::format("{}: the model in {} was made by gnntune fit and stays: fit it again to take in what was "
                            "measured",
                            to_text(op), store_.path().string()));
        } else if (!stores) {
            const bool had = remove_adapted(op, known != nullptr);
            const std::string why =
                !enough ? fmt::format("a model that begins with nothing takes {} graphs at least", kFewestToFit)
                        : fmt::format("it gains less than {:.1f} % on graphs that it had not seen", 100 * kLeastGain);
            out_.note(fmt::format("{}: the {} is not stored: {}{}", to_text(op), known ? "correction" : "model", why,
                                  had ? "; the one that was stored before is removed" : ""));
        }
        const auto three = [&](const std::map<std::string, tuner::StrategyScore>& s) {
            return s.contains("model_3") ? Cell(100 * s.at("model_3").geomean) : Cell();
        };
        table_.add({std::string(to_text(op)), static_cast<std::int64_t>(graphs),
                    static_cast<std::int64_t>(problems.size()), 100 * before.at(untaught).geomean,
                    100 * before.at(untaught).worst, 100 * after.at("model_or_default").geomean,
                    100 * after.at("model_or_default").worst, three(before), three(after), stores});
    }

    static std::map<std::string, tuner::StrategyScore> scores(const std::vector<tuner::TrainingProblem>& problems,
                                                              const tuner::EvaluateOptions& options) {
        std::map<std::string, tuner::StrategyScore> out;
        for (tuner::StrategyScore& s :
             tuner::scores_of(tuner::evaluate(problems, problems, problems, registry(), options))) {
            std::string name = s.name;
            out.emplace(std::move(name), std::move(s));
        }
        return out;
    }

    void store(Op op, const std::vector<tuner::TrainingProblem>& problems, const model::Model* known,
               const std::map<std::string, tuner::StrategyScore>& after) {
        const model::Model corrected =
            known ? tuner::refit(*known, problems, registry()) : tuner::fit(problems, registry());
        Json training;
        training["graphs"] = graph_names(problems);
        training["problems"] = problems.size();
        training["devices"] = Json::array({device_.environment.device_name});
        const auto found = known_.find(op);
        training["adapted_from"] =
            known ? Json{{"model", to_text(found->second.row)}, {"file", found->second.path.filename().string()}}
                  : Json();
        Json results = Json::object();
        for (const auto& [name, s] : after) {
            results[name] = {{"cases", s.cases}, {"geomean", s.geomean}, {"worst", s.worst}, {"share_95", s.share_95}};
        }
        store_.put_model({op, device_.backend, Policy::hot, tune_.clocks.front(), model::kFeatureVersion,
                          model::to_bytes(corrected), training.dump(), results.dump(), version(), git_commit(), ""});
    }

    // The stored model in whose place one of an op would go. Asked anew each time: others may write meanwhile.
    std::optional<store::ModelRow> in_place(Op op) const {
        for (store::ModelRow& m : store_.models(device_.backend)) {
            if (m.op == op && m.policy == Policy::hot && m.clock == tune_.clocks.front()) return std::move(m);
        }
        return std::nullopt;
    }

    // Whether that is one that `gnntune fit` made and that somebody can read: this program, or a newer one.
    bool has_theirs(Op op) const {
        const auto m = in_place(op);
        return m && !is_adapted(*m) && m->feature_version >= model::kFeatureVersion;
    }

    // Removes that if this verb stored it, and judged it now by what it had been made from. False if it did not.
    bool remove_adapted(Op op, bool corrects) {
        const auto m = in_place(op);
        if (!m || !is_adapted(*m)) return false;
        if (!corrects && !Json::parse(m->training)["adapted_from"].is_null()) return false;
        return store_.remove_model(op, m->backend, m->policy, m->clock);
    }

    // What a dozen problems say of a model is no closer than this.
    static constexpr double kLeastGain = 0.005;
    static constexpr std::size_t kFewestToFit = 6;  // graphs, where no model is there to be corrected
    static constexpr std::size_t kMostFolds = 24;   // of graphs, where a user has tuned many

    const Parsed& parsed_;
    Output out_;
    Device device_;
    store::Store store_;
    tuner::Tuner tuner_;
    Table table_;
    std::vector<Telling> telling_;
    std::map<Op, Known> known_;
    std::vector<Op> ops_;
    tuner::TuneOptions tune_;
    std::optional<tuner::DeviceLock> lock_;
    std::set<std::string> cut_;
    double budget_s_ = 0;
};

}  // namespace

int run_adapt(const Args& args) {
    const auto parsed = adapt_options().parse(args);
    if (!parsed) return kExitOk;
    return AdaptVerb(*parsed).run();
}

}  // namespace gnntune::tools

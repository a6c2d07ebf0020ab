// gnntune explain: what the database knows about a problem on a graph, and why one config is chosen.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "core/common/error.hpp"
#include "core/dispatch/choose.hpp"
#include "core/dispatch/plan.hpp"
#include "profiles/fields/features_json.hpp"
#include "profiles/snapshot/layers.hpp"
#include "profiles/store/environment_words.hpp"
#include "profiles/store/store.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/graphs.hpp"
#include "tools/common/known_device.hpp"
#include "tools/common/known_graph.hpp"
#include "tools/common/models.hpp"
#include "tools/common/parse.hpp"
#include "tools/common/problems.hpp"
#include "tools/common/profile_report.hpp"
#include "tools/common/program.hpp"
#include "tools/common/steps.hpp"
#include "tools/common/suggest.hpp"
#include "tools/db/accuracies.hpp"
#include "tools/paper/facts.hpp"
#include "tools/verbs/explain_advice.hpp"
#include "tools/verbs/explain_objectives.hpp"
#include "tools/verbs/explain_step.hpp"
#include "tools/verbs/plan_store.hpp"
#include "tuner/training.hpp"
#include "tuner/tune.hpp"

namespace gnntune::tools {
namespace {

Options explain_options() {
    Options options(
        "explain",
        {"gnntune explain [options] GRAPH",
         "Shows the config that is chosen for a problem under the given demands, the runner-up, what "
         "is tied, what was rejected and why; where nothing was measured, what the cost model of the database "
         "expects, and whether a dispatcher follows it. GRAPH is a file, or the name or the first digits of "
         "the fingerprint of a graph in the database.",
         {"gnntune explain data/cora.mtx.gz --dim 64", "gnntune explain cora --dim 64 --deterministic",
          "gnntune explain cora --dim 64 --expected-calls 1", "gnntune explain cora --step gcn --dim 64"}});
    add_problem_options(options, "64");
    add_timing_options(options);
    add_constraint_options(options);
    add_step_options(options);
    options.group("Output").add_options()("all", boost::program_options::bool_switch(),
                                          "all configs, not only the fastest of each variant");
    add_graph_options(options);
    return options;
}

class Explanation {
public:
    Explanation(const store::Store& store, const store::GraphRow& graph, const Problem& problem, const Parsed& parsed,
                const Device& device)
        : parsed_(parsed), database_(store::shown(store.path())) {
        const auto problem_id = store.find_problem_id(problem);
        const auto environment = find_environment(store, device.environment, graph.id, {problem}, parsed);
        features_ = store::features_from(graph.record.features_json);
        device_ = environment ? tuner::device_of(environment->environment) : device;
        device_.errata = device.errata;
        query_ = known_query(graph.record, device_, problem);
        accuracy_ =
            accuracy_lines(store, graph.id, environment ? std::optional(environment->id) : std::nullopt, problem);
        if (!environment) {
            ask_model(store);
            if (answer_ && answer_->has_model()) return;
            if (answer_ && !answer_->has_choice()) throw input_error(answer_->why());
            if (!features_) {
                throw input_error(fmt::format(
                    "nothing was measured for {} on {}, {}, and the database lacks features of the graph that a cost "
                    "model needs (an older program wrote it?); gnntune tune on the graph's file fills them in and "
                    "measures nothing again, gnntune predict reads the file itself",
                    to_text(problem), graph.record.name, timing_text(parsed)));
            }
            throw input_error(
                fmt::format("nothing was measured for {} on {}, {}, and the database has no cost model of {} "
                            "for that; a plan takes the default config, {} (source default); {}",
                            to_text(problem), graph.record.name, timing_text(parsed), to_text(problem.op),
                            answer_->choice().text(), tune_advice(parsed, device_, problem_options(parsed))));
        }
        // As the dispatcher: the clock that has most rows, span before events before host among equals.
        for (const Clock c : clocks_asked(parsed)) {
            const store::Key key{graph.id, environment->id, *problem_id};
            auto rows = store.measurements(key, {one_policy(parsed), c, {}});
            auto candidates = candidates_of(registry(), query_, rows, store.choice(key, one_policy(parsed), c));
            if (rows_.empty() || candidates.size() > candidates_.size()) {
                clock_ = c;
                rows_ = std::move(rows);
                candidates_ = std::move(candidates);
            }
        }
        decision_ = choose(candidates_, constraints(parsed));
        if (!decision_.winner) ask_model(store);
        list_unmeasured(store);
        environment_ = environment->environment;
        constants_ = store::constants_of_layers(store, environment_);
        if (is_here()) differences_ = store::differences(environment_, device.environment);
    }

    void print(Output& out, const store::GraphRow& graph) const {
        out.set_device(device_);
        out.set_subject(subject(graph));
        const Constraints demands = constraints(parsed_);
        const Objectives objectives(candidates_, demands, decision_);
        out.print_line(fmt::format("graph      {}  n {}  m {}  fingerprint {}", graph.record.name, graph.record.n_rows,
                                   graph.record.m, graph.record.fingerprint.text()));
        if (rows_.empty()) {
            out.print_line(
                fmt::format("problem    {}  policy {}", to_text(query_.problem), to_text(one_policy(parsed_))));
            out.print_line(fmt::format("device     {}{}", device_.environment.device_name,
                                       is_here() ? "" : ", which is not here"));
            out.print_line("measured   nothing of this graph and problem, " + timing_text(parsed_));
            answer_->print(out);
            if (!stands_in_.empty()) out.print_line("models     " + stands_in_);
            for (const std::string& line : accuracy_) out.print_line("accuracy   " + line);
            out.print_line();
            out.print(answer_->table());
            return;
        }
        out.print_line(fmt::format("problem    {}  policy {}  clock {}", to_text(query_.problem),
                                   to_text(one_policy(parsed_)), to_text(clock_)));
        out.print_line(fmt::format("measured   on {}, {}, in {}", environment_.device_name,
                                   !is_here()             ? "which is not here"
                                   : differences_.empty() ? "this environment"
                                                          : "another environment than this one",
                                   database_));
        if (!differences_.empty()) {
            out.print_line(fmt::format("differs    there -> here: {}", joined(differences_, ", ")));
        }
        if (decision_.winner) {
            const Candidate& w = candidates_[*decision_.winner];
            out.print_line(
                fmt::format("chosen     {}  {:.2f} us  ({})", w.config.text(), w.median_us, decision_.reason));
            for (const std::size_t i : decision_.tied) {
                out.print_line(
                    fmt::format("tied       {}  {:.2f} us", candidates_[i].config.text(), candidates_[i].median_us));
            }
            if (decision_.runner_up) {
                const Candidate& r = candidates_[*decision_.runner_up];
                out.print_line(fmt::format("runner-up  {}  {:.2f} us  ({:+.1f} % time)", r.config.text(), r.median_us,
                                           100 * (r.median_us / w.median_us - 1)));
            }
            print_counters(out, w);
            if (!unmeasured_.empty()) {
                out.print_line("unmeasured " + joined(unmeasured_, ", ") +
                               ", of which the cost model knows nothing either: gnntune tune");
            }
            for (const std::string& line : accuracy_) out.print_line("accuracy   " + line);
            out.print(objectives.text(out.color()));
        } else {
            out.print_line("database   nothing of it can be used: " + why_nothing());
            if (answer_) answer_->print(out);
            if (!stands_in_.empty()) out.print_line("models     " + stands_in_);
        }
        out.print_line();
        out.print(table(objectives));
    }

private:
    /// What the lines above the table say, for JSON.
    Json subject(const store::GraphRow& graph) const {
        const bool measured = !rows_.empty();
        Json json;
        json["graph"] = graph.record.name;
        json["fingerprint"] = graph.record.fingerprint.text();
        json["n_rows"] = graph.record.n_rows;
        json["m"] = graph.record.m;
        json["problem"] = to_text(query_.problem);
        json["policy"] = to_text(one_policy(parsed_));
        json["clock"] = measured ? Json(to_text(clock_)) : Json();
        json["database"] = measured ? Json(database_) : Json();
        if (decision_.winner) {
            json.update({{"chosen", candidates_[*decision_.winner].config.text()},
                         {"source", "measured"},
                         {"model", nullptr},
                         {"reason", decision_.reason}});
        } else if (answer_) {
            json.update(answer_->facts());
        } else {
            json.update({{"chosen", nullptr}, {"source", nullptr}, {"model", nullptr}, {"reason", why_nothing()}});
        }
        json["unusable"] = measured && !decision_.winner ? Json(why_nothing()) : Json();
        json["unmeasured"] = unmeasured_;
        json["environment_differs"] = differences_;
        json["accuracy"] = accuracy_;
        return json;
    }

    /// Why no row can be chosen.
    std::string why_nothing() const {
        if (!candidates_.empty()) return decision_.reason;
        const auto is_erratum = [this](const Measurement& m) {
            const Variant* v = registry().find(m.config.variant);
            return v && !erratum_words(registry(), query_, *v, m.config.params, m.parts).empty();
        };
        if (std::any_of(rows_.begin(), rows_.end(), is_erratum)) {
            return "it was measured, and errata keep what could run from running (gnntune db errata)";
        }
        return "what was measured failed, or is of variants that this build lacks or has in another version";
    }

    bool is_here() const { return device_.backend == Backend::cpu || cuda_device_count() > 0; }

    // What the dispatcher does then. Without features of the graph nothing can be predicted.
    void ask_model(const store::Store& store) {
        if (!features_) return;
        Query query = query_;
        query.features = &*features_;
        const auto snapshot = store::Snapshot::load(store::layers_over(store.path()), device_.environment);
        ModelAnswer::Refusals measured;
        for (const Rejection& r : decision_.rejected) measured[candidates_[r.candidate].config.text()] = r.reason;
        answer_.emplace(snapshot, query, one_policy(parsed_), constraints(parsed_), measured);
        stands_in_ = store::stands_in(&store, device_.environment);
    }

    // Databases that were shipped have the fastest rows only: what is not among them is news if no model knows it.
    void list_unmeasured(const store::Store& store) {
        std::set<std::string> measured;
        for (const Measurement& m : rows_) measured.insert(m.config.variant);
        for (const store::LayeredModel& m : store::models_of_layers(store, device_.environment)) {
            const bool asked = m.row.op == query_.problem.op && m.row.backend == device_.backend &&
                               m.row.policy == one_policy(parsed_);
            if (!asked) continue;
            try {
                const model::Model fitted = model::from_bytes(m.row.bytes);
                if (!fitted.ranks(query_.problem)) return;
                for (std::string& id : unknown_to(fitted, query_)) {
                    if (!measured.contains(id)) unmeasured_.push_back(std::move(id));
                }
            } catch (const Error&) {  // a model that this build cannot read: predict says so
            }
            return;
        }
    }

    void print_counters(Output& out, const Candidate& winner) const {
        const Measurement* measured = nullptr;
        for (const Measurement& m : rows_) {
            if (m.config == winner.config) measured = &m;
        }
        if (!measured || !measured->counters) return;
        const Counters& c = *measured->counters;
        const Work work = features_ ? work_of(query_, gathered_rows(query_.problem, *features_)) : Work();
        const auto limits = tuner::limits_of(c, measured->median_us, constants_);
        out.print_line("counters   " + counters_text(c));
        out.print_line("           " + conclusion(c, limits, work));
    }

    Table table(const Objectives& objectives) const {
        Table table({{"config", "config", ""},
                     {"time_us", "time", "us"},
                     {"ci_us", "+-", "us"},
                     {"relative", "of best", "x"},
                     {"build_us", "build", "us", 0},
                     {"break_even_calls", "break-even", "calls", 0},
                     {"workspace_bytes", "workspace", "B", 0},
                     {"deterministic", "repeats", ""},
                     {"max_error", "max error", "", 9},
                     {"status", "status", ""},
                     {"note", "note", ""},
                     {"dram_bytes", "", "", 0, false},
                     {"l2_bytes", "", "", 0, false},
                     {"bound", "", "", 0, false},
                     {"cheapest_from_calls", "", "", 0, false},
                     {"chosen_from_error", "", "", 0, false}});
        std::map<std::string, std::string> notes;
        for (const Rejection& r : decision_.rejected) notes[candidates_[r.candidate].config.text()] = r.reason;
        std::vector<const Measurement*> shown;
        std::map<std::string, const Measurement*> newest;
        for (const Measurement& m : rows_) newest[m.config.text()] = &m;
        for (const auto& [text, m] : newest) shown.push_back(m);
        const auto order = [](const Measurement* m) {
            return std::pair(m->status != MeasurementStatus::ok,
                             m->median_us > 0 ? m->median_us : std::numeric_limits<double>::infinity());
        };
        std::stable_sort(shown.begin(), shown.end(), [&](auto* a, auto* b) { return order(a) < order(b); });
        const double best = shown.empty() ? 0 : shown.front()->median_us;
        const auto is_chosen = [this](const Measurement& m) {
            return decision_.winner && candidates_[*decision_.winner].config == m.config;
        };
        std::map<std::string, int> seen;
        for (const Measurement* m : shown) {
            const bool later = m->status == MeasurementStatus::ok && seen[m->config.variant]++ > 0;
            if (!parsed_.flag("all") && later && !is_chosen(*m)) continue;
            if (!parsed_.flag("all") && m->status == MeasurementStatus::abandoned) continue;
            const Variant* v = registry().find(m->config.variant);
            std::string note = notes.count(m->config.text()) ? "rejected: " + notes[m->config.text()] : m->reason;
            if (!v)
                note = "this build has no such variant";
            else if (v->version != m->variant_version)
                note = "stale: version " + std::to_string(m->variant_version);
            else if (const std::string words = erratum_words(registry(), query_, *v, m->config.params, m->parts);
                     !words.empty())
                note = words;
            else if (is_chosen(*m))
                note = m->reason.empty() ? "chosen" : "chosen; " + m->reason;
            Cell time;
            Cell spread;
            Cell relative;
            if (m->median_us > 0) {  // calls that did not count leave samples and no time
                time = m->median_us;
                spread = (m->ci_high_us - m->ci_low_us) / 2;
                relative = m->median_us / best;
            }
            Cell dram_bytes;
            Cell l2_bytes;
            Cell bound;
            if (m->counters) {
                if (const auto bytes = m->counters->dram_bytes()) dram_bytes = *bytes;
                if (const auto bytes = m->counters->l2_bytes()) l2_bytes = *bytes;
                bound = std::string(tuner::bound_of(tuner::limits_of(*m->counters, m->median_us, constants_)));
            }
            table.add({m->config.text(), time, spread, relative, m->prepare_us, objectives.break_even_calls(m->config),
                       m->workspace_bytes, m->deterministic, m->max_error, std::string(to_text(m->status)), note,
                       dram_bytes, l2_bytes, bound, objectives.cheapest_from_calls(m->config),
                       objectives.chosen_from_error(m->config)});
        }
        return table;
    }

    const Parsed& parsed_;
    std::string database_;
    Device device_;
    Query query_;
    std::vector<Measurement> rows_;
    std::vector<Candidate> candidates_;
    Decision decision_;
    Environment environment_;
    DeviceConstants constants_;
    std::optional<Features> features_;
    std::optional<ModelAnswer> answer_;    // where no measurement answers
    std::string stands_in_;                // whose models answer, if none was made on this device
    std::vector<std::string> unmeasured_;  // variants that nobody knows anything of
    Clock clock_ = Clock::span;
    std::vector<std::string> accuracy_;     // of trained models with a sum of this problem
    std::vector<std::string> differences_;  // of the environment that measured from this one, if that device is here
};

/// A GPU that the databases know.
Device known_gpu(std::span<const store::Store> layers, std::shared_ptr<const Errata> errata) {
    Device device = tuner::device_of(device_named(layers, "", Backend::cuda));
    device.errata = std::move(errata);
    return device;
}

/// Whether the user's own database has measurements of the graph on CPUs and none on GPUs.
bool tuned_on_cpus_only(const store::Store& own, const store::GraphRow& graph) {
    const auto known = own.find_graphs(graph.record.fingerprint.text());
    if (known.empty()) return false;
    bool cpus = false;
    for (const store::EnvironmentRow& e : own.environments()) {
        const auto of_graph = [&](const store::ProblemRow& p) {
            return !own.measurements({known.front().id, e.id, p.id}).empty();
        };
        const auto problems = own.problems();
        if (std::none_of(problems.begin(), problems.end(), of_graph)) continue;
        if (e.environment.backend != Backend::cpu) return false;
        cpus = true;
    }
    return cpus;
}

/// The databases that answer. Of a graph that is no name in one a database that is not there knows nothing, which is no
/// error: then it is an empty one in a folder that goes away with `scratch`.
std::vector<store::Store> layers_of(const Parsed& parsed, std::optional<store::FolderBeside>& scratch, Output& out) {
    const std::string& graph = parsed.arguments.front();
    const bool named = !names_a_file(graph) && !graph.starts_with(kStandinPrefix);
    const auto path = named ? parsed.common.database_path() : parsed.common.known_database_path();
    auto layers = store::open_layers(path, named ? store::WhenMissing::error : store::WhenMissing::nothing,
                                     [&out](const std::string& sentence) { out.warn(sentence); });
    if (parsed.common.db && !store::is_there(path)) {
        out.note(path.string() + (layers.empty() ? " is not there, and nothing came with the program"
                                                 : " is not there: only what came with the program answers"));
    }
    if (layers.empty()) layers.push_back(plan_store({}, scratch));
    return layers;
}

/// That of the command line; a GPU that is asked for and not here is the one that the databases know.
Device device_here(std::span<const store::Store> layers, const Parsed& parsed) {
    const bool gpu = parsed.common.device_text.starts_with("cuda");
    return gpu && cuda_device_count() == 0 ? known_gpu(layers, parsed.common.errata()) : parsed.common.device();
}

}  // namespace

int run_explain(const Args& args) {
    const Options options = explain_options();
    auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 1, 1, "gnntune explain [options] GRAPH");
    Output out("explain", parsed->common);
    const auto step = step_of(*parsed);
    const auto wanted = step ? problems_of(*step) : problems(*parsed);
    if (!step && wanted.size() != 1)
        throw invalid_argument(
            "explain looks at one problem: give one --op, one --dim, one --heads, one --weights and one --direction");
    std::optional<store::FolderBeside> scratch;
    const auto layers = layers_of(*parsed, scratch, out);
    Device device = device_here(layers, *parsed);
    auto graph = find_known_graph(layers, *parsed, out);
    // Who tuned a graph on CPUs asks about them; a GPU that is not here answers where it is asked for.
    if (parsed->common.device_text.empty() && device.backend == Backend::cpu &&
        tuned_on_cpus_only(layers.front(), graph)) {
        parsed->common.device_text = "cpu";
    }
    if (step) return explain_step(layers.front(), graph_in(layers.front(), graph), *step, *parsed, device, out);
    const store::Store* store = nullptr;
    // As the dispatcher: the first that measured the problem on this device answers; else the first on any.
    const store::Store* elsewhere_measured = nullptr;
    for (const store::Store& layer : layers) {
        const store::GraphRow here = graph_in(layer, graph);
        if (here.id == 0) continue;
        const auto found = find_environment(layer, device.environment, here.id, {wanted.front()}, *parsed);
        if (!found) continue;
        if (!elsewhere_measured) elsewhere_measured = &layer;
        if (found->environment.device_name != device.environment.device_name) continue;
        store = &layer;
        break;
    }
    if (!store) store = elsewhere_measured;
    if (store) graph = graph_in(*store, graph);
    // Nobody measured it: the models are asked, of a GPU too where this machine has none.
    const bool elsewhere = !store && device.backend == Backend::cpu && cuda_device_count() == 0;
    if (elsewhere && backend_of_models(layers, *parsed) == Backend::cuda) device = known_gpu(layers, device.errata);
    if (!store) {
        store = &layers.front();
        graph = graph_in(*store, graph);
    }
    Explanation(*store, graph, wanted.front(), *parsed, device).print(out, graph);
    return kExitOk;
}

}  // namespace gnntune::tools

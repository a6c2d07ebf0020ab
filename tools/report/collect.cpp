#include "tools/report/collect.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "core/common/error.hpp"
#include "core/dispatch/candidates.hpp"
#include "core/dispatch/plan.hpp"
#include "profiles/fields/features_json.hpp"
#include "profiles/snapshot/layers.hpp"
#include "tools/report/collect_parts.hpp"
#include "tuner/training.hpp"

namespace gnntune::tools::report {
namespace {

/// A group of rows: a problem on a graph and device, under one policy and clock.
struct Place {
    std::size_t setting = 0;
    std::size_t graph = 0;
    std::int64_t graph_id = 0;
    std::int64_t problem_id = 0;
    Problem problem;
    std::vector<Measurement> rows;  ///< in the order taken
};

Problem without_width(Problem problem) {
    problem.k = 1;
    return problem;
}

class Collector {
public:
    Collector(const store::Store& store, const Registry& registry, const CollectOptions& options)
        : store_(store), registry_(registry), options_(options) {
        report_.database = store.path().string();
        if (options.score) report_.score_database = options.score->path().string();
        report_.tool = options.tool;
        report_.made_at = options.made_at;
    }

    Report run() {
        guarded([&] { read_lists(); });
        guarded([&] { read_rows(); });
        timeless_.say(report_);
        find_newest();
        if (!options_.graphs.empty()) {
            std::erase_if(report_.runs, [this](const store::RunRow& run) { return !used_runs_.contains(run.id); });
        }
        for (Place& place : places_) add_case(place);
        places_.clear();
        finish_settings();
        guarded([&] { add_choices(); });
        for (Setting& setting : report_.settings) {
            for (Case& c : setting.cases) decide(setting, c);
        }
        if (options_.score) score();
        guarded([&] { report_.steps = steps_of(store_, registry_, report_, devices_); });
        guarded([&] { report_.fitted = fitted_models(store_); });
        const int folds = options_.folds.value_or(timed() <= kMostJudged ? 5 : 0);
        if (folds > 0) {
            guarded([&] { report_.models = judged_models(store_, registry_, report_, folds, options_); });
        }
        say_what_is_missing(report_, folds);
        return std::move(report_);
    }

private:
    std::size_t timed() const {
        std::size_t n = 0;
        for (const Outcomes& o : report_.outcomes) {
            for (const MeasurementStatus status : {MeasurementStatus::ok, MeasurementStatus::abandoned}) {
                if (const auto found = o.counts.find(status); found != o.counts.end())
                    n += static_cast<std::size_t>(found->second);
            }
        }
        return n;
    }

    /// What is damaged is said, and the rest goes on without it.
    template <class F>
    void guarded(F&& work) {
        try {
            work();
        } catch (const store::StatementStopped&) {
            throw;
        } catch (const Error& e) {
            if (e.kind() != ErrorKind::database) throw;
            if (std::find(report_.damage.begin(), report_.damage.end(), e.what()) == report_.damage.end()) {
                report_.damage.emplace_back(e.what());
            }
        }
    }

    void read_lists() {
        report_.environments = store_.environments();
        const auto errata = store::errata_of(store::layers_over(store_.path()));
        for (const store::EnvironmentRow& row : report_.environments) {
            devices_.emplace(row.id, tuner::device_of(row.environment)).first->second.errata = errata;
        }
        guarded([&] { report_.runs = store_.runs(); });
        guarded([&] { report_.errata = store_.errata(); });
        const auto wanted = [&](std::int64_t id) {
            return options_.graphs.empty() ||
                   std::find(options_.graphs.begin(), options_.graphs.end(), id) != options_.graphs.end();
        };
        for (store::GraphRow& row : store_.graphs()) {
            if (!wanted(row.id)) {
                other_graphs_.push_back(row.id);
                continue;
            }
            if (row.measurements == 0) continue;
            report_.graphs.push_back({row.id, std::move(row.record), {}});
        }
        std::sort(report_.graphs.begin(), report_.graphs.end(), [](const GraphFacts& a, const GraphFacts& b) {
            return std::tuple(a.record.name, a.record.fingerprint.text()) <
                   std::tuple(b.record.name, b.record.fingerprint.text());
        });
        for (GraphFacts& graph : report_.graphs) graph.features = store::features_from(graph.record.features_json);
    }

    void read_rows() {
        const auto problems = store_.problems();
        for (const store::EnvironmentRow& environment : report_.environments) {
            ClockFacts clocks{environment.id, {}};
            for (const store::ProblemRow& problem : problems) {
                // Other graphs count too where it is asked which version of a variant is the newest.
                for (const std::int64_t id : other_graphs_) {
                    guarded([&] {
                        for (const Measurement& m : store_.measurements({id, environment.id, problem.id}))
                            see_versions(m);
                    });
                }
                for (std::size_t g = 0; g < report_.graphs.size(); ++g) {
                    guarded([&] { read_place(environment, problem, g, clocks); });
                }
            }
            if (!clocks.mhz.empty()) report_.clocks.push_back(std::move(clocks));
        }
    }

    void read_place(const store::EnvironmentRow& environment, const store::ProblemRow& problem, std::size_t g,
                    ClockFacts& clocks) {
        std::map<std::pair<Policy, Clock>, std::vector<Measurement>> groups;
        const std::int64_t id = report_.graphs[g].id;
        for (store::StoredMeasurement& row : store_.stored_measurements({id, environment.id, problem.id})) {
            Measurement& m = row.measurement;
            see_versions(m);
            count(m);
            used_runs_.insert(row.run);
            if (timeless_.takes(m, report_.graphs[g].record.name)) continue;
            if (m.sm_clock_mhz > 0) ++clocks.mhz[m.sm_clock_mhz];
            groups[{m.policy, m.clock}].push_back(std::move(m));
        }
        for (auto& [how, rows] : groups) {
            const std::size_t setting = setting_of(environment, problem.problem, how.first, how.second);
            places_.push_back({setting, g, id, problem.id, problem.problem, std::move(rows)});
        }
    }

    std::size_t setting_of(const store::EnvironmentRow& environment, const Problem& problem, Policy policy,
                           Clock clock) {
        const Problem what = without_width(problem);
        for (std::size_t i = 0; i < report_.settings.size(); ++i) {
            const Setting& s = report_.settings[i];
            if (s.environment_id == environment.id && s.problem == what && s.policy == policy && s.clock == clock)
                return i;
        }
        report_.settings.push_back({environment.id,
                                    environment.environment,
                                    store::constants_of_layers(store_, environment.environment),
                                    what,
                                    policy,
                                    clock,
                                    {},
                                    {}});
        return report_.settings.size() - 1;
    }

    void see_versions(const Measurement& m) {
        const auto see = [&](const std::string& variant, std::int32_t version) {
            std::int32_t& newest = newest_[variant];
            newest = std::max(newest, version);
        };
        see(m.config.variant, m.variant_version);
        for (const PartVersion& part : m.parts) see(part.config.variant, part.variant_version);
    }

    void count(const Measurement& m) {
        ++report_.measurements;
        ++outcomes_[m.config.variant][m.status];
        if (m.status != MeasurementStatus::ok && m.status != MeasurementStatus::abandoned) {
            ++failures_[{m.config.variant, m.status, m.reason}];
        }
        if (report_.first_taken_at.empty() || m.taken_at < report_.first_taken_at) report_.first_taken_at = m.taken_at;
        report_.last_taken_at = std::max(report_.last_taken_at, m.taken_at);
    }

    void find_newest() {
        for (auto& [variant, counts] : outcomes_) {
            report_.outcomes.push_back({variant, newest_[variant], is_outdated(variant, newest_[variant]), counts});
        }
        for (const auto& [what, n] : failures_) {
            report_.failures.push_back({std::get<0>(what), std::get<1>(what), std::get<2>(what), n});
        }
        std::stable_sort(report_.failures.begin(), report_.failures.end(),
                         [](const FailureFacts& a, const FailureFacts& b) { return a.count > b.count; });
    }

    bool is_outdated(const std::string& id, std::int32_t version) const {
        const Variant* variant = registry_.find(id);
        return variant && variant->version != version;
    }

    /// As the view `usable`, whatever the status.
    bool counts(const Measurement& m) const {
        if (m.variant_version != newest_.at(m.config.variant)) return false;
        return std::none_of(m.parts.begin(), m.parts.end(), [&](const PartVersion& part) {
            return part.variant_version < newest_.at(part.config.variant);
        });
    }

    void add_case(Place& place) {
        std::map<std::string, std::size_t> newest;
        for (std::size_t i = 0; i < place.rows.size(); ++i) {
            const Measurement& m = place.rows[i];
            if (m.variant_version == newest_.at(m.config.variant)) newest.insert_or_assign(m.config.text(), i);
        }
        // In the order of the file: of equal times the first is the fastest, as the view `best` has it.
        std::map<std::size_t, std::string> in_order;
        for (const auto& [text, i] : newest) in_order.emplace(i, text);
        Setting& setting = report_.settings[place.setting];
        Case c;
        c.graph = place.graph;
        c.problem = place.problem;
        const Query query = query_of(setting, c);
        for (const auto& [i, text] : in_order) {
            Measurement& m = place.rows[i];
            if (!counts(m)) continue;
            Row row;
            const Variant* variant = registry_.find(m.config.variant);
            row.config = text;
            row.answer = answer_of(m, variant);
            row.by_library = is_library(m.config.variant, variant);
            row.outdated = is_outdated(m.config.variant, m.variant_version);
            row.held_back = variant && !erratum_words(registry_, query, *variant, m.config.params, m.parts).empty();
            if (variant && !row.outdated) row.capturable = may_be_captured(registry_, m.config, m.parts);
            row.measured = std::move(m);
            c.rows.push_back(std::move(row));
        }
        if (c.rows.empty()) return;
        std::stable_sort(c.rows.begin(), c.rows.end(), [](const Row& a, const Row& b) {
            const auto rank = [](const Row& r) { return r.ok() ? 0 : r.timed() ? 1 : 2; };
            return std::pair(rank(a), rank(a) < 2 ? a.measured.median_us : 0) <
                   std::pair(rank(b), rank(b) < 2 ? b.measured.median_us : 0);
        });
        setting.cases.push_back(std::move(c));
    }

    void finish_settings() {
        std::erase_if(report_.settings, [](const Setting& s) { return s.cases.empty(); });
        for (Setting& setting : report_.settings) {
            std::set<std::int32_t> widths;
            for (const Case& c : setting.cases) widths.insert(c.problem.k);
            setting.widths.assign(widths.begin(), widths.end());
            std::stable_sort(setting.cases.begin(), setting.cases.end(), [](const Case& a, const Case& b) {
                return std::pair(a.graph, a.problem.k) < std::pair(b.graph, b.problem.k);
            });
        }
        // Newer environments first, of one with more cases, of as many in the order of the ops.
        std::stable_sort(report_.settings.begin(), report_.settings.end(), [](const Setting& a, const Setting& b) {
            const auto key = [](const Setting& s) {
                return std::tuple(-static_cast<std::int64_t>(s.cases.size()), s.policy, s.problem.op, s.problem.heads,
                                  s.problem.dtype, s.problem.reduce, s.clock, -s.environment_id);
            };
            return key(a) < key(b);
        });
    }

    Query query_of(const Setting& setting, const Case& c) const {
        const GraphFacts& g = report_.graphs[c.graph];
        const bool reversed = c.problem.direction == Direction::reversed;
        return {c.problem,  reversed ? g.record.n_cols : g.record.n_rows, reversed ? g.record.n_rows : g.record.n_cols,
                g.record.m, g.features ? &*g.features : nullptr,          &devices_.at(setting.environment_id)};
    }

    void add_choices() {
        std::map<std::int64_t, std::size_t> graphs;
        for (std::size_t g = 0; g < report_.graphs.size(); ++g) graphs[report_.graphs[g].id] = g;
        for (const store::ChoiceRow& choice : store_.choices()) {
            const auto graph = graphs.find(choice.key.graph);
            if (graph == graphs.end()) continue;
            for (Setting& setting : report_.settings) {
                if (setting.environment_id != choice.key.environment || setting.policy != choice.policy ||
                    setting.clock != choice.clock || setting.problem != without_width(choice.problem)) {
                    continue;
                }
                for (Case& c : setting.cases) {
                    if (c.graph != graph->second || c.problem != choice.problem) continue;
                    const std::string text = choice.choice.config.text();
                    for (std::size_t i = 0; i < c.rows.size(); ++i) {
                        const Row& row = c.rows[i];
                        if (row.ok() && row.config == text &&
                            row.measured.variant_version == choice.choice.variant_version) {
                            c.chosen = i;
                        }
                    }
                }
            }
        }
    }

    // Who is held against whom.
    void decide(const Setting& setting, Case& c) const {
        const Query query = query_of(setting, c);
        std::string untuned;
        try {
            untuned = registry_.default_config(query, {}).text();
        } catch (const Error&) {  // this build has no variant of the op and backend
        }
        std::vector<Candidate> candidates;
        for (std::size_t i = 0; i < c.rows.size(); ++i) {
            const Row& row = c.rows[i];
            if (row.ok()) candidates.push_back(as_measured(row));
            if (row.may_win() && !c.fastest) c.fastest = i;
            if (!row.timed() || row.answer != Answer::exact) continue;
            if (row.config == untuned && !row.outdated) c.untuned = i;
            if (!row.by_library) continue;
            const auto slower = [&](const std::optional<std::size_t>& than) {
                return than && c.rows[*than].measured.median_us <= row.measured.median_us;
            };
            if (!slower(c.best_library)) c.best_library = i;
            if (is_library_default(query, row) && !slower(c.default_library)) c.default_library = i;
        }
        c.calls = calls_ranges(candidates, {});
        c.errors = error_front(candidates, {});
        c.scores = {time_of(c, c.won()), time_of(c, c.untuned), time_of(c, c.default_library),
                    time_of(c, c.best_library)};
        if (!query.features) return;
        const Roofline roof = roofline(query, gathered_rows(c.problem, *query.features), setting.constants);
        c.roofline = roof;
    }

    static std::optional<double> time_of(const Case& c, const std::optional<std::size_t>& row) {
        return row ? std::optional(c.rows[*row].measured.median_us) : std::nullopt;
    }

    // Candidates stand in the order of the rows that are ok, so that their indices are those of the rows.
    Candidate as_measured(const Row& row) const {
        const Measurement& m = row.measured;
        Candidate out;
        out.config = m.config;
        out.median_us = m.median_us;
        out.ci_low_us = m.ci_low_us;
        out.ci_high_us = m.ci_high_us;
        out.build_us = m.prepare_us;
        out.format_bytes = m.format_bytes;
        out.workspace_bytes = m.workspace_bytes;
        out.deterministic = m.deterministic;
        out.capturable = row.capturable && !row.held_back;
        out.approximate = row.answer == Answer::sampled;
        out.precision =
            row.answer == Answer::exact || row.answer == Answer::sampled ? Precision::fp32 : Precision::tf32;
        out.max_error = m.max_error;
        return out;
    }

    bool is_library_default(const Query& query, const Row& row) const {
        if (const Variant* variant = registry_.find(row.measured.config.variant)) {
            return row.measured.config.params == variant->default_params(query);
        }
        // Unknown here: the algorithm that it calls its default, with nothing added.
        return row.config.find("alg=default") != std::string::npos &&
               row.config.find("preprocess=1") == std::string::npos;
    }

    // The same configs in another run, on the same device.
    void score() {
        const store::Store& other = *options_.score;
        const auto environments = other.environments();
        for (Setting& setting : report_.settings) {
            std::optional<std::int64_t> environment;
            int near = 0;
            for (const store::EnvironmentRow& row : environments) {
                if (row.environment == setting.environment) {
                    environment = row.id;
                    near = 1;
                    break;
                }
                if (row.environment.device_name != setting.environment.device_name) continue;
                environment = row.id;
                ++near;
            }
            if (near != 1) {
                const std::string words =
                    near == 0 ? other.path().string() + " has no rows of " + setting.environment.device_name
                              : other.path().string() + " has rows of several environments of " +
                                    setting.environment.device_name + " and none of this one";
                report_.remarks.push_back(words + ": what was chosen for " + setting.what() + " has no score");
            }
            for (Case& c : setting.cases) {
                c.scores = {};
                const auto graph = other.find_graph_id(report_.graphs[c.graph].record.fingerprint);
                const auto problem = other.find_problem_id(c.problem);
                if (near != 1 || !graph || !problem) continue;
                std::map<std::string, Measurement> newest;
                for (Measurement& m :
                     other.measurements({*graph, *environment, *problem}, {setting.policy, setting.clock, {}})) {
                    newest.insert_or_assign(m.config.text(), std::move(m));
                }
                const auto there = [&](const std::optional<std::size_t>& row) -> std::optional<double> {
                    if (!row) return std::nullopt;
                    const auto found = newest.find(c.rows[*row].config);
                    if (found == newest.end() || found->second.median_us <= 0 || !has_times(found->second) ||
                        found->second.variant_version != c.rows[*row].measured.variant_version) {
                        return std::nullopt;
                    }
                    return found->second.median_us;
                };
                c.scores = {there(c.won()), there(c.untuned), there(c.default_library), there(c.best_library)};
            }
        }
    }

    const store::Store& store_;
    const Registry& registry_;
    const CollectOptions& options_;
    Report report_;
    std::vector<Place> places_;
    std::vector<std::int64_t> other_graphs_;
    std::map<std::int64_t, Device> devices_;
    std::set<std::int64_t> used_runs_;
    Timeless timeless_;
    std::map<std::string, std::int32_t> newest_;
    std::map<std::string, std::map<MeasurementStatus, std::int64_t>> outcomes_;
    std::map<std::tuple<std::string, MeasurementStatus, std::string>, std::int64_t> failures_;
};

}  // namespace

Report collect(const store::Store& store, const Registry& registry, const CollectOptions& options) {
    return Collector(store, registry, options).run();
}

}  // namespace gnntune::tools::report

// gnntune db verify: a sample of the rows timed again, and which of them no longer hold.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <tuple>
#include <utility>

#include "core/common/error.hpp"
#include "profiles/snapshot/snapshot.hpp"
#include "tools/common/exclusive.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/interrupt.hpp"
#include "tools/common/machine_load.hpp"
#include "tools/common/open_store.hpp"
#include "tools/common/output.hpp"
#include "tools/common/problems.hpp"
#include "tools/common/program.hpp"
#include "tools/common/progress.hpp"
#include "tools/common/verdicts.hpp"
#include "tools/db/db.hpp"
#include "tools/db/graph_again.hpp"
#include "tuner/clocks.hpp"
#include "tuner/measuring/measure.hpp"

namespace gnntune::tools {
namespace {

constexpr const char* kVerifyUsage = "gnntune db verify [options] [DB]";

/// A row that counts, of this device and this build.
struct Row {
    const store::GraphRow* graph = nullptr;
    Environment environment;
    Problem problem;
    Measurement stored;
    std::optional<Measurement> now;
};

enum class Holds { yes, no, unclear };

/// What became of a row.
struct Verified {
    Holds holds = Holds::unclear;
    std::string verdict;  ///< SAME, FAST, ..., or the status that it has now
    std::string across;
    std::string reason;
    double ratio = 0;  ///< now over stored; 0: there is none
};

bool is_current(const std::string& variant, std::int32_t version) {
    const Variant* v = registry().find(variant);
    return v && v->version == version;
}

/// The rows of a database that can be timed again here, and how many cannot.
struct Rows {
    std::vector<Row> rows;
    std::int64_t elsewhere = 0;  ///< of other devices
    std::int64_t outdated = 0;   ///< of variants that this build lacks or has in another version
    std::int64_t clockless = 0;  ///< timed by a clock that cannot be had here

    std::string left_out() const {
        return fmt::format(
            "{} rows are of other devices, {} of variants that this build lacks or has in another version, "
            "{} timed by a clock that cannot be had here",
            elsewhere, outdated, clockless);
    }
};

// Of the rows of one attempt the last counts (docs/database.md), and of those that count the ones with status ok.
std::vector<const Measurement*> counting(const std::vector<Measurement>& rows) {
    std::map<std::string, const Measurement*> last;
    for (const Measurement& m : rows) {
        last[fmt::format("{} @{} {} {}", m.config.text(), m.variant_version, to_text(m.policy), to_text(m.clock))] = &m;
    }
    std::vector<const Measurement*> out;
    for (const auto& [attempt, m] : last) {
        if (m->status == MeasurementStatus::ok) out.push_back(m);
    }
    return out;
}

Rows rows_of(const store::Store& store, const std::vector<store::GraphRow>& graphs, const Environment& here,
             const std::vector<Clock>& clocks) {
    Rows out;
    const auto problems = store.problems();
    for (const store::EnvironmentRow& e : store.environments()) {
        const bool ours = store::match(e.environment, here) != store::EnvironmentMatch::none;
        for (const store::GraphRow& g : graphs) {
            for (const store::ProblemRow& p : problems) {
                const auto measurements = store.measurements({g.id, e.id, p.id});
                for (const Measurement* m : counting(measurements)) {
                    const bool current = is_current(m->config.variant, m->variant_version) &&
                                         std::all_of(m->parts.begin(), m->parts.end(), [](const PartVersion& part) {
                                             return is_current(part.config.variant, part.variant_version);
                                         });
                    if (!ours) {
                        ++out.elsewhere;
                    } else if (!current) {
                        ++out.outdated;
                    } else if (std::find(clocks.begin(), clocks.end(), m->clock) == clocks.end()) {
                        ++out.clockless;
                    } else {
                        out.rows.push_back({&g, e.environment, p.problem, *m, {}});
                    }
                }
            }
        }
    }
    return out;
}

/// Draws rows in an order that the seed fixes, and times them.
class Verifier {
public:
    Verifier(std::vector<Row> rows, std::int64_t sample, const Device& device, std::uint64_t seed, Output& out)
        : rows_(std::move(rows)), sample_(sample), device_(device), seed_(seed), out_(out) {
        std::mt19937_64 random(seed);
        for (std::size_t i = rows_.size(); i > 1; --i) std::swap(rows_[i - 1], rows_[random() % i]);
    }

    /// Until the sample is complete, no row is left, or the user stops it: then false.
    bool run() {
        Progress progress(out_, "verify", std::min<std::int64_t>(sample_, static_cast<std::int64_t>(rows_.size())));
        progress_ = &progress;
        for (std::size_t next = 0; next < rows_.size() && done() < sample_;) {
            // By graph, so that each is read once; where one cannot be had, the next round draws others.
            std::map<std::int64_t, std::vector<Row*>> batch;
            for (std::int64_t missing = sample_ - done(); missing > 0 && next < rows_.size(); ++next) {
                if (lost_.contains(rows_[next].graph->id)) continue;
                batch[rows_[next].graph->id].push_back(&rows_[next]);
                --missing;
            }
            for (const auto& [id, rows] : batch) {
                if (!time(rows)) return false;
            }
        }
        return true;
    }

    /// Those that were timed, or tried, again.
    const std::vector<const Row*>& verified() const { return verified_; }
    /// Why each graph that could not be had could not.
    const std::vector<std::string>& lost() const { return lost_words_; }

private:
    std::int64_t done() const { return static_cast<std::int64_t>(verified_.size()); }

    /// The rows of one graph.
    bool time(const std::vector<Row*>& rows) {
        if (interrupted()) return false;
        const store::GraphRow& record = *rows.front()->graph;
        std::optional<InputGraph> input;
        try {
            input = graph_again(record, out_);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::input) throw;
            lost_.insert(record.id);
            lost_words_.push_back(
                fmt::format("{}: the graph cannot be had again: {}", record.record.name, error.what()));
            return true;
        }
        tuner::GraphWorkload graph(registry(), device_, std::move(input->graph));
        graph.graph().features();
        std::vector<Row*> left = rows;
        while (!left.empty()) {
            const Row& first = *left.front();
            const auto others = std::stable_partition(left.begin(), left.end(), [&first](const Row* r) {
                return r->problem == first.problem && r->stored.policy == first.stored.policy &&
                       r->stored.clock == first.stored.clock;
            });
            if (!time(graph, {left.begin(), others})) return false;
            left.erase(left.begin(), others);
        }
        return true;
    }

    /// The rows of one problem, policy and clock, against each other as tuning does it.
    bool time(tuner::GraphWorkload& graph, const std::vector<Row*>& rows) {
        const Measurement& first = rows.front()->stored;
        progress_->update(
            done(), fmt::format("{}, {}", rows.front()->graph->record.name, short_problem(rows.front()->problem)));
        std::vector<tuner::Contender> contenders;
        for (const Row* row : rows) {
            const bool known = std::any_of(contenders.begin(), contenders.end(),
                                           [row](const auto& c) { return c.config == row->stored.config; });
            if (known) continue;  // of a near environment too
            tuner::Contender c;
            c.config = row->stored.config;
            c.keep = true;
            contenders.push_back(std::move(c));
        }
        tuner::ProblemWorkload workload(graph, rows.front()->problem, seed_);
        tuner::MeasureHooks hooks;
        hooks.stop = [] { return interrupted(); };
        tuner::Frontier frontier;
        const auto stopwatch = tuner::make_stopwatch(first.clock, device_, graph.stream());
        if (!tuner::measure(workload, contenders, *stopwatch, first.policy, {}, hooks, frontier)) return false;
        for (Row* row : rows) {
            row->now = std::find_if(contenders.begin(), contenders.end(), [row](const auto& c) {
                           return c.config == row->stored.config;
                       })->measurement;
            verified_.push_back(row);
        }
        return true;
    }

    std::vector<Row> rows_;
    std::int64_t sample_;
    const Device& device_;
    std::uint64_t seed_;
    Output& out_;
    Progress* progress_ = nullptr;
    std::vector<const Row*> verified_;
    std::set<std::int64_t> lost_;  // graphs
    std::vector<std::string> lost_words_;
};

Verified outcome_of(const Row& row, const Environment& here) {
    const store::GraphRow& g = *row.graph;
    tuner::Side stored;
    stored.measurements.push_back({g.record.fingerprint, g.record.name, row.environment, row.problem, row.stored});
    tuner::Side now;
    now.measurements.push_back({g.record.fingerprint, g.record.name, here, row.problem, *row.now});
    const tuner::Comparison comparison = tuner::compare(stored, now, {true});
    Verified out;
    if (comparison.pairs.empty()) {
        out.holds = row.now->disturbed() ? Holds::unclear : Holds::no;
        out.verdict = to_text(row.now->status);
        out.reason = row.now->reason;
        return out;
    }
    const tuner::Pair& pair = comparison.pairs.front();
    const tuner::Judged verdict = pair.judgement.verdict;
    out.holds = verdict == tuner::Judged::same        ? Holds::yes
                : verdict == tuner::Judged::ambiguous ? Holds::unclear
                                                      : Holds::no;
    out.verdict = to_text(verdict);
    out.across = pair.across;
    out.reason = pair.judgement.reason;
    out.ratio = pair.judgement.ratio;
    return out;
}

std::vector<Clock> clocks_of(const Device& device, Output& out) {
    if (device.backend == Backend::cpu) return {Clock::host};
    const auto usable = tuner::usable_clocks(device, {Clock::span, Clock::events});
    for (const std::string& warning : usable.warnings) out.warn(warning);
    return usable.clocks;
}

/// Rows that do not hold first, then by graph.
Table table_of(const std::vector<std::pair<const Row*, Verified>>& rows) {
    Table table({{"holds", "holds", ""},
                 {"verdict", "verdict", ""},
                 {"graph", "graph", ""},
                 {"problem", "problem", ""},
                 {"config", "config", ""},
                 {"policy", "policy", ""},
                 {"clock", "clock", ""},
                 {"stored_us", "stored", "us"},
                 {"stored_ci_low_us", "stored low", "us", 2, false},
                 {"stored_ci_high_us", "stored high", "us", 2, false},
                 {"time_us", "now", "us"},
                 {"ci_low_us", "low", "us", 2, false},
                 {"ci_high_us", "high", "us", 2, false},
                 {"ratio", "now/stored", "", 3},
                 {"max_error", "max error", "", 9},
                 {"worst_ratio", "of tolerance", "", 3},
                 {"taken_at", "taken", "", 0, false},
                 {"across", "across", ""},
                 {"reason", "because", ""}});
    for (const auto& [row, outcome] : rows) {
        const Measurement& then = row->stored;
        const Measurement& now = *row->now;
        const bool timed = now.status == MeasurementStatus::ok;
        const auto of_time = [timed](double us) { return timed ? Cell(us) : Cell(); };
        const bool checked = timed || now.status == MeasurementStatus::wrong;
        table.add({outcome.holds == Holds::yes  ? std::string("yes")
                   : outcome.holds == Holds::no ? "no"
                                                : "unclear",
                   outcome.verdict, row->graph->record.name, short_problem(row->problem), then.config.text(),
                   std::string(to_text(then.policy)), std::string(to_text(then.clock)), then.median_us, then.ci_low_us,
                   then.ci_high_us, of_time(now.median_us), of_time(now.ci_low_us), of_time(now.ci_high_us),
                   outcome.ratio > 0 ? Cell(outcome.ratio) : Cell(), checked ? Cell(now.max_error) : Cell(),
                   checked ? Cell(now.worst_ratio) : Cell(), then.taken_at, outcome.across, outcome.reason},
                  outcome.holds == Holds::yes  ? Style::plain
                  : outcome.holds == Holds::no ? Style::bad
                                               : Style::dim);
    }
    return table;
}

}  // namespace

int run_db_verify(const Args& args) {
    Options options("db verify",
                    {kVerifyUsage,
                     "Times a sample of the rows again that count, of this device or a near one, checks their results "
                     "against the oracle, and says which no longer hold. Graphs come from the files and recipes that "
                     "their rows name. Changes nothing in the database.",
                     {"gnntune db verify", "gnntune db verify colleague.db --sample 50 --seed 2",
                      "gnntune db verify --device cpu --csv > verified.csv"}});
    // clang-format off
    options.group("Choice").add_options()
        ("sample", value("N", "20"), "rows to time again");
    // clang-format on
    add_exclusive_options(options);
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 0, 1, kVerifyUsage);
    const std::int64_t sample = *parsed->integer("sample", 1, INT64_MAX);
    const bool named = !parsed->arguments.empty();
    if (named && parsed->common.db) throw invalid_argument("give the database once: as DB, or with --db");
    CommonOptions common = parsed->common;
    if (named) common.db = parsed->arguments.front();

    Output out("db.verify", common);
    const store::Store store = open_for_reading(common, out);
    const Device device = common.device();
    out.set_device(device);
    const auto lock = exclusive(device, *parsed, out);
    if (interrupted()) return kExitInterrupted;
    if (const auto warning = load_warning(device, "run this again")) out.warn(*warning);
    const auto graphs = store.graphs();
    Rows rows = rows_of(store, graphs, device.environment, clocks_of(device, out));
    const std::string left_out = rows.left_out();
    if (rows.rows.empty()) {
        throw input_error(fmt::format("{}: no row can be timed again on {}: {}", store.path().string(),
                                      device.environment.device_name, left_out));
    }
    out.detail(left_out);

    const std::size_t of = rows.rows.size();
    Verifier verifier(std::move(rows.rows), sample, device, common.seed, out);
    const bool complete = verifier.run();
    out.warn_of_many(verifier.lost(), [](std::size_t more) {
        return fmt::format("{} graphs more cannot be had again; --verbose lists them", more);
    });
    std::vector<std::pair<const Row*, Verified>> outcomes;
    std::map<Holds, std::int64_t> count;
    bool wrong = false;
    for (const Row* row : verifier.verified()) {
        outcomes.emplace_back(row, outcome_of(*row, device.environment));
        ++count[outcomes.back().second.holds];
        wrong |= row->now->status == MeasurementStatus::wrong;
    }
    std::stable_sort(outcomes.begin(), outcomes.end(), [](const auto& a, const auto& b) {
        const auto key = [](const auto& o) {
            return std::tuple(o.second.holds != Holds::no, o.second.holds == Holds::yes, o.first->graph->record.name);
        };
        return key(a) < key(b);
    });
    out.print(table_of(outcomes));
    out.note(fmt::format("{} of {} rows timed again, drawn with seed {}: {} hold, {} no longer hold, {} are unclear",
                         outcomes.size(), of, common.seed, count[Holds::yes], count[Holds::no], count[Holds::unclear]));
    if (!complete) {
        out.warn("stopped; rows that were not timed to the end are not in the table");
        return kExitInterrupted;
    }
    if (outcomes.empty()) return kExitInput;
    if (wrong) return kExitVerification;
    return count[Holds::no] > 0 ? kExitRuntime : kExitOk;
}

}  // namespace gnntune::tools

// The numbers of a report: what a database says of a tuning, without any picture. Plain values.
//
// What counts is what counts in the views of the database: the newest row of each config, of the newest version of its
// variant that the file knows. A report is about what was found, whatever versions the program has by now; what it has in
// another version is marked.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/dispatch/objectives.hpp"
#include "core/features/features.hpp"
#include "core/model/roofline.hpp"
#include "profiles/store/store.hpp"

namespace gnntune::tools::report {

struct GraphFacts {
    std::int64_t id = 0;  ///< in the database
    GraphRecord record;
    std::optional<Features> features;  ///< nothing if the database has too few of them
};

/// How a config's answer is meant to differ from the exact one. `approximate`: somehow; this build does not have the
/// variant, so nobody can say how.
enum class Answer { exact, reduced, sampled, approximate };
/// "exact", "tf32 or less", "sampled", "approximate"
std::string_view to_text(Answer answer);

/// The newest measurement of a config of a problem, in any status.
struct Row {
    Measurement measured;
    std::string config;  ///< its text
    Answer answer = Answer::exact;
    bool by_library = false;  ///< a well-known library's routine
    bool outdated = false;    ///< this build has another version of the variant
    bool held_back = false;   ///< by an erratum: it must not run
    bool capturable = true;   ///< as far as this build knows

    bool ok() const { return measured.status == MeasurementStatus::ok; }
    bool timed() const { return ok() || measured.status == MeasurementStatus::abandoned; }
    /// "exact"; "sampled, must not run"
    std::string words() const;
    /// Whether it is among what the view `best` looks at.
    bool may_win() const { return ok() && answer == Answer::exact; }
};

/// Times of the configs that a choice is held against, microseconds; nothing where that config has none.
struct Scores {
    std::optional<double> won_us;
    std::optional<double> untuned_us;          ///< what runs where nothing is known
    std::optional<double> library_default_us;  ///< the library as it comes
    std::optional<double> library_best_us;     ///< the fastest exact config of any library

    static std::optional<double> ratio(const std::optional<double>& other, const std::optional<double>& won);
    std::optional<double> over_untuned() const { return ratio(untuned_us, won_us); }
    std::optional<double> over_library_default() const { return ratio(library_default_us, won_us); }
    std::optional<double> over_library_best() const { return ratio(library_best_us, won_us); }
};

/// What a winner makes of its roofline, beside the rates of the device.
struct Rate {
    bool gathers = true;  ///< gathering is the higher limit, else moving every byte once
    double gbps = 0;      ///< of that limit's bytes
};

/// A problem on a graph, under the policy and clock of its setting.
struct Case {
    std::size_t graph = 0;  ///< index into Report::graphs
    Problem problem;
    std::vector<Row> rows;  ///< ok ones fastest first, then those that were given up early, then the others
    // Indices into rows.
    std::optional<std::size_t> fastest;  ///< exact
    std::optional<std::size_t> chosen;   ///< by the last tuning, whatever it was allowed
    std::optional<std::size_t> untuned;
    std::optional<std::size_t> default_library;
    std::optional<std::size_t> best_library;
    Scores scores;  ///< of the scoring database where there is one, else of the rows
    std::optional<Roofline> roofline;
    std::vector<CallsRange> calls;   ///< their candidates are indices into rows
    std::vector<ErrorPoint> errors;  ///< the same

    /// What an application gets: what was chosen, else the fastest.
    std::optional<std::size_t> won() const { return chosen ? chosen : fastest; }
    const Row* winner() const { return won() ? &rows[*won()] : nullptr; }
    /// Of the roofline, as a share of 1; nothing without one, and of a winner that drops edges.
    std::optional<double> roofline_share() const;
    /// How fast the winner moves the bytes of whichever limit of the roofline is the higher one; nothing where the share
    /// would have none.
    std::optional<Rate> rate() const;
};

/// What a figure is about: all but graph and width.
struct Setting {
    std::int64_t environment_id = 0;
    Environment environment;
    DeviceConstants constants;
    Problem problem;  ///< its k says nothing
    Policy policy = Policy::hot;
    Clock clock = Clock::events;
    std::vector<Case> cases;           ///< by graph, then k
    std::vector<std::int32_t> widths;  ///< ascending

    /// "spmm f32 sum weighted forward"
    std::string what() const;
    /// "NVIDIA H200, hot, clock events"
    std::string where() const;
    /// What the library is called whose exact configs were timed: "cusparse"; "the library" where there are several.
    std::string its_library() const;
    const Case* find(std::size_t graph, std::int32_t k) const;
};

/// A choice for all calls of a training step, and what else could have been chosen.
struct StepWay {
    std::string name;  ///< "together"
    std::string about;
    std::vector<double> call_us;  ///< of each call, all its runs of a step
    double build_us = 0;
    double total_us = 0;  ///< over the expected steps
    double step_us() const;
};
struct StepFacts {
    std::size_t graph = 0;
    Environment environment;
    Policy policy = Policy::hot;
    Clock clock = Clock::events;
    std::string step;  ///< "gcn 64,7"
    double expected_steps = 1;
    std::vector<std::string> roles;    ///< of the calls
    std::vector<std::string> configs;  ///< chosen together
    std::vector<StepWay> ways;         ///< together first
};

/// The choice of a model for a problem of a graph that it did not learn from.
struct ModelCase {
    std::string graph;
    Problem problem;
    std::string chosen;
    double expected_us = 0;  ///< as the model says
    double measured_us = 0;
    double best_us = 0;
    std::map<std::string, double> efficiency;  ///< of other strategies too (tuner/evaluate.hpp); above 0
};
struct ModelFacts {
    Op op = Op::spmm;
    Backend backend = Backend::cuda;
    Policy policy = Policy::hot;
    Clock clock = Clock::events;
    int folds = 0;
    bool other_run = false;  ///< scored by another database
    std::vector<ModelCase> cases;
};

struct Outcomes {
    std::string variant;
    std::int32_t version = 0;  ///< the newest
    bool outdated = false;
    std::map<MeasurementStatus, std::int64_t> counts;  ///< of all rows that stand in the file
};
struct FailureFacts {
    std::string variant;
    MeasurementStatus status = MeasurementStatus::failed;
    std::string reason;
    std::int64_t count = 0;
};
struct ClockFacts {
    std::int64_t environment_id = 0;
    std::map<std::int32_t, std::int64_t> mhz;  ///< measurements beside which that clock was read
};

/// The name of its device as it is shown: cut where it is very long.
std::string shown_device(const Environment& environment);

/// Parts of a report, each a section of the page.
enum class Part { won, limit, gain, graphs, building, model, step, origin };
inline constexpr std::size_t kParts = 8;

struct Report {
    std::string database;        ///< the path as it was given
    std::string score_database;  ///< of another run; empty: choices are scored by the times that made them
    std::string tool;            ///< "gnntune 0.1.0"
    std::string made_at;
    std::string only;  ///< the graphs that were asked for, in words; empty: all

    std::vector<GraphFacts> graphs;  ///< with measurements, by name
    std::vector<Setting> settings;   ///< those with most cases first
    std::vector<StepFacts> steps;
    std::vector<ModelFacts> models;
    std::vector<store::ModelRow> fitted;  ///< without their bytes
    std::vector<store::EnvironmentRow> environments;
    std::vector<store::RunRow> runs;
    std::vector<store::ErratumRow> errata;
    std::vector<Outcomes> outcomes;
    std::vector<FailureFacts> failures;
    std::vector<ClockFacts> clocks;
    std::int64_t measurements = 0;  ///< rows in the file, of the graphs that were asked for
    std::string first_taken_at;
    std::string last_taken_at;

    std::map<Part, std::vector<std::string>> missing;  ///< why a part has nothing, and what fills it
    std::vector<std::string> remarks;                  ///< what was passed over while reading
    std::vector<std::string> damage;                   ///< what could not be read; the file should be rescued

    std::size_t problems() const;
};

}  // namespace gnntune::tools::report

// The store: graphs, environments, problems, measurements and choices in one SQLite file (docs/database.md).
//
// Thread-safety: a Store belongs to one thread at a time. Any number of threads and processes may work on the same file
// with a Store each; writers queue for up to five seconds. A Store is not carried across fork().
// Errors: every function throws ErrorKind::database if the file cannot be read or written, naming the file, what was
// being done and what to do; the functions add further errors where they say so. A failed write changes nothing.
// What reads rows passes over those that this build cannot read, with words of later versions or damaged texts, and says
// so once to OpenOptions::warn; check() names them.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/graph/fingerprint.hpp"
#include "core/registry/errata.hpp"
#include "core/registry/measurement.hpp"
#include "core/registry/op.hpp"
#include "profiles/database/file_system.hpp"
#include "profiles/database/migration.hpp"
#include "profiles/store/model_rows.hpp"

namespace gnntune::store {

enum class Mode {
    read_write_create,
    read_only,
    untouched,  ///< read_only, and nothing is made or changed: not the file, its log or its folder (Access::untouched)
};

enum class Journal {
    automatic,  ///< WAL on a local file system, rollback on a network file system (with a warning)
    wal,
    rollback,  ///< no side files once closed: for files that are shipped
};

/// The version of a variant that this build has; nothing if it has none of that id. The caller knows the registry.
using VersionHere = std::function<std::optional<std::int32_t>(std::string_view variant)>;

struct OpenOptions {
    Journal journal = Journal::automatic;
    /// Receives sentences about things that work, but not as one may expect. May be empty.
    std::function<void(const std::string&)> warn;
    std::span<const Migration> migrations = shipped_migrations();
    /// Says which version of a variant counts in best() and prune(): this one's. Of variants that it does not know, and
    /// of all if it is empty, the newest that was measured.
    VersionHere version_here{};
    /// A damaged file is renamed to FILE.damaged-TIME and a new one begun, with a warning; else it is an error. For
    /// Mode::read_write_create.
    bool set_damaged_aside = false;
    /// Opens a file of this program although its tables are not those of its schema, so that check() can say what is
    /// wrong; nothing else may be asked then. For Mode::read_only.
    bool any_schema = false;
};

/// What a run of a tool says about itself.
struct RunInfo {
    std::string command;       ///< the command line, as it can be typed again
    std::string tool_version;  ///< "0.1.0"
    std::string git_commit;    ///< of the tool; empty if it was built outside a checkout
    std::int64_t seed = 0;     ///< of everything random in the run
    std::string host;          ///< free text: machine, load, clock settings
};

/// The three row ids that nearly every question is asked for.
struct Key {
    std::int64_t graph = 0;
    std::int64_t environment = 0;
    std::int64_t problem = 0;
    auto operator<=>(const Key&) const = default;
};

/// What makes an attempt the same attempt: Store::done() has those that a resumed run does not take again.
struct Attempt {
    std::string config;  ///< canonical text
    std::int32_t variant_version = 1;
    Policy policy = Policy::hot;
    Clock clock = Clock::events;
    std::string parts;  ///< parts_text() of a composition's parts, else empty
    bool operator==(const Attempt&) const = default;
};
struct AttemptHash {
    std::size_t operator()(const Attempt& attempt) const noexcept;
};
using AttemptSet = std::unordered_set<Attempt, AttemptHash>;
/// "spmm.rows{vec=4}@1 edge_softmax.rows@2", in the order given.
std::string parts_text(std::span<const PartVersion> parts);

struct MeasurementFilter {
    std::optional<Policy> policy;
    std::optional<Clock> clock;
    std::optional<std::int64_t> run;  ///< to decide on one run and score on another
};

struct StoredMeasurement {
    std::int64_t id = 0;
    std::int64_t run = 0;
    Measurement measurement;
};

/// What a graph is called that nobody has named: the first twelve digits of its fingerprint.
std::string stand_in_name(const Fingerprint& fingerprint);

struct GraphRow {
    std::int64_t id = 0;
    GraphRecord record;
    std::vector<std::string> other_names;
    std::vector<std::string> other_sources;  ///< under these names, one each
    std::int64_t measurements = 0;
};
struct EnvironmentRow {
    std::int64_t id = 0;
    Environment environment;
};
struct ProblemRow {
    std::int64_t id = 0;
    Problem problem;
};
struct RunRow {
    std::int64_t id = 0;
    RunInfo info;
    std::string started_at;
    std::optional<std::string> ended_at;  ///< nothing while it runs, and for ever if it was killed
    std::int64_t measurements = 0;
    std::int64_t ok = 0;
};
struct ChoiceRow {
    Key key;
    std::string graph_name;
    Environment environment;
    Problem problem;
    Policy policy = Policy::hot;
    Clock clock = Clock::events;
    Choice choice;
    std::int64_t run = 0;  ///< the run that decided
    std::string decided_at;
};
/// The fastest exact config of its key, as the view `best` has it.
struct BestRow {
    std::string graph;
    Op op = Op::spmm;
    std::int32_t k = 0;
    std::string problem;
    std::string device;
    Policy policy = Policy::hot;
    Clock clock = Clock::events;
    std::string config;
    double time_us = 0;
    std::optional<double> cusparse_us;  ///< fastest variant with cusparse in its id, if one was measured
    std::optional<double> vs_cusparse;  ///< cusparse_us / time_us
    std::optional<std::string> runner_up;
    std::optional<double> margin_percent;  ///< by which the runner-up is slower
    bool deterministic = false;
    std::string taken_at;
    std::int64_t environment = 0;
    Key key;
    std::vector<PartVersion> parts;  ///< of a composition
};

/// A measured constant of a device: "copy_gbps", or "gather_gbps" at a table of `table_bytes` read in rows of
/// `row_bytes`. The sizes are 0 for constants that do not depend on them.
struct DeviceConstant {
    std::string name;
    std::int64_t table_bytes = 0;
    std::int64_t row_bytes = 0;
    double value = 0;
    std::string unit;      ///< "GB/s"
    std::string taken_at;  ///< filled with the present time if empty
};

/// A fitted cost model (core/model/model.hpp) with where it came from.
struct ModelRow {
    Op op = Op::spmm;
    Backend backend = Backend::cuda;
    Policy policy = Policy::hot;
    Clock clock = Clock::events;
    std::int32_t feature_version = 0;
    std::string bytes;     ///< model::to_bytes()
    std::string training;  ///< JSON object: what it was fitted to
    std::string scores;    ///< JSON object: how good it was on graphs that it had not seen; {} if nobody looked
    std::string tool_version;
    std::string git_commit;
    std::string fitted_at;  ///< filled with the present time if empty
};

/// "spmm, cuda, policy hot, clock events, fitted 2026-11-21T09:30:00Z by gnntune 0.1.0 (6fcf5c76be03)"
std::string to_text(const ModelRow& model);

/// A row of the errata.
struct ErratumRow {
    std::int64_t id = 0;
    std::string condition;  ///< as it stands there
    std::string reason;
    std::string added_at;
    std::optional<Erratum> erratum;  ///< nothing if somebody has damaged its text, or it is of a later version
    std::string complaint;           ///< then: why
};

/// A choice whose measurements changed, by its place.
struct OpenChoice {
    Key key;
    Policy policy = Policy::hot;
    Clock clock = Clock::events;
};

/// A choice that another database made otherwise.
struct ChoiceConflict {
    OpenChoice where;
    std::string words;  ///< the place and both configs; which of them stands is there when merge() is done
};

/// What merge() did.
struct MergeReport {
    std::int64_t graphs = 0;  ///< added, as are the others
    std::int64_t environments = 0;
    std::int64_t runs = 0;
    std::int64_t measurements = 0;
    std::int64_t known = 0;   ///< measurements that were here already
    std::int64_t models = 0;  ///< new, or in the place of another
    std::int64_t errata = 0;  ///< new, or with another reason
    /// What the two databases say differently, a sentence each: configs that were wrong in one and right in the other,
    /// configs whose times are more than twice apart, models. Of models one that this build reads stays, then that of newer features, of more graphs, the newer; none
    /// whose bytes are damaged. Rows and choices that were taken in before are not named again.
    std::vector<std::string> conflicts;
    std::vector<ChoiceConflict> choice_conflicts;  ///< of both the newer stays, until it is made again
    std::vector<std::string> notes;                ///< errata that come, go or stay removed, and stamps past now
    std::vector<OpenChoice> open_choices;          ///< choices beside which measurements were added: to be made again
};

/// Configs of one problem on one graph and environment, under one policy and clock, whose times are still to be had.
struct UnfinishedRow {
    std::string graph_name;
    std::string device_name;
    std::string problem;  ///< for people
    Policy policy = Policy::hot;
    Clock clock = Clock::events;
    std::int64_t disturbed = 0;      ///< configs that could not be timed beside other programs
    std::int64_t stopped_early = 0;  ///< configs that count with fewer samples than they should have
};

/// What prune() did.
struct PruneReport {
    std::int64_t superseded = 0;  ///< measurements of configs that were measured again
    std::int64_t outdated = 0;    ///< measurements of older versions of variants
    std::int64_t bytes_before = 0;
    std::int64_t bytes_after = 0;
    std::string not_smaller;  ///< why the file could not be made smaller; the rows are gone all the same
};

/// Says in words what is wrong with a config of that version, or nothing: the caller knows the registry.
/// `untaken`: none of the database's problems need take it: it stands in rows that say so (`refused`), or as a part of
/// compositions.
using ConfigCheck = std::function<std::optional<std::string>(const Config& config, std::int32_t version, bool untaken)>;

class Store {
public:
    /// Opens or creates a store. An older schema is copied aside and moved forward (not in Mode::read_only, which
    /// refuses it unless later schemas only add tables, which count as empty). Throws ErrorKind::database in words if the
    /// file is no gnntune database, has a newer schema, or tables, views or indices that are not those of its schema, is
    /// missing (Mode::read_only) or cannot be written (Mode::read_write_create).
    static Store open(const std::filesystem::path& path, Mode mode, const OpenOptions& options = {});

    Store(Store&&) noexcept;
    Store& operator=(Store&&) noexcept;
    ~Store();

    /// Copies what is committed in `from`, which stays untouched, to `target`, which must not exist. Throws
    /// ErrorKind::database in words as open() does for a file that may not be written to as it is.
    static void copy_untouched(const std::filesystem::path& from, const std::filesystem::path& target);

    const std::filesystem::path& path() const;
    int schema() const;

    /// Groups the writes that follow into one commit. Rolled back if it is destroyed before commit(). Without one,
    /// every writing function commits by itself. Do not nest.
    Transaction transaction();

    /// After a FileMoved, when nothing more is written to this: brings all that the file held, and the measurements that
    /// could not be written any more, to where they are found. That is the file itself if it was renamed; else a copy
    /// beside it, in the current folder or in that for temporary files. Returns a sentence that says where, and how to
    /// go on. Throws ErrorKind::database in words if there is room nowhere.
    std::string save_elsewhere();

    // --- Rows by value: found or added ---

    /// By fingerprint. The first name stays, unless it is stand_in_name(), and further ones are kept beside it; features
    /// replace older ones unless empty.
    /// Sizes that contradict the row of that fingerprint replace its own, which says so to OpenOptions::warn: they are
    /// part of the fingerprint. Throws ErrorKind::invalid_argument if features_json is no JSON.
    std::int64_t graph_id(const GraphRecord& graph);
    std::int64_t environment_id(const Environment& environment);
    /// Throws ErrorKind::invalid_argument if the problem is not valid.
    std::int64_t problem_id(const Problem& problem);
    /// The same without adding.
    std::optional<std::int64_t> find_graph_id(const Fingerprint& fingerprint) const;
    std::optional<std::int64_t> find_environment_id(const Environment& environment) const;
    std::optional<std::int64_t> find_problem_id(const Problem& problem) const;

    // --- Writing ---

    std::int64_t begin_run(const RunInfo& info);
    void end_run(std::int64_t run);
    /// Adds one attempt; it is on its way to the disk when this returns (unless a transaction is open). taken_at is
    /// filled with the present time if empty. One whose time could not be had (Measurement::disturbed()) is not added
    /// where the store has a row of its attempt that did not fail; that one's id is returned. Throws ErrorKind::invalid_argument for status ok without a time above
    /// zero.
    std::int64_t add_measurement(std::int64_t run, const Key& key, const Measurement& measurement);
    /// Gives a measurement its counters; replaces those that it had.
    void put_counters(std::int64_t measurement, const Counters& counters);
    /// Replaces the choice of (key, policy, clock). Throws ErrorKind::invalid_argument if source is "measured" and no
    /// ok measurement of that config and version stands under that key, policy and clock: what was not checked is not
    /// chosen.
    void set_choice(std::int64_t run, const Key& key, Policy policy, Clock clock, const Choice& choice);
    /// Replaces the choice of (graph, environment, step, policy, clock). Throws ErrorKind::invalid_argument if a call
    /// has no ok measurement of its config and version under that policy and clock.
    void set_step_choice(std::int64_t run, std::int64_t graph, std::int64_t environment, Policy policy, Clock clock,
                         const StepChoice& choice);
    /// Replaces the cost of that base, format and direction.
    void put_format_build(std::int64_t graph, std::int64_t environment, const FormatBuild& build);
    /// Replaces the constant of that name and sizes.
    void put_device_constant(std::int64_t environment, const DeviceConstant& constant);

    /// Replaces the model of its op, backend, policy and clock.
    void put_model(const ModelRow& model);
    /// False if there is none.
    bool remove_model(Op op, Backend backend, Policy policy, Clock clock);

    /// Replaces the reason of an erratum of the same condition. Returns its id.
    std::int64_t add_erratum(const Erratum& erratum);
    /// Remembers that it was removed, so that merge() does not bring it back. False if there is none of that id.
    bool remove_erratum(std::int64_t id);

    /// Takes in everything of another database, in one commit, with the same result in whatever order databases are taken
    /// in, and nothing new the second time (docs/database.md, Merging). Throws ErrorKind::database, and takes in nothing,
    /// if that file is no database of this schema, contradicts this one about a graph, or has rows, triggers or indices
    /// that check(`check`) has something against; and ErrorKind::invalid_argument if it is this one.
    MergeReport merge(const std::filesystem::path& from, const ConfigCheck& check = {});

    /// Throws as merge() would for the rows of this database, if another one took it in now.
    void require_mergeable(const ConfigCheck& check = {}) const;

    /// Removes what no choice and no view asks for: measurements of a config that was measured again with the same
    /// version of its variant (a failure never replaces a success), and those of versions older than the one that
    /// counts (OpenOptions::version_here) unless they are chosen; with their parts and counters. In many short commits, so that others go on writing. Then makes the file smaller.
    /// `dry_run`: counts only, which Mode::untouched allows too.
    PruneReport prune(bool dry_run);

    // --- Reading ---

    /// All attempts done for a key, in one query. Failed ones are not among them, since out of memory and other programs
    /// on the processor may pass, nor those that were stopped early: a resumed run takes them again.
    AttemptSet done(const Key& key) const;
    /// What has measurements of a policy and clock, in order of graph, environment and problem.
    std::vector<Key> measured(Policy policy, Clock clock) const;
    /// Attempts in the order they were taken, all statuses.
    std::vector<Measurement> measurements(const Key& key, const MeasurementFilter& filter = {}) const;
    std::vector<StoredMeasurement> stored_measurements(const Key& key, const MeasurementFilter& filter = {}) const;
    /// Nothing also for a choice whose texts somebody has damaged.
    std::optional<Choice> choice(const Key& key, Policy policy, Clock clock) const;
    /// In order of base, format, direction.
    std::vector<FormatBuild> format_builds(std::int64_t graph, std::int64_t environment) const;
    /// In order of name, table_bytes, row_bytes.
    std::vector<DeviceConstant> device_constants(std::int64_t environment, std::string_view name = {}) const;

    /// In order of op, backend, policy and clock.
    /// `backend`: only its own; the bytes of others, which are large, are not read.
    std::vector<ModelRow> models(std::optional<Backend> backend = {}) const;

    /// In order of id; none of a file that is older than they are.
    std::vector<ErratumRow> errata() const;

    // --- Listing (list.cpp) ---

    std::vector<GraphRow> graphs() const;
    std::vector<EnvironmentRow> environments() const;
    std::vector<ProblemRow> problems() const;
    std::vector<RunRow> runs() const;
    std::vector<ChoiceRow> choices() const;
    /// In order of graph name, step, environment, policy and clock.
    std::vector<StepChoiceRow> step_choices() const;
    /// In order of graph name, model, environment and time (accuracy.cpp).
    std::vector<AccuracyRow> accuracies() const;
    /// In order of graph name, op, k, problem, device, policy and clock (best.cpp).
    std::vector<BestRow> best() const;
    /// Graphs that were ever called `text`; if there are none, those whose fingerprint starts with it (4 digits or
    /// more).
    std::vector<GraphRow> find_graphs(std::string_view text) const;

    /// Where a later tuning has something to take again.
    std::vector<UnfinishedRow> unfinished() const;

    // --- Checking (check.cpp) ---

    /// Everything wrong with the file, one sentence each; empty if it is sound. Compares its schema with that of its
    /// number; if that is another, says nothing else. Asks SQLite for damage and dangling rows, looks for choices that no measurement supports and texts that do not parse, and asks `check` (if given)
    /// about every config of the newest version that stands in the file.
    std::vector<std::string> check(const ConfigCheck& check = {}) const;
    /// Whether its tables, views and indices are those of its schema.
    bool has_own_schema() const;
    /// Tables and views that somebody else has put into it.
    std::vector<std::string> others() const;

    /// What is no fault, but strange, one sentence each: time stamps past now, cost models of other features.
    std::vector<std::string> doubts() const;

    /// For this folder (csv.cpp) and its tests.
    const Database& database() const;

private:
    struct Impl;
    explicit Store(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace gnntune::store

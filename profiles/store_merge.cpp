// Store: everything of another database taken in. Rows are compared by value, so the same file merged twice adds
// nothing.
#include <fmt/format.h>

#include <array>

#include "core/common/error.hpp"
#include "core/model/model.hpp"
#include "core/model/model_features.hpp"
#include "profiles/features_json.hpp"
#include "profiles/merge_check.hpp"
#include "profiles/rows.hpp"
#include "profiles/store_impl.hpp"

namespace gnntune::store {
namespace {

/// `other` is the database that is taken in, as SQLite knows it, for as long as this lives.
class Attached {
public:
    /// Read-only, so that SQLite asks for no write lock there: others go on writing to it meanwhile.
    Attached(const Database& database, const std::filesystem::path& path, Access access) : database_(database) {
        database.prepare("ATTACH ? AS other", "attaching " + path.string()).bind(uri_of(path, access)).run();
    }
    Attached(const Attached&) = delete;
    Attached& operator=(const Attached&) = delete;
    ~Attached() {
        try {
            database_.execute("DETACH other", "detaching");
        } catch (const Error&) {
            // The connection goes with the store.
        }
    }

private:
    const Database& database_;
};

// Ids of the other database and of this one, in temporary tables. A row is the same if all of its values are. The first
// twelve digits of a fingerprint stand in for a name (stand_in_name) until either file has one.
constexpr const char* kFindOrAdd = R"sql(
DROP TABLE IF EXISTS temp.merge_graph;
DROP TABLE IF EXISTS temp.merge_environment;
DROP TABLE IF EXISTS temp.merge_problem;
DROP TABLE IF EXISTS temp.merge_run;
DROP TABLE IF EXISTS temp.merge_measurement;

INSERT OR IGNORE INTO variant SELECT * FROM other.variant;
UPDATE variant SET (op, backend, deterministic, approximate) =
    (SELECT coalesce(variant.op, t.op), coalesce(variant.backend, t.backend),
            coalesce(variant.deterministic, t.deterministic), coalesce(variant.approximate, t.approximate)
     FROM other.variant AS t WHERE t.id = variant.id AND t.version = variant.version)
WHERE op IS NULL AND (id, version) IN (SELECT id, version FROM other.variant WHERE op IS NOT NULL);

INSERT INTO graph (fingerprint, n_rows, n_cols, m, name, source, features)
SELECT fingerprint, n_rows, n_cols, m, name, source, features FROM other.graph
WHERE fingerprint NOT IN (SELECT fingerprint FROM graph) ORDER BY id;
CREATE TEMP TABLE merge_graph AS
SELECT t.id AS theirs, o.id AS ours FROM other.graph AS t JOIN main.graph AS o USING (fingerprint);
UPDATE graph SET (name, source) = (SELECT t.name, t.source FROM other.graph AS t WHERE t.fingerprint = graph.fingerprint)
WHERE name = substr(fingerprint, 1, 12)
  AND EXISTS (SELECT 1 FROM other.graph AS t
              WHERE t.fingerprint = graph.fingerprint AND t.name NOT IN ('', substr(t.fingerprint, 1, 12)));
DELETE FROM graph_name WHERE name = (SELECT o.name FROM main.graph AS o WHERE o.id = graph_id);
INSERT OR IGNORE INTO graph_name (graph_id, name, source)
SELECT ours, names.name, names.source
FROM (SELECT id AS graph_id, name, source FROM other.graph UNION ALL SELECT * FROM other.graph_name) AS names
JOIN temp.merge_graph ON theirs = names.graph_id
JOIN main.graph AS o ON o.id = ours
WHERE names.name NOT IN (o.name, substr(o.fingerprint, 1, 12));

INSERT OR IGNORE INTO environment (backend, device_name, compute_capability, multiprocessors, memory_bytes, l2_bytes,
                                   driver, cuda_runtime, libraries)
SELECT backend, device_name, compute_capability, multiprocessors, memory_bytes, l2_bytes, driver, cuda_runtime, libraries
FROM other.environment ORDER BY id;
CREATE TEMP TABLE merge_environment AS
SELECT t.id AS theirs, o.id AS ours FROM other.environment AS t
JOIN main.environment AS o USING (backend, device_name, compute_capability, multiprocessors, memory_bytes, l2_bytes,
                                  driver, cuda_runtime, libraries);

INSERT OR IGNORE INTO problem (op, k, heads, dtype, reduce, weighted, direction, self_loop, text)
SELECT op, k, heads, dtype, reduce, weighted, direction, self_loop, text FROM other.problem ORDER BY id;
CREATE TEMP TABLE merge_problem AS
SELECT t.id AS theirs, o.id AS ours FROM other.problem AS t
JOIN main.problem AS o USING (op, k, heads, dtype, reduce, weighted, direction, self_loop);

INSERT INTO run (command, tool_version, git_commit, started_at, ended_at, seed, host)
SELECT command, tool_version, git_commit, started_at, ended_at, seed, host FROM other.run AS t
WHERE NOT EXISTS (SELECT 1 FROM main.run AS o
                  WHERE o.command = t.command AND o.tool_version = t.tool_version AND o.git_commit = t.git_commit
                    AND o.started_at = t.started_at AND o.seed = t.seed AND o.host = t.host)
ORDER BY id;
CREATE TEMP TABLE merge_run AS
SELECT t.id AS theirs, min(o.id) AS ours FROM other.run AS t
JOIN main.run AS o USING (command, tool_version, git_commit, started_at, seed, host) GROUP BY t.id;
UPDATE run SET ended_at = (SELECT t.ended_at FROM other.run AS t JOIN temp.merge_run ON theirs = t.id WHERE ours = run.id)
WHERE ended_at IS NULL AND id IN (SELECT ours FROM temp.merge_run);

CREATE TEMP TABLE merge_measurement AS
SELECT t.id AS theirs,
       (SELECT coalesce(max(id), 0) FROM main.measurement) + row_number() OVER (ORDER BY t.id) AS ours,
       g.ours AS graph_id, e.ours AS environment_id, p.ours AS problem_id, r.ours AS run_id
FROM other.measurement AS t
JOIN temp.merge_graph AS g ON g.theirs = t.graph_id
JOIN temp.merge_environment AS e ON e.theirs = t.environment_id
JOIN temp.merge_problem AS p ON p.theirs = t.problem_id
JOIN temp.merge_run AS r ON r.theirs = t.run_id
WHERE NOT EXISTS (
    SELECT 1 FROM main.measurement AS o
    WHERE o.graph_id = g.ours AND o.environment_id = e.ours AND o.problem_id = p.ours AND o.policy = t.policy
      AND o.clock = t.clock AND o.config = t.config AND o.variant_version = t.variant_version AND o.run_id = r.ours
      AND o.status = t.status AND o.median_us IS t.median_us AND o.samples = t.samples AND o.taken_at = t.taken_at);
INSERT INTO measurement
SELECT n.ours, n.graph_id, n.environment_id, n.problem_id, n.run_id, config, variant, variant_version, policy, clock,
       status, reason, median_us, q1_us, q3_us, min_us, ci_low_us, ci_high_us, samples, sm_clock_mhz, prepare_us,
       workspace_bytes, format_bytes, deterministic, approximate, max_error, mean_error, worst_ratio, taken_at
FROM other.measurement AS t JOIN temp.merge_measurement AS n ON n.theirs = t.id ORDER BY n.ours;
INSERT INTO part
SELECT n.ours, position, config, variant, variant_version
FROM other.part AS t JOIN temp.merge_measurement AS n ON n.theirs = t.measurement_id;
INSERT INTO counter
SELECT n.ours, name, value, taken_at
FROM other.counter AS t JOIN temp.merge_measurement AS n ON n.theirs = t.measurement_id;
)sql";

// What could not be timed in one database says nothing where the other has timed it, before or after.
constexpr std::string_view kDropDisturbed = R"sql(
DELETE FROM main.measurement AS d
WHERE d.status = 'failed' AND d.reason GLOB '{}*' AND EXISTS (
    SELECT 1 FROM main.measurement AS o
    WHERE o.graph_id = d.graph_id AND o.environment_id = d.environment_id AND o.problem_id = d.problem_id
      AND o.policy = d.policy AND o.clock = d.clock AND o.config = d.config AND o.variant_version = d.variant_version
      AND o.status <> 'failed'))sql";

// The newest of each counts.
constexpr const char* kTakeNewer = R"sql(
INSERT INTO format_build
SELECT g.ours, e.ours, base, format, direction, build_us, bytes, taken_at FROM other.format_build AS t
JOIN temp.merge_graph AS g ON g.theirs = t.graph_id JOIN temp.merge_environment AS e ON e.theirs = t.environment_id
WHERE true
ON CONFLICT DO UPDATE SET build_us = excluded.build_us, bytes = excluded.bytes, taken_at = excluded.taken_at
    WHERE excluded.taken_at > taken_at;
INSERT INTO device_constant
SELECT e.ours, name, table_bytes, row_bytes, value, unit, taken_at FROM other.device_constant AS t
JOIN temp.merge_environment AS e ON e.theirs = t.environment_id
WHERE true
ON CONFLICT DO UPDATE SET value = excluded.value, unit = excluded.unit, taken_at = excluded.taken_at
    WHERE excluded.taken_at > taken_at;
INSERT INTO model (op, backend, policy, clock, feature_version, bytes, training, scores, tool_version, git_commit,
                   fitted_at)
SELECT op, backend, policy, clock, feature_version, bytes, training, scores, tool_version, git_commit, fitted_at
FROM other.model AS t
WHERE id NOT IN (SELECT id FROM temp.merge_bad_model)
ON CONFLICT DO UPDATE SET feature_version = excluded.feature_version, bytes = excluded.bytes,
    training = excluded.training, scores = excluded.scores, tool_version = excluded.tool_version,
    git_commit = excluded.git_commit, fitted_at = excluded.fitted_at
    WHERE (excluded.feature_version = :readable, excluded.feature_version, coalesce(json_array_length(excluded.training, '$.graphs'), 0), excluded.fitted_at)
        > (feature_version = :readable, feature_version, coalesce(json_array_length(training, '$.graphs'), 0), fitted_at);
INSERT INTO choice (graph_id, environment_id, problem_id, policy, clock, config, variant, variant_version, source, reason,
                    expected_us, tied, run_id, decided_at)
SELECT g.ours, e.ours, p.ours, policy, clock, config, variant, variant_version, source, reason, expected_us, tied, r.ours,
       decided_at
FROM other.choice AS t
JOIN temp.merge_graph AS g ON g.theirs = t.graph_id
JOIN temp.merge_environment AS e ON e.theirs = t.environment_id
JOIN temp.merge_problem AS p ON p.theirs = t.problem_id
JOIN temp.merge_run AS r ON r.theirs = t.run_id
WHERE true
ON CONFLICT DO UPDATE SET config = excluded.config, variant = excluded.variant,
    variant_version = excluded.variant_version, source = excluded.source, reason = excluded.reason,
    expected_us = excluded.expected_us, tied = excluded.tied, run_id = excluded.run_id, decided_at = excluded.decided_at
    WHERE excluded.decided_at > decided_at;
)sql";

// The newer of each step's choices, its calls with it. Nobody makes them again: explain decides from the rows.
constexpr const char* kTakeSteps = R"sql(
DROP TABLE IF EXISTS temp.merge_step;
CREATE TEMP TABLE merge_step AS
SELECT t.id AS theirs, g.ours AS graph_id, e.ours AS environment_id, r.ours AS run_id
FROM other.step_choice AS t
JOIN temp.merge_graph AS g ON g.theirs = t.graph_id
JOIN temp.merge_environment AS e ON e.theirs = t.environment_id
JOIN temp.merge_run AS r ON r.theirs = t.run_id
WHERE NOT EXISTS (SELECT 1 FROM main.step_choice AS o
                  WHERE o.graph_id = g.ours AND o.environment_id = e.ours AND o.step = t.step AND o.policy = t.policy
                    AND o.clock = t.clock AND o.decided_at >= t.decided_at);
DELETE FROM main.step_choice WHERE EXISTS (
    SELECT 1 FROM temp.merge_step AS n JOIN other.step_choice AS t ON t.id = n.theirs
    WHERE n.graph_id = step_choice.graph_id AND n.environment_id = step_choice.environment_id
      AND t.step = step_choice.step AND t.policy = step_choice.policy AND t.clock = step_choice.clock);
INSERT INTO main.step_choice (graph_id, environment_id, step, policy, clock, expected_steps, format_limit_bytes, formats,
                              format_bytes, workspace_bytes, build_us, step_us, reason, run_id, decided_at)
SELECT n.graph_id, n.environment_id, step, policy, clock, expected_steps, format_limit_bytes, formats, format_bytes,
       workspace_bytes, build_us, step_us, reason, n.run_id, decided_at
FROM other.step_choice AS t JOIN temp.merge_step AS n ON n.theirs = t.id ORDER BY t.id;
INSERT INTO main.step_call
SELECT o.id, c.position, p.ours, c.runs_per_step, c.runs_per_graph, c.config, c.variant, c.variant_version, c.formats,
       c.expected_us
FROM other.step_call AS c
JOIN temp.merge_step AS n ON n.theirs = c.step_choice_id
JOIN other.step_choice AS t ON t.id = n.theirs
JOIN main.step_choice AS o ON o.graph_id = n.graph_id AND o.environment_id = n.environment_id AND o.step = t.step
    AND o.policy = t.policy AND o.clock = t.clock
JOIN temp.merge_problem AS p ON p.theirs = c.problem_id;
)sql";

// Of attempts that agree the one with the largest id counts, so ids follow the time at which they were taken. Those of
// one file keep their order even where a clock was set back between them: rows after :before came from the other one.
constexpr const char* kByTime = R"sql(
DROP TABLE IF EXISTS temp.merge_order;
CREATE TEMP TABLE merge_order (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
INSERT INTO temp.merge_order SELECT id, row_number() OVER (ORDER BY at, id) FROM (
    SELECT id, max(taken_at) OVER (PARTITION BY id > :before ORDER BY id) AS at FROM main.measurement);
)sql";

constexpr const char* kRenumber = R"sql(
PRAGMA defer_foreign_keys = ON;
UPDATE measurement SET id = -(SELECT new FROM temp.merge_order WHERE old = id);
UPDATE measurement SET id = -id;
UPDATE part SET measurement_id = -(SELECT new FROM temp.merge_order WHERE old = measurement_id);
UPDATE part SET measurement_id = -measurement_id;
UPDATE counter SET measurement_id = -(SELECT new FROM temp.merge_order WHERE old = measurement_id);
UPDATE counter SET measurement_id = -measurement_id;
)sql";

constexpr const char* kOutOfOrder = R"sql(
SELECT EXISTS (SELECT 1 FROM (SELECT new, lag(new) OVER (ORDER BY old) AS before FROM temp.merge_order)
               WHERE new < before))sql";

/// A script with the number of a name that starts with a colon: scripts of many statements cannot be bound.
std::string with_number(std::string script, std::string_view name, std::int64_t number) {
    for (auto at = script.find(name); at != std::string::npos; at = script.find(name, at)) {
        script.replace(at, name.size(), std::to_string(number));
    }
    return script;
}

/// Features that this build understands replace those that it does not, such as those of older programs.
void take_features(const Database& database) {
    constexpr std::string_view kDoing = "taking in features of graphs";
    Statement different = database.prepare(
        "SELECT o.id, o.features, t.features FROM main.graph AS o JOIN other.graph AS t USING (fingerprint) "
        "WHERE o.features <> t.features",
        kDoing);
    Statement replace = database.prepare("UPDATE main.graph SET features = ? WHERE id = ?", kDoing);
    std::vector<std::pair<std::int64_t, std::string>> better;
    while (different.step()) {
        if (features_from(different.text(1))) continue;
        if (different.view(1) == "{}" || features_from(different.text(2))) {
            better.emplace_back(different.integer(0), different.text(2));
        }
    }
    for (const auto& [id, features] : better) replace.bind(features, id).run();
}

void refuse_contradictions(const Database& database, const std::filesystem::path& from) {
    Statement s = database.prepare(
        "SELECT t.name, t.n_rows, t.n_cols, t.m, o.n_rows, o.n_cols, o.m FROM other.graph AS t JOIN main.graph AS o "
        "USING (fingerprint) WHERE (t.n_rows, t.n_cols, t.m) <> (o.n_rows, o.n_cols, o.m)",
        "comparing graphs");
    if (!s.step()) return;
    throw Error(
        ErrorKind::database,
        fmt::format("{}: the graph {} has {} rows, {} columns and {} edges there, and {}, {} and {} here, under "
                    "one fingerprint; one of the files is damaged (gnntune db check)",
                    from.string(), s.view(0), s.view(1), s.view(2), s.view(3), s.view(4), s.view(5), s.view(6)));
}

// Rows of `t` in the other database and `o` in this one that have the same place.
constexpr const char* kSamePlace =
    " JOIN main.graph AS g ON g.fingerprint = (SELECT fingerprint FROM other.graph WHERE id = t.graph_id)"
    " JOIN main.problem AS p ON p.text = (SELECT text FROM other.problem WHERE id = t.problem_id)"
    " JOIN other.environment AS te ON te.id = t.environment_id"
    " JOIN main.environment AS e USING (backend, device_name, compute_capability, multiprocessors, memory_bytes,"
    " l2_bytes, driver, cuda_runtime, libraries) ";

// What the two files say differently, before anything is written. What was taken in before was said then.
std::vector<std::string> conflicts(const Database& database) {
    std::vector<std::string> out;
    const auto collect = [&](const char* sql) {
        Statement s = database.prepare(sql, "comparing the databases");
        while (s.step()) out.push_back(s.text(0));
    };
    collect(fmt::format(R"sql(
SELECT DISTINCT g.name || ', ' || p.text || ', ' || t.policy || ', ' || t.clock || ': ' || t.config || ' is ' ||
       t.status || ' there and ' || o.status || ' here; both stay, and the one measured last counts'
FROM other.measurement AS t {}
JOIN main.measurement AS o ON o.graph_id = g.id AND o.environment_id = e.id AND o.problem_id = p.id
    AND o.policy = t.policy AND o.clock = t.clock AND o.config = t.config AND o.variant_version = t.variant_version
WHERE (t.status = 'wrong') <> (o.status = 'wrong') AND t.status IN ('ok', 'wrong', 'abandoned')
  AND o.status IN ('ok', 'wrong', 'abandoned')
  AND NOT EXISTS (SELECT 1 FROM main.measurement AS s
                  WHERE s.graph_id = g.id AND s.environment_id = e.id AND s.problem_id = p.id AND s.policy = t.policy
                    AND s.clock = t.clock AND s.config = t.config AND s.variant_version = t.variant_version
                    AND s.status = t.status AND s.taken_at = t.taken_at)
ORDER BY 1)sql",
                        kSamePlace)
                .c_str());
    collect(with_number(R"sql(
SELECT 'the model of ' || t.op || ' on ' || t.backend || ', ' || t.policy || ', ' || t.clock || ': fitted ' ||
       t.fitted_at || ' to ' || coalesce(json_array_length(t.training, '$.graphs'), 0) || ' graphs there and ' ||
       o.fitted_at || ' to ' || coalesce(json_array_length(o.training, '$.graphs'), 0) || ' here; the one ' ||
       iif((t.feature_version = :readable, t.feature_version, coalesce(json_array_length(t.training, '$.graphs'), 0),
            t.fitted_at)
           > (o.feature_version = :readable, o.feature_version, coalesce(json_array_length(o.training, '$.graphs'), 0),
              o.fitted_at), 'there', 'here')
       || ' stands: one that this build reads counts, then newer features, then more graphs, then the newer'
FROM other.model AS t JOIN main.model AS o USING (op, backend, policy, clock)
WHERE o.bytes <> t.bytes AND t.id NOT IN (SELECT id FROM temp.merge_bad_model) ORDER BY 1)sql",
                        ":readable", model::kFeatureVersion)
                .c_str());
    return out;
}

// A choice of a run that is known here was compared before, unless it is newer than the one here.
std::vector<ChoiceConflict> choice_conflicts(const Database& database) {
    Statement s = database.prepare(fmt::format(R"sql(
SELECT g.id, e.id, p.id, t.policy, t.clock,
       g.name || ', ' || p.text || ', ' || t.policy || ', ' || t.clock || ': ' || t.config || ' was chosen there and ' ||
       o.config || ' here'
FROM other.choice AS t {}
JOIN main.choice AS o ON o.graph_id = g.id AND o.environment_id = e.id AND o.problem_id = p.id
    AND o.policy = t.policy AND o.clock = t.clock
JOIN other.run AS r ON r.id = t.run_id
WHERE o.config <> t.config
  AND (t.decided_at > o.decided_at OR NOT EXISTS (
      SELECT 1 FROM main.run AS known
      WHERE known.command = r.command AND known.tool_version = r.tool_version AND known.git_commit = r.git_commit
        AND known.started_at = r.started_at AND known.seed = r.seed AND known.host = r.host))
ORDER BY 6)sql",
                                               kSamePlace),
                                   "comparing choices");
    std::vector<ChoiceConflict> out;
    while (s.step()) {
        out.push_back({{{s.integer(0), s.integer(1), s.integer(2)}, *parse_policy(s.view(3)), *parse_clock(s.view(4))},
                       s.text(5)});
    }
    return out;
}

// Bytes of another version are taken in for the programs that can read them, unless their checksum says otherwise.
std::vector<std::string> refuse_damaged_models(const Database& database) {
    constexpr std::string_view kDoing = "looking at cost models";
    database.execute("DROP TABLE IF EXISTS temp.merge_bad_model; CREATE TEMP TABLE merge_bad_model (id INTEGER)",
                     kDoing);
    Statement models =
        database.prepare("SELECT id, op, backend, feature_version, bytes FROM other.model ORDER BY id", kDoing);
    Statement bad = database.prepare("INSERT INTO temp.merge_bad_model VALUES (?)", kDoing);
    std::vector<std::string> out;
    while (models.step()) {
        const auto op = parse_op(models.view(1));
        const auto backend = parse_backend(models.view(2));
        std::optional<std::string> complaint;
        if (op && backend && models.integer(3) == model::kFeatureVersion) {
            ModelRow row;
            row.op = *op;
            row.backend = *backend;
            row.bytes = models.text(4);
            complaint = complaint_of(row);
        } else if (model::are_damaged(models.view(4))) {
            complaint = "its checksum does not fit";
        }
        if (!complaint) continue;
        bad.bind(models.integer(0)).run();
        out.push_back(fmt::format("the model of {} on {} there is damaged and was left out: {}", models.view(1),
                                  models.view(2), *complaint));
    }
    return out;
}

// The reason that stands here stays.
std::int64_t take_errata(const Database& database) {
    constexpr std::string_view kDoing = "taking in errata";
    const std::int64_t there =
        database.integer("SELECT count(*) FROM other.sqlite_schema WHERE name = 'erratum'", kDoing);
    if (there == 0) return 0;  // an older file
    database.execute(
        "INSERT INTO erratum (condition, reason, added_at) SELECT condition, reason, added_at FROM other.erratum "
        "WHERE condition NOT IN (SELECT condition FROM main.erratum) ORDER BY id",
        kDoing);
    return database.integer("SELECT changes()", kDoing);
}

}  // namespace

MergeReport Store::merge(const std::filesystem::path& from, const ConfigCheck& check) {
    const Database& database = impl_->database;
    std::error_code ignored;
    if (std::filesystem::equivalent(from, path(), ignored)) {
        throw invalid_argument(from.string() + " is the database itself; give another one to take in");
    }
    // Says in words what is no database of this schema.
    const Access access = open(from, Mode::read_only).database().access();
    const Attached attached(database, from, access);
    Transaction transaction(database);
    refuse_faults(database, from, check);
    refuse_contradictions(database, from);
    MergeReport report;
    report.conflicts = refuse_damaged_models(database);
    for (std::string& words : conflicts(database)) report.conflicts.push_back(std::move(words));
    report.choice_conflicts = choice_conflicts(database);
    constexpr std::array<const char*, 4> kTables{"graph", "environment", "run", "measurement"};
    const std::array<std::int64_t*, 4> added{&report.graphs, &report.environments, &report.runs, &report.measurements};
    const auto count = [&](const char* table) {
        return database.integer(fmt::format("SELECT count(*) FROM main.{}", table), "counting rows");
    };
    const auto same_models = [&] {
        return database.integer(
            "SELECT count(*) FROM other.model AS t JOIN main.model AS o USING (op, backend, policy, clock)"
            " WHERE o.bytes = t.bytes AND o.fitted_at = t.fitted_at",
            "counting models");
    };
    for (std::size_t i = 0; i < kTables.size(); ++i) *added[i] = -count(kTables[i]);
    report.models = -same_models();
    const std::int64_t before =
        database.integer("SELECT coalesce(max(id), 0) FROM main.measurement", "looking at the last row");
    database.execute(kFindOrAdd, "taking in rows");
    database.execute(fmt::format(kDropDisturbed, kDisturbed), "leaving out rows without a time");
    take_features(database);
    database.execute(with_number(kTakeNewer, ":readable", model::kFeatureVersion), "taking in what is newer");
    database.execute(kTakeSteps, "taking in choices for steps");
    report.errata = take_errata(database);
    for (std::size_t i = 0; i < kTables.size(); ++i) *added[i] += count(kTables[i]);
    report.models += same_models();
    report.known = database.integer("SELECT count(*) FROM other.measurement", "counting rows") - report.measurements;
    Statement s = database.prepare(
        "SELECT DISTINCT m.graph_id, m.environment_id, m.problem_id, m.policy, m.clock FROM temp.merge_measurement AS "
        "m_ "
        "JOIN main.measurement AS m ON m.id = m_.ours JOIN main.choice USING (graph_id, environment_id, problem_id, "
        "policy, clock) ORDER BY 1, 2, 3, 4, 5",
        "finding choices to make again");
    while (s.step()) {
        report.open_choices.push_back(
            {{s.integer(0), s.integer(1), s.integer(2)}, *parse_policy(s.view(3)), *parse_clock(s.view(4))});
    }
    database.execute(with_number(kByTime, ":before", before), "looking at the order");
    if (database.integer(kOutOfOrder, "looking at the order") != 0)
        database.execute(kRenumber, "ordering rows by time");
    transaction.commit();
    return report;
}

}  // namespace gnntune::store

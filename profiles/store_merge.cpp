// Store: everything of another database taken in. Rows are compared by value, so the same file merged twice adds
// nothing.
#include <fmt/format.h>

#include <array>

#include "core/common/error.hpp"
#include "core/model/model.hpp"
#include "core/model/model_features.hpp"
#include "profiles/rows.hpp"
#include "profiles/store_impl.hpp"

namespace gnntune::store {
namespace {

/// `other` is the database that is taken in, as SQLite knows it, for as long as this lives.
class Attached {
public:
    Attached(const Database& database, const std::filesystem::path& path) : database_(database) {
        database.prepare("ATTACH ? AS other", "attaching " + path.string()).bind(path.string()).run();
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
UPDATE graph SET features = (SELECT t.features FROM other.graph AS t WHERE t.fingerprint = graph.fingerprint)
WHERE (SELECT count(*) FROM json_each(features)) < (SELECT count(*) FROM other.graph AS t, json_each(t.features)
                                                    WHERE t.fingerprint = graph.fingerprint);
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
    WHERE (excluded.feature_version, coalesce(json_array_length(excluded.training, '$.graphs'), 0), excluded.fitted_at)
        > (feature_version, coalesce(json_array_length(training, '$.graphs'), 0), fitted_at);
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

// Of attempts that agree the one with the largest id counts, so ids follow the time at which they were taken.
constexpr const char* kRenumber = R"sql(
PRAGMA defer_foreign_keys = ON;
CREATE TEMP TABLE merge_order (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
INSERT INTO temp.merge_order SELECT id, row_number() OVER (ORDER BY taken_at, id) FROM main.measurement;
UPDATE measurement SET id = -(SELECT new FROM temp.merge_order WHERE old = id);
UPDATE measurement SET id = -id;
UPDATE part SET measurement_id = -(SELECT new FROM temp.merge_order WHERE old = measurement_id);
UPDATE part SET measurement_id = -measurement_id;
UPDATE counter SET measurement_id = -(SELECT new FROM temp.merge_order WHERE old = measurement_id);
UPDATE counter SET measurement_id = -measurement_id;
DROP TABLE temp.merge_order;
)sql";

constexpr const char* kOutOfOrder = R"sql(
SELECT EXISTS (SELECT 1 FROM (SELECT taken_at, lag(taken_at) OVER (ORDER BY id) AS before FROM main.measurement)
               WHERE taken_at < before))sql";

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

// What the two files say differently, before anything is written.
std::vector<std::string> conflicts(const Database& database) {
    std::vector<std::string> out;
    const auto collect = [&](const char* sql) {
        Statement s = database.prepare(sql, "comparing the databases");
        while (s.step()) out.push_back(s.text(0));
    };
    const std::string same_key =
        " JOIN main.graph AS g ON g.fingerprint = (SELECT fingerprint FROM other.graph WHERE id = t.graph_id)"
        " JOIN main.problem AS p ON p.text = (SELECT text FROM other.problem WHERE id = t.problem_id)"
        " JOIN other.environment AS te ON te.id = t.environment_id"
        " JOIN main.environment AS e USING (backend, device_name, compute_capability, multiprocessors, memory_bytes,"
        " l2_bytes, driver, cuda_runtime, libraries) ";
    collect(("SELECT DISTINCT g.name || ', ' || p.text || ', ' || t.policy || ', ' || t.clock || ': ' || t.config ||"
             " ' is ' || t.status || ' there and ' || o.status || ' here' FROM other.measurement AS t" +
             same_key +
             "JOIN main.measurement AS o ON o.graph_id = g.id AND o.environment_id = e.id AND o.problem_id = p.id"
             " AND o.policy = t.policy AND o.clock = t.clock AND o.config = t.config"
             " AND o.variant_version = t.variant_version"
             " WHERE (t.status = 'wrong') <> (o.status = 'wrong') AND t.status IN ('ok', 'wrong', 'abandoned')"
             " AND o.status IN ('ok', 'wrong', 'abandoned') ORDER BY 1")
                .c_str());
    collect(("SELECT g.name || ', ' || p.text || ', ' || t.policy || ', ' || t.clock || ': ' || t.config ||"
             " ' was chosen there and ' || o.config || ' here' FROM other.choice AS t" +
             same_key +
             "JOIN main.choice AS o ON o.graph_id = g.id AND o.environment_id = e.id AND o.problem_id = p.id"
             " AND o.policy = t.policy AND o.clock = t.clock WHERE o.config <> t.config ORDER BY 1")
                .c_str());
    collect(
        "SELECT 'the model of ' || t.op || ' on ' || t.backend || ', ' || t.policy || ', ' || t.clock || ': fitted ' ||"
        " t.fitted_at || ' to ' || coalesce(json_array_length(t.training, '$.graphs'), 0) || ' graphs there and ' ||"
        " o.fitted_at || ' to ' || coalesce(json_array_length(o.training, '$.graphs'), 0) || ' here; the one of more "
        "graphs"
        " stays, of as many the newer' FROM other.model AS t"
        " JOIN main.model AS o USING (op, backend, policy, clock) WHERE o.bytes <> t.bytes"
        " AND t.id NOT IN (SELECT id FROM temp.merge_bad_model) ORDER BY 1");
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
    const std::int64_t there = database.integer("SELECT count(*) FROM other.sqlite_schema WHERE name = 'erratum'", kDoing);
    if (there == 0) return 0;  // an older file
    database.execute(
        "INSERT INTO erratum (condition, reason, added_at) SELECT condition, reason, added_at FROM other.erratum "
        "WHERE condition NOT IN (SELECT condition FROM main.erratum) ORDER BY id",
        kDoing);
    return database.integer("SELECT changes()", kDoing);
}

}  // namespace

MergeReport Store::merge(const std::filesystem::path& from) {
    const Database& database = impl_->database;
    std::error_code ignored;
    if (std::filesystem::equivalent(from, path(), ignored)) {
        throw invalid_argument(from.string() + " is the database itself; give another one to take in");
    }
    (void)open(from, Mode::read_only);  // says in words what is no database of this schema
    const Attached attached(database, from);
    Transaction transaction(database);
    refuse_contradictions(database, from);
    MergeReport report;
    report.conflicts = refuse_damaged_models(database);
    for (std::string& words : conflicts(database)) report.conflicts.push_back(std::move(words));
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
    database.execute(kFindOrAdd, "taking in rows");
    database.execute(kTakeNewer, "taking in what is newer");
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
    if (database.integer(kOutOfOrder, "looking at the order") != 0)
        database.execute(kRenumber, "ordering rows by time");
    transaction.commit();
    return report;
}

}  // namespace gnntune::store

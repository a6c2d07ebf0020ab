#include "profiles/store/merge_rows.hpp"

#include <string>

#include <fmt/format.h>

#include "core/model/model_features.hpp"
#include "core/registry/measurement.hpp"
#include "profiles/store/merge_words.hpp"

namespace gnntune::store {
namespace {

// Ids of the other database and of this one, in temporary tables. A row is the same if all of its values are. The first
// twelve digits of a fingerprint stand in for a name (stand_in_name) until either file has one.
constexpr const char* kTakeOwners = R"sql(
DROP TABLE IF EXISTS temp.merge_graph;
DROP TABLE IF EXISTS temp.merge_environment;
DROP TABLE IF EXISTS temp.merge_problem;

INSERT OR IGNORE INTO variant SELECT * FROM other.variant;
UPDATE variant SET (op, backend, deterministic, approximate) =
    (SELECT coalesce(min(variant.op, t.op), variant.op, t.op),
            coalesce(min(variant.backend, t.backend), variant.backend, t.backend),
            coalesce(min(variant.deterministic, t.deterministic), variant.deterministic, t.deterministic),
            coalesce(max(variant.approximate, t.approximate), variant.approximate, t.approximate)
     FROM other.variant AS t WHERE t.id = variant.id AND t.version = variant.version)
WHERE (id, version) IN (SELECT id, version FROM other.variant);

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
)sql";

// A run is the one of its identity. Of runs without, the first of those that agree in all values is the first of those
// that do so there, the second the second.
constexpr const char* kTakeRuns = R"sql(
DROP TABLE IF EXISTS temp.merge_run;
DROP TABLE IF EXISTS temp.merge_run_here;
DROP TABLE IF EXISTS temp.merge_run_there;
CREATE TEMP TABLE merge_run_here AS
SELECT id, identity, command, tool_version, git_commit, started_at, seed, host,
       row_number() OVER (PARTITION BY identity IS NULL, command, tool_version, git_commit, started_at, seed, host
                          ORDER BY id) AS place
FROM main.run LEFT JOIN main.run_identity ON run_id = id;
CREATE TEMP TABLE merge_run_there AS
SELECT id, identity, command, tool_version, git_commit, started_at, seed, host,
       row_number() OVER (PARTITION BY identity IS NULL, command, tool_version, git_commit, started_at, seed, host
                          ORDER BY id) AS place
FROM other.run LEFT JOIN :identities ON run_id = id;
CREATE TEMP TABLE merge_run (theirs INTEGER PRIMARY KEY, ours INTEGER NOT NULL, is_new INTEGER NOT NULL);
INSERT INTO temp.merge_run
SELECT t.id, o.id, 0 FROM temp.merge_run_there AS t JOIN temp.merge_run_here AS o USING (identity)
UNION ALL
SELECT t.id, o.id, 0 FROM temp.merge_run_there AS t
JOIN temp.merge_run_here AS o USING (command, tool_version, git_commit, started_at, seed, host, place)
WHERE t.identity IS NULL AND o.identity IS NULL;
INSERT INTO temp.merge_run
SELECT id, (SELECT coalesce(max(id), 0) FROM main.run) + row_number() OVER (ORDER BY id), 1
FROM temp.merge_run_there WHERE id NOT IN (SELECT theirs FROM temp.merge_run);
INSERT INTO run (id, command, tool_version, git_commit, started_at, ended_at, seed, host)
SELECT n.ours, command, tool_version, git_commit, started_at, ended_at, seed, host
FROM other.run AS t JOIN temp.merge_run AS n ON n.theirs = t.id WHERE is_new ORDER BY n.ours;
INSERT INTO run_identity
SELECT n.ours, identity FROM temp.merge_run_there AS t JOIN temp.merge_run AS n ON n.theirs = t.id
WHERE is_new AND identity NOT NULL;
UPDATE run SET ended_at = (SELECT t.ended_at FROM other.run AS t JOIN temp.merge_run ON theirs = t.id WHERE ours = run.id)
WHERE id IN (SELECT ours FROM temp.merge_run AS n JOIN other.run AS t ON t.id = n.theirs JOIN main.run AS o ON o.id = n.ours
             WHERE t.ended_at > coalesce(o.ended_at, ''));
)sql";

// Of rows that agree in all values the first there is the first here. Only runs that are known here can have any.
constexpr const char* kMatchMeasurements = R"sql(
DROP TABLE IF EXISTS temp.merge_measurement;
DROP TABLE IF EXISTS temp.merge_row_here;
DROP TABLE IF EXISTS temp.merge_row_there;
CREATE TEMP TABLE merge_row_here AS
SELECT id, row_number() OVER (PARTITION BY graph_id, environment_id, problem_id, run_id, config, variant_version, policy,
           clock, status, reason, median_us, q1_us, q3_us, min_us, samples, prepare_us, taken_at ORDER BY id) AS place
FROM main.measurement WHERE run_id IN (SELECT ours FROM temp.merge_run WHERE NOT is_new);
CREATE UNIQUE INDEX temp.merge_row_by_id ON merge_row_here (id);
CREATE TEMP TABLE merge_row_there AS
SELECT t.id, g.ours AS graph_id, e.ours AS environment_id, p.ours AS problem_id, r.ours AS run_id, r.is_new,
       row_number() OVER (PARTITION BY g.ours, e.ours, p.ours, r.ours, config, variant_version, policy, clock, status,
           reason, median_us, q1_us, q3_us, min_us, samples, prepare_us, taken_at ORDER BY t.id) AS place
FROM other.measurement AS t
JOIN temp.merge_graph AS g ON g.theirs = t.graph_id
JOIN temp.merge_environment AS e ON e.theirs = t.environment_id
JOIN temp.merge_problem AS p ON p.theirs = t.problem_id
JOIN temp.merge_run AS r ON r.theirs = t.run_id;
CREATE TEMP TABLE merge_measurement (theirs INTEGER PRIMARY KEY, ours INTEGER, is_new INTEGER NOT NULL DEFAULT 0,
    graph_id INTEGER, environment_id INTEGER, problem_id INTEGER, run_id INTEGER);
INSERT INTO temp.merge_measurement (theirs, ours, graph_id, environment_id, problem_id, run_id)
SELECT n.id, o.id, n.graph_id, n.environment_id, n.problem_id, n.run_id
FROM temp.merge_row_there AS n CROSS JOIN other.measurement AS t ON t.id = n.id
CROSS JOIN main.measurement AS o ON o.graph_id = n.graph_id AND o.environment_id = n.environment_id
    AND o.problem_id = n.problem_id AND o.policy = t.policy AND o.clock = t.clock AND o.config = t.config
    AND o.variant_version = t.variant_version AND o.run_id = n.run_id AND o.status = t.status AND o.reason = t.reason
    AND o.median_us IS t.median_us AND o.q1_us IS t.q1_us AND o.q3_us IS t.q3_us AND o.min_us IS t.min_us
    AND o.samples = t.samples AND o.prepare_us = t.prepare_us AND o.taken_at = t.taken_at
CROSS JOIN temp.merge_row_here AS h ON h.id = o.id AND h.place = n.place
WHERE NOT n.is_new;
INSERT INTO temp.merge_measurement (theirs, ours, is_new, graph_id, environment_id, problem_id, run_id)
SELECT id, (SELECT coalesce(max(id), 0) FROM main.measurement) + row_number() OVER (ORDER BY id), 1, graph_id,
       environment_id, problem_id, run_id
FROM temp.merge_row_there WHERE id NOT IN (SELECT theirs FROM temp.merge_measurement);
)sql";

// When a row was taken as far as its run tells: not before those that the run took before it, even where the clock was
// set back between them. `honest` leaves out stamps that are past now, so that they come before all others.
constexpr const char* kNoteTimesOfRows = R"sql(
DROP TABLE IF EXISTS temp.merge_at;
CREATE TEMP TABLE merge_at (id INTEGER PRIMARY KEY, honest TEXT NOT NULL, raw TEXT NOT NULL);
INSERT INTO temp.merge_at
SELECT id, max(iif(taken_at <= latest, taken_at, '')) OVER before, max(taken_at) OVER before
FROM main.measurement, temp.merge_now WINDOW before AS (PARTITION BY run_id ORDER BY id);
INSERT INTO temp.merge_at
SELECT n.ours, max(iif(taken_at <= latest, taken_at, '')) OVER before, max(taken_at) OVER before
FROM other.measurement AS t JOIN temp.merge_measurement AS n ON n.theirs = t.id, temp.merge_now
WHERE true WINDOW before AS (PARTITION BY t.run_id ORDER BY t.id)
ON CONFLICT DO UPDATE SET honest = max(honest, excluded.honest), raw = max(raw, excluded.raw);
)sql";

constexpr const char* kTakeMeasurements = R"sql(
INSERT INTO measurement
SELECT n.ours, n.graph_id, n.environment_id, n.problem_id, n.run_id, config, variant, variant_version, policy, clock,
       status, reason, median_us, q1_us, q3_us, min_us, ci_low_us, ci_high_us, samples, sm_clock_mhz, prepare_us,
       workspace_bytes, format_bytes, deterministic, approximate, max_error, mean_error, worst_ratio, taken_at
FROM other.measurement AS t JOIN temp.merge_measurement AS n ON n.theirs = t.id WHERE is_new ORDER BY n.ours;
INSERT INTO part
SELECT n.ours, position, config, variant, variant_version
FROM other.part AS t JOIN temp.merge_measurement AS n ON n.theirs = t.measurement_id WHERE is_new;
INSERT INTO counter
SELECT n.ours, name, value, taken_at
FROM other.counter AS t JOIN temp.merge_measurement AS n ON n.theirs = t.measurement_id WHERE true
ON CONFLICT DO UPDATE SET value = excluded.value, taken_at = excluded.taken_at
    WHERE (excluded.taken_at <= (SELECT latest FROM temp.merge_now), excluded.taken_at, excluded.value)
        > (taken_at <= (SELECT latest FROM temp.merge_now), taken_at, value);
)sql";

// What could not be timed in one database says nothing where the other has timed it, before or after.
constexpr std::string_view kDropDisturbed = R"sql(
DELETE FROM main.measurement AS d
WHERE d.status = 'failed' AND d.reason GLOB '{}*' AND EXISTS (
    SELECT 1 FROM main.measurement AS o
    WHERE o.graph_id = d.graph_id AND o.environment_id = d.environment_id AND o.problem_id = d.problem_id
      AND o.policy = d.policy AND o.clock = d.clock AND o.config = d.config AND o.variant_version = d.variant_version
      AND o.status <> 'failed'))sql";

// Of attempts that agree the one with the largest id counts, so ids follow the times. Of one second the run that began
// later, then the one of the larger identity, has the later rows; those of a run keep their order.
constexpr const char* kOrder = R"sql(
DROP TABLE IF EXISTS temp.merge_order;
CREATE TEMP TABLE merge_order (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
INSERT INTO temp.merge_order
SELECT m.id, row_number() OVER (ORDER BY honest, raw, place, m.id)
FROM main.measurement AS m JOIN temp.merge_at AS a ON a.id = m.id
JOIN (SELECT id AS run_id, row_number() OVER (ORDER BY started_at, coalesce(identity, ''), command, tool_version,
                                              git_commit, seed, host, id) AS place
      FROM main.run LEFT JOIN main.run_identity ON run_id = id) USING (run_id);
)sql";

constexpr const char* kOutOfOrder = R"sql(
SELECT EXISTS (SELECT 1 FROM (SELECT new, lag(new) OVER (ORDER BY old) AS before FROM temp.merge_order)
               WHERE new < before))sql";

constexpr const char* kRenumber = R"sql(
PRAGMA defer_foreign_keys = ON;
UPDATE measurement SET id = -(SELECT new FROM temp.merge_order WHERE old = id);
UPDATE measurement SET id = -id;
UPDATE part SET measurement_id = -(SELECT new FROM temp.merge_order WHERE old = measurement_id);
UPDATE part SET measurement_id = -measurement_id;
UPDATE counter SET measurement_id = -(SELECT new FROM temp.merge_order WHERE old = measurement_id);
UPDATE counter SET measurement_id = -measurement_id;
)sql";

// The later of each counts, stamps past now before all others; of one second the one whose values are larger, so that it
// is the same whichever comes first.
constexpr const char* kTakeLater = R"sql(
INSERT INTO format_build
SELECT g.ours, e.ours, base, format, direction, build_us, bytes, taken_at FROM other.format_build AS t
JOIN temp.merge_graph AS g ON g.theirs = t.graph_id JOIN temp.merge_environment AS e ON e.theirs = t.environment_id
WHERE true
ON CONFLICT DO UPDATE SET build_us = excluded.build_us, bytes = excluded.bytes, taken_at = excluded.taken_at
    WHERE (excluded.taken_at <= :latest, excluded.taken_at, excluded.build_us, excluded.bytes)
        > (taken_at <= :latest, taken_at, build_us, bytes);
INSERT INTO device_constant
SELECT e.ours, name, table_bytes, row_bytes, value, unit, taken_at FROM other.device_constant AS t
JOIN temp.merge_environment AS e ON e.theirs = t.environment_id
WHERE true
ON CONFLICT DO UPDATE SET value = excluded.value, unit = excluded.unit, taken_at = excluded.taken_at
    WHERE (excluded.taken_at <= :latest, excluded.taken_at, excluded.value, excluded.unit)
        > (taken_at <= :latest, taken_at, value, unit);
INSERT INTO model (op, backend, policy, clock, feature_version, bytes, training, scores, tool_version, git_commit,
                   fitted_at)
SELECT op, backend, policy, clock, feature_version, bytes, training, scores, tool_version, git_commit, fitted_at
FROM other.model AS t
WHERE id NOT IN (SELECT id FROM temp.merge_bad_model)
ON CONFLICT DO UPDATE SET feature_version = excluded.feature_version, bytes = excluded.bytes,
    training = excluded.training, scores = excluded.scores, tool_version = excluded.tool_version,
    git_commit = excluded.git_commit, fitted_at = excluded.fitted_at
    WHERE (excluded.feature_version :readable, excluded.feature_version,
           coalesce(json_array_length(excluded.training, '$.graphs'), 0), excluded.fitted_at <= :latest,
           excluded.fitted_at, excluded.bytes, excluded.training, excluded.scores)
        > (feature_version :readable, feature_version, coalesce(json_array_length(training, '$.graphs'), 0),
           fitted_at <= :latest, fitted_at, bytes, training, scores);
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
    WHERE (excluded.decided_at <= :latest, excluded.decided_at, excluded.config, excluded.variant_version,
           excluded.expected_us, excluded.source, excluded.reason, excluded.tied,
           coalesce((SELECT identity FROM run_identity AS i WHERE i.run_id = excluded.run_id), ''))
        > (decided_at <= :latest, decided_at, config, variant_version, expected_us, source, reason, tied,
           coalesce((SELECT identity FROM run_identity AS i WHERE i.run_id = choice.run_id), ''));
)sql";

// Of each step's choices, its calls with it. Nobody makes them again: explain decides from the rows.
constexpr const char* kTakeSteps = R"sql(
DROP TABLE IF EXISTS temp.merge_step;
CREATE TEMP TABLE merge_step AS
SELECT t.id AS theirs, g.ours AS graph_id, e.ours AS environment_id, r.ours AS run_id
FROM other.step_choice AS t
JOIN temp.merge_graph AS g ON g.theirs = t.graph_id
JOIN temp.merge_environment AS e ON e.theirs = t.environment_id
JOIN temp.merge_run AS r ON r.theirs = t.run_id
WHERE NOT EXISTS (
    SELECT 1 FROM main.step_choice AS o
    WHERE o.graph_id = g.ours AND o.environment_id = e.ours AND o.step = t.step AND o.policy = t.policy
      AND o.clock = t.clock
      AND (o.decided_at <= :latest, o.decided_at, o.step_us, o.build_us, o.expected_steps, o.formats, o.format_bytes,
           o.workspace_bytes, coalesce(o.format_limit_bytes, -1), o.reason,
           (SELECT group_concat(config || '@' || variant_version || ' ' || expected_us, ' ')
            FROM (SELECT * FROM main.step_call WHERE step_choice_id = o.id ORDER BY position)))
       >= (t.decided_at <= :latest, t.decided_at, t.step_us, t.build_us, t.expected_steps, t.formats, t.format_bytes,
           t.workspace_bytes, coalesce(t.format_limit_bytes, -1), t.reason,
           (SELECT group_concat(config || '@' || variant_version || ' ' || expected_us, ' ')
            FROM (SELECT * FROM other.step_call WHERE step_choice_id = t.id ORDER BY position))));
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

// As for steps; `:accuracy` and `:calls` are the tables there.
constexpr const char* kTakeAccuracy = R"sql(
DROP TABLE IF EXISTS temp.merge_accuracy;
CREATE TEMP TABLE merge_accuracy AS
SELECT t.id AS theirs, g.ours AS graph_id, e.ours AS environment_id, r.ours AS run_id, t.model, t.way
FROM :accuracy AS t
JOIN temp.merge_graph AS g ON g.theirs = t.graph_id
JOIN temp.merge_environment AS e ON e.theirs = t.environment_id
JOIN temp.merge_run AS r ON r.theirs = t.run_id
WHERE NOT EXISTS (
    SELECT 1 FROM main.accuracy AS o
    WHERE o.graph_id = g.ours AND o.environment_id = e.ours AND o.model = t.model AND o.way = t.way
      AND (o.taken_at <= :latest, o.taken_at, o.models, o.vertices, o.accuracy, o.exact_accuracy, o.loss_low, o.loss_high,
           o.max_error, o.time_us, o.exact_us, o.model_name,
           (SELECT group_concat(config || '@' || variant_version || ' ' || time_us, ' ')
            FROM (SELECT * FROM main.accuracy_call WHERE accuracy_id = o.id ORDER BY position)))
       >= (t.taken_at <= :latest, t.taken_at, t.models, t.vertices, t.accuracy, t.exact_accuracy, t.loss_low, t.loss_high,
           t.max_error, t.time_us, t.exact_us, t.model_name,
           (SELECT group_concat(config || '@' || variant_version || ' ' || time_us, ' ')
            FROM (SELECT * FROM :calls WHERE accuracy_id = t.id ORDER BY position))));
DELETE FROM main.accuracy WHERE EXISTS (
    SELECT 1 FROM temp.merge_accuracy AS n
    WHERE n.graph_id = accuracy.graph_id AND n.environment_id = accuracy.environment_id AND n.model = accuracy.model
      AND n.way = accuracy.way);
INSERT INTO main.accuracy (graph_id, environment_id, model, model_name, way, models, vertices, accuracy, exact_accuracy,
                           loss, loss_low, loss_high, max_error, time_us, exact_us, run_id, taken_at)
SELECT n.graph_id, n.environment_id, t.model, model_name, t.way, models, vertices, accuracy, exact_accuracy, loss, loss_low,
       loss_high, max_error, time_us, exact_us, n.run_id, taken_at
FROM :accuracy AS t JOIN temp.merge_accuracy AS n ON n.theirs = t.id ORDER BY t.id;
INSERT INTO main.accuracy_call
SELECT o.id, c.position, p.ours, c.rule, c.config, c.variant, c.variant_version, c.time_us
FROM :calls AS c
JOIN temp.merge_accuracy AS n ON n.theirs = c.accuracy_id
JOIN main.accuracy AS o ON o.graph_id = n.graph_id AND o.environment_id = n.environment_id AND o.model = n.model
    AND o.way = n.way
JOIN temp.merge_problem AS p ON p.theirs = c.problem_id;
)sql";

constexpr const char* kTakeErrata = R"sql(
DROP TABLE IF EXISTS temp.merge_erratum;
CREATE TEMP TABLE merge_erratum AS SELECT condition, reason FROM main.erratum;
INSERT INTO erratum (condition, reason, added_at) SELECT condition, reason, added_at FROM :errata WHERE true ORDER BY id
ON CONFLICT DO UPDATE SET reason = excluded.reason, added_at = excluded.added_at
    WHERE (excluded.added_at <= :latest, excluded.added_at, excluded.reason) > (added_at <= :latest, added_at, reason);
INSERT INTO removed_erratum SELECT condition, removed_at FROM :removed WHERE true
ON CONFLICT DO UPDATE SET removed_at = excluded.removed_at
    WHERE (excluded.removed_at <= :latest, excluded.removed_at) > (removed_at <= :latest, removed_at);
DELETE FROM erratum WHERE EXISTS (
    SELECT 1 FROM removed_erratum AS r WHERE r.condition = erratum.condition
    AND (r.removed_at <= :latest, r.removed_at) >= (erratum.added_at <= :latest, erratum.added_at));
DELETE FROM removed_erratum WHERE condition IN (SELECT condition FROM erratum);
)sql";

std::string with_text(std::string script, std::string_view name, const std::string& text) {
    for (auto at = script.find(name); at != std::string::npos; at = script.find(name, at + text.size())) {
        script.replace(at, name.size(), text);
    }
    return script;
}

std::string with_latest(std::string script) {
    return with_text(std::move(script), ":latest", "(SELECT latest FROM temp.merge_now)");
}

/// The table there, or one without rows in its place: a file of an older schema lacks those of later ones.
std::string other_table(const Database& database, const std::string& name) {
    Statement there =
        database.prepare("SELECT 1 FROM other.sqlite_schema WHERE type = 'table' AND name = ?", "looking for a table");
    if (there.bind(name).step()) return "other." + name;
    return fmt::format("(SELECT * FROM main.{} WHERE false)", name);
}

}  // namespace

void note_time(const Database& database) {
    database.execute(
        fmt::format("DROP TABLE IF EXISTS temp.merge_now; CREATE TEMP TABLE merge_now AS SELECT {} AS latest",
                    kLatestStamp),
        "looking at the clock");
}

void take_owners(const Database& database) {
    database.execute(kTakeOwners, "taking in graphs, devices and problems");
    database.execute(with_text(kTakeRuns, ":identities", other_table(database, "run_identity")), "taking in runs");
}

void match_measurements(const Database& database) {
    database.execute(kMatchMeasurements, "looking for rows that are here");
}

void take_measurements(const Database& database) {
    constexpr std::string_view kDoing = "taking in measurements";
    database.execute(kNoteTimesOfRows, kDoing);
    database.execute(kTakeMeasurements, kDoing);
    database.execute(fmt::format(kDropDisturbed, kDisturbed), "leaving out rows without a time");
    database.execute(kOrder, kDoing);
    if (database.integer(kOutOfOrder, kDoing) != 0) database.execute(kRenumber, "ordering rows by time");
}

void take_later(const Database& database) {
    const std::string readable = fmt::format("= {}", model::kFeatureVersion);
    database.execute(with_latest(with_text(kTakeLater, ":readable", readable)), "taking in what is later");
    database.execute(with_latest(kTakeSteps), "taking in choices for steps");
    std::string script = with_text(kTakeAccuracy, ":accuracy", other_table(database, "accuracy"));
    script = with_text(std::move(script), ":calls", other_table(database, "accuracy_call"));
    database.execute(with_latest(std::move(script)), "taking in accuracies");
}

std::int64_t take_errata(const Database& database) {
    constexpr std::string_view kDoing = "taking in errata";
    std::string script = with_text(kTakeErrata, ":errata", other_table(database, "erratum"));
    script = with_text(std::move(script), ":removed", other_table(database, "removed_erratum"));
    database.execute(with_latest(std::move(script)), kDoing);
    return database.integer(
        "SELECT count(*) FROM main.erratum WHERE (condition, reason) NOT IN (SELECT condition, reason FROM "
        "temp.merge_erratum)",
        kDoing);
}

}  // namespace gnntune::store

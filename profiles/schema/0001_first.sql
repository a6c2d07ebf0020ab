-- Schema 1. docs/database.md describes every table and column.
-- Run inside one transaction with foreign keys off; the runner sets application_id and user_version.

CREATE TABLE graph (
    id          INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE CHECK (length(fingerprint) = 32),
    n_rows      INTEGER NOT NULL,
    n_cols      INTEGER NOT NULL,
    m           INTEGER NOT NULL,
    name        TEXT NOT NULL,
    source      TEXT NOT NULL DEFAULT '',
    features    TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(features))
) STRICT;

-- Names under which a graph was met again. The first one stays in graph.name.
CREATE TABLE graph_name (
    graph_id INTEGER NOT NULL REFERENCES graph (id) ON DELETE CASCADE,
    name     TEXT NOT NULL,
    source   TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (graph_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE environment (
    id                 INTEGER PRIMARY KEY,
    backend            TEXT NOT NULL,
    device_name        TEXT NOT NULL,
    compute_capability TEXT NOT NULL,
    multiprocessors    INTEGER NOT NULL,
    memory_bytes       INTEGER NOT NULL,
    l2_bytes           INTEGER NOT NULL,
    driver             TEXT NOT NULL,
    cuda_runtime       TEXT NOT NULL,
    libraries          TEXT NOT NULL,
    UNIQUE (backend, device_name, compute_capability, multiprocessors, memory_bytes, l2_bytes, driver, cuda_runtime,
            libraries)
) STRICT;

-- What was known of a variant when it was recorded; NULL where only its name was (parts of compositions, failures).
CREATE TABLE variant (
    id            TEXT NOT NULL,
    version       INTEGER NOT NULL,
    op            TEXT,
    backend       TEXT,
    deterministic INTEGER CHECK (deterministic IN (0, 1)),
    approximate   INTEGER CHECK (approximate IN (0, 1)),
    PRIMARY KEY (id, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE problem (
    id        INTEGER PRIMARY KEY,
    op        TEXT NOT NULL,
    k         INTEGER NOT NULL CHECK (k > 0),
    heads     INTEGER NOT NULL CHECK (heads > 0),
    dtype     TEXT NOT NULL,
    reduce    TEXT NOT NULL,
    weighted  INTEGER NOT NULL CHECK (weighted IN (0, 1)),
    direction TEXT NOT NULL,
    self_loop INTEGER NOT NULL CHECK (self_loop IN (0, 1)),
    text      TEXT NOT NULL,
    UNIQUE (op, k, heads, dtype, reduce, weighted, direction, self_loop)
) STRICT;

CREATE TABLE run (
    id           INTEGER PRIMARY KEY,
    command      TEXT NOT NULL,
    tool_version TEXT NOT NULL,
    git_commit   TEXT NOT NULL,
    started_at   TEXT NOT NULL,
    ended_at     TEXT,
    seed         INTEGER NOT NULL,
    host         TEXT NOT NULL
) STRICT;

-- Every attempt ever taken, in order of id. Rows are added, never changed.
CREATE TABLE measurement (
    id              INTEGER PRIMARY KEY,
    graph_id        INTEGER NOT NULL REFERENCES graph (id),
    environment_id  INTEGER NOT NULL REFERENCES environment (id),
    problem_id      INTEGER NOT NULL REFERENCES problem (id),
    run_id          INTEGER NOT NULL REFERENCES run (id),
    config          TEXT NOT NULL,
    variant         TEXT NOT NULL,
    variant_version INTEGER NOT NULL,
    policy          TEXT NOT NULL CHECK (policy IN ('hot', 'cold', 'graph')),
    clock           TEXT NOT NULL CHECK (clock IN ('span', 'events', 'host')),
    status          TEXT NOT NULL CHECK (status IN ('ok', 'wrong', 'refused', 'failed', 'abandoned')),
    reason          TEXT NOT NULL DEFAULT '',
    median_us       REAL,
    q1_us           REAL,
    q3_us           REAL,
    min_us          REAL,
    ci_low_us       REAL,
    ci_high_us      REAL,
    samples         INTEGER NOT NULL,
    sm_clock_mhz    INTEGER NOT NULL,
    prepare_us      REAL NOT NULL,
    workspace_bytes INTEGER NOT NULL,
    format_bytes    INTEGER NOT NULL,
    deterministic   INTEGER NOT NULL CHECK (deterministic IN (0, 1)),
    approximate     INTEGER NOT NULL CHECK (approximate IN (0, 1)),
    max_error       REAL,
    mean_error      REAL,
    worst_ratio     REAL,
    taken_at        TEXT NOT NULL,
    CHECK (status <> 'ok' OR median_us > 0),
    FOREIGN KEY (variant, variant_version) REFERENCES variant (id, version)
) STRICT;

CREATE INDEX measurement_by_key
    ON measurement (graph_id, environment_id, problem_id, policy, clock, config, variant_version);
CREATE INDEX measurement_by_run ON measurement (run_id);

-- The configs inside a composition. Its row falls with the version of any of them.
CREATE TABLE part (
    measurement_id  INTEGER NOT NULL REFERENCES measurement (id) ON DELETE CASCADE,
    position        INTEGER NOT NULL,
    config          TEXT NOT NULL,
    variant         TEXT NOT NULL,
    variant_version INTEGER NOT NULL,
    PRIMARY KEY (measurement_id, position),
    FOREIGN KEY (variant, variant_version) REFERENCES variant (id, version)
) STRICT, WITHOUT ROWID;

-- Hardware counters of one run of the measurement's config; none where the chip lacks one. The view `counters` has them
-- side by side.
CREATE TABLE counter (
    measurement_id INTEGER NOT NULL REFERENCES measurement (id) ON DELETE CASCADE,
    name           TEXT NOT NULL,
    value          REAL NOT NULL,
    taken_at       TEXT NOT NULL,
    PRIMARY KEY (measurement_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE choice (
    id              INTEGER PRIMARY KEY,
    graph_id        INTEGER NOT NULL REFERENCES graph (id),
    environment_id  INTEGER NOT NULL REFERENCES environment (id),
    problem_id      INTEGER NOT NULL REFERENCES problem (id),
    policy          TEXT NOT NULL CHECK (policy IN ('hot', 'cold', 'graph')),
    clock           TEXT NOT NULL CHECK (clock IN ('span', 'events', 'host')),
    config          TEXT NOT NULL,
    variant         TEXT NOT NULL,
    variant_version INTEGER NOT NULL,
    source          TEXT NOT NULL,
    reason          TEXT NOT NULL,
    expected_us     REAL NOT NULL,
    tied            TEXT NOT NULL DEFAULT '[]' CHECK (json_type(tied) = 'array'),
    run_id          INTEGER NOT NULL REFERENCES run (id),
    decided_at      TEXT NOT NULL,
    UNIQUE (graph_id, environment_id, problem_id, policy, clock),
    FOREIGN KEY (variant, variant_version) REFERENCES variant (id, version)
) STRICT;

-- What was decided for all sparse ops of a training step together, and the calls of each.
CREATE TABLE step_choice (
    id                 INTEGER PRIMARY KEY,
    graph_id           INTEGER NOT NULL REFERENCES graph (id),
    environment_id     INTEGER NOT NULL REFERENCES environment (id),
    step               TEXT NOT NULL,
    policy             TEXT NOT NULL CHECK (policy IN ('hot', 'cold', 'graph')),
    clock              TEXT NOT NULL CHECK (clock IN ('span', 'events', 'host')),
    expected_steps     REAL NOT NULL CHECK (expected_steps > 0),
    format_limit_bytes INTEGER,
    formats            TEXT NOT NULL,
    format_bytes       INTEGER NOT NULL,
    workspace_bytes    INTEGER NOT NULL,
    build_us           REAL NOT NULL,
    step_us            REAL NOT NULL,
    reason             TEXT NOT NULL,
    run_id             INTEGER NOT NULL REFERENCES run (id),
    decided_at         TEXT NOT NULL,
    UNIQUE (graph_id, environment_id, step, policy, clock)
) STRICT;

CREATE TABLE step_call (
    step_choice_id  INTEGER NOT NULL REFERENCES step_choice (id) ON DELETE CASCADE,
    position        INTEGER NOT NULL,
    problem_id      INTEGER NOT NULL REFERENCES problem (id),
    runs_per_step   INTEGER NOT NULL,
    runs_per_graph  INTEGER NOT NULL,
    config          TEXT NOT NULL,
    variant         TEXT NOT NULL,
    variant_version INTEGER NOT NULL,
    formats         TEXT NOT NULL,
    expected_us     REAL NOT NULL,
    PRIMARY KEY (step_choice_id, position),
    FOREIGN KEY (variant, variant_version) REFERENCES variant (id, version)
) STRICT, WITHOUT ROWID;

-- What building a format cost where the caller had handed in nothing but `base`.
CREATE TABLE format_build (
    graph_id       INTEGER NOT NULL REFERENCES graph (id),
    environment_id INTEGER NOT NULL REFERENCES environment (id),
    base           TEXT NOT NULL,
    format         TEXT NOT NULL,
    direction      TEXT NOT NULL,
    build_us       REAL NOT NULL CHECK (build_us >= 0),
    bytes          INTEGER NOT NULL,
    taken_at       TEXT NOT NULL,
    PRIMARY KEY (graph_id, environment_id, base, format, direction)
) STRICT, WITHOUT ROWID;

-- Measured constants of a device. table_bytes and row_bytes are 0 where a constant does not depend on them.
CREATE TABLE device_constant (
    environment_id INTEGER NOT NULL REFERENCES environment (id),
    name           TEXT NOT NULL,
    table_bytes    INTEGER NOT NULL DEFAULT 0,
    row_bytes      INTEGER NOT NULL DEFAULT 0,
    value          REAL NOT NULL,
    unit           TEXT NOT NULL,
    taken_at       TEXT NOT NULL,
    PRIMARY KEY (environment_id, name, table_bytes, row_bytes)
) STRICT, WITHOUT ROWID;

-- Fitted cost models, the newest of each op, backend, policy and clock.
CREATE TABLE model (
    id              INTEGER PRIMARY KEY,
    op              TEXT NOT NULL,
    backend         TEXT NOT NULL,
    policy          TEXT NOT NULL CHECK (policy IN ('hot', 'cold', 'graph')),
    clock           TEXT NOT NULL CHECK (clock IN ('span', 'events', 'host')),
    feature_version INTEGER NOT NULL,
    bytes           BLOB NOT NULL,
    training        TEXT NOT NULL CHECK (json_valid(training)),
    scores          TEXT NOT NULL CHECK (json_valid(scores)),
    tool_version    TEXT NOT NULL,
    git_commit      TEXT NOT NULL,
    fitted_at       TEXT NOT NULL,
    UNIQUE (op, backend, policy, clock)
) STRICT;

-- The attempts that count: the newest of its config and version, checked and timed, of the newest version known here.
CREATE VIEW usable AS
SELECT measurement.*
FROM measurement
JOIN (SELECT max(id) AS id FROM measurement
      GROUP BY graph_id, environment_id, problem_id, policy, clock, config, variant_version) USING (id)
WHERE status = 'ok'
  AND variant_version = (SELECT max(version) FROM variant WHERE variant.id = measurement.variant)
  AND NOT EXISTS (SELECT 1 FROM part
                  WHERE part.measurement_id = measurement.id
                    AND part.variant_version < (SELECT max(version) FROM variant WHERE variant.id = part.variant));

-- The fastest exact config of each (graph, environment, problem, policy, clock).
CREATE VIEW best AS
WITH ranked AS (
    SELECT *,
           row_number() OVER by_time AS place,
           lead(config) OVER by_time AS second_config,
           lead(median_us) OVER by_time AS second_us,
           min(iif(variant LIKE '%cusparse%', median_us, NULL)) OVER in_key AS library_us
    FROM usable
    WHERE approximate = 0
    WINDOW in_key AS (PARTITION BY graph_id, environment_id, problem_id, policy, clock),
           by_time AS (PARTITION BY graph_id, environment_id, problem_id, policy, clock ORDER BY median_us, id)
)
SELECT graph.name                                            AS graph,
       problem.op                                            AS op,
       problem.k                                             AS k,
       problem.text                                          AS problem,
       environment.device_name                               AS device,
       policy,
       clock,
       config,
       round(median_us, 3)                                   AS time_us,
       round(library_us, 3)                                  AS cusparse_us,
       round(library_us / median_us, 3)                      AS vs_cusparse,
       second_config                                         AS runner_up,
       round(100 * (second_us / median_us - 1), 1)           AS margin_percent,
       iif(ranked.deterministic, 'yes', 'no')                AS deterministic,
       taken_at,
       environment_id
FROM ranked
JOIN graph ON graph.id = graph_id
JOIN problem ON problem.id = problem_id
JOIN environment ON environment.id = environment_id
WHERE place = 1
ORDER BY graph, op, k, problem, device, environment_id, policy, clock;

-- A row for each measurement with counters: bytes moved beside the time.
CREATE VIEW counters AS
SELECT measurement_id, graph.name AS graph, problem.op AS op, problem.k AS k, problem.text AS problem,
       environment.device_name AS device, policy, clock, config, round(median_us, 3) AS time_us,
       max(iif(counter.name = 'dram_read_bytes', value, NULL))              AS dram_read_bytes,
       max(iif(counter.name = 'dram_write_bytes', value, NULL))             AS dram_write_bytes,
       32 * max(iif(counter.name = 'l2_read_sectors', value, NULL))         AS l2_read_bytes,
       32 * max(iif(counter.name = 'l2_write_sectors', value, NULL))        AS l2_write_bytes,
       32 * max(iif(counter.name = 'l2_atomic_sectors', value, NULL))       AS l2_atomic_bytes,
       32 * max(iif(counter.name = 'l2_reduction_sectors', value, NULL))    AS l2_reduction_bytes,
       max(iif(counter.name = 'l2_hit_percent', value, NULL))               AS l2_hit_percent,
       max(iif(counter.name = 'l1_hit_percent', value, NULL))               AS l1_hit_percent,
       max(iif(counter.name = 'occupancy_percent', value, NULL))            AS occupancy_percent,
       max(iif(counter.name = 'issue_percent', value, NULL))                AS issue_percent,
       max(iif(counter.name = 'l1_pipe_percent', value, NULL))              AS l1_pipe_percent,
       max(iif(counter.name = 'tensor_pipe_percent', value, NULL))          AS tensor_pipe_percent,
       max(iif(counter.name = 'tensor_instructions', value, NULL))          AS tensor_instructions,
       max(iif(counter.name = 'shared_bank_conflicts', value, NULL))        AS shared_bank_conflicts,
       max(iif(counter.name = 'sm_active_us', value, NULL))                 AS sm_active_us,
       max(iif(counter.name = 'atomic_unit_us', value, NULL))               AS atomic_unit_us,
       max(counter.taken_at) AS counted_at, environment_id
FROM counter
JOIN measurement ON measurement.id = measurement_id
JOIN graph ON graph.id = graph_id
JOIN problem ON problem.id = problem_id
JOIN environment ON environment.id = environment_id
GROUP BY measurement_id
ORDER BY graph, op, k, problem, device, environment_id, policy, clock, median_us;

-- What was decided, with names.
CREATE VIEW choices AS
SELECT graph.name AS graph, problem.op AS op, problem.k AS k, problem.text AS problem,
       environment.device_name AS device, policy, clock, config, variant_version AS version, choice.source AS source,
       round(expected_us, 3) AS expected_us, json_array_length(tied) AS tied, reason, decided_at, run_id, environment_id
FROM choice
JOIN graph ON graph.id = graph_id
JOIN problem ON problem.id = problem_id
JOIN environment ON environment.id = environment_id
ORDER BY graph, op, k, problem, device, environment_id, policy, clock;

-- What was decided for training steps: a row for each call.
CREATE VIEW steps AS
SELECT graph.name AS graph, step, environment.device_name AS device, policy, clock, problem.text AS problem,
       runs_per_step, runs_per_graph, config, variant_version AS version, step_call.formats AS formats,
       round(expected_us, 3) AS expected_us, round(step_us, 3) AS step_us, round(build_us, 3) AS build_us, format_bytes,
       workspace_bytes, format_limit_bytes, expected_steps, decided_at, run_id, environment_id
FROM step_choice
JOIN step_call ON step_choice_id = step_choice.id
JOIN graph ON graph.id = graph_id
JOIN problem ON problem.id = problem_id
JOIN environment ON environment.id = environment_id
ORDER BY graph, step, device, environment_id, policy, clock, position;

CREATE VIEW runs AS
SELECT run.id AS run, command, tool_version, git_commit, started_at, ended_at,
       CAST(round(86400 * (julianday(ended_at) - julianday(started_at))) AS INTEGER) AS seconds,
       (SELECT count(*) FROM measurement WHERE run_id = run.id) AS measurements,
       (SELECT count(*) FROM measurement WHERE run_id = run.id AND status = 'ok') AS ok,
       (SELECT group_concat(DISTINCT device_name) FROM measurement
        JOIN environment ON environment.id = environment_id WHERE run_id = run.id) AS device,
       seed, host
FROM run
ORDER BY run.id;

CREATE VIEW failures AS
SELECT graph.name AS graph, problem.text AS problem, environment.device_name AS device, policy, clock, config,
       variant_version AS version, status, reason, taken_at, run_id
FROM measurement
JOIN graph ON graph.id = graph_id
JOIN problem ON problem.id = problem_id
JOIN environment ON environment.id = environment_id
WHERE status <> 'ok'
ORDER BY measurement.id;

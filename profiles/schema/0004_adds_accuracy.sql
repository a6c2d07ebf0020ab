-- Schema 4. docs/database.md describes the tables.

-- What a trained model keeps of its accuracy when its sums run in a way that is not exact. `way` has a word for each sum.
CREATE TABLE accuracy (
    id             INTEGER PRIMARY KEY,
    graph_id       INTEGER NOT NULL REFERENCES graph (id),
    environment_id INTEGER NOT NULL REFERENCES environment (id),
    model          TEXT NOT NULL CHECK (length(model) = 32),
    model_name     TEXT NOT NULL,
    way            TEXT NOT NULL CHECK (way <> ''),
    models         INTEGER NOT NULL CHECK (models >= 1),
    vertices       INTEGER NOT NULL CHECK (vertices >= 1),
    accuracy       REAL NOT NULL CHECK (accuracy BETWEEN 0 AND 1),
    exact_accuracy REAL NOT NULL CHECK (exact_accuracy BETWEEN 0 AND 1),
    loss           REAL NOT NULL,
    loss_low       REAL NOT NULL CHECK (loss_low <= loss),
    loss_high      REAL NOT NULL CHECK (loss_high >= loss),
    max_error      REAL NOT NULL CHECK (max_error >= 0),
    time_us        REAL NOT NULL CHECK (time_us > 0),
    exact_us       REAL NOT NULL CHECK (exact_us > 0),
    run_id         INTEGER NOT NULL REFERENCES run (id),
    taken_at       TEXT NOT NULL,
    UNIQUE (graph_id, environment_id, model, way)
) STRICT;

-- The sums of the model, in their order: what each ran with.
CREATE TABLE accuracy_call (
    accuracy_id     INTEGER NOT NULL REFERENCES accuracy (id) ON DELETE CASCADE,
    position        INTEGER NOT NULL CHECK (position >= 0),
    problem_id      INTEGER NOT NULL REFERENCES problem (id),
    rule            TEXT NOT NULL CHECK (rule <> ''),
    config          TEXT NOT NULL,
    variant         TEXT NOT NULL,
    variant_version INTEGER NOT NULL,
    time_us         REAL NOT NULL CHECK (time_us > 0),
    PRIMARY KEY (accuracy_id, position),
    FOREIGN KEY (variant, variant_version) REFERENCES variant (id, version)
) STRICT, WITHOUT ROWID;

CREATE VIEW accuracies AS
SELECT graph.name AS graph, model_name, way, environment.device_name AS device, round(100 * accuracy, 2) AS accuracy_percent,
       round(100 * loss, 2) AS loss_percent, round(100 * loss_low, 2) AS low_percent,
       round(100 * loss_high, 2) AS high_percent, models, vertices, round(time_us, 3) AS time_us,
       round(exact_us / time_us, 3) AS speedup, max_error, model, taken_at, run_id, environment_id
FROM accuracy
JOIN graph ON graph.id = graph_id
JOIN environment ON environment.id = environment_id
ORDER BY graph, model_name, model, device, environment_id, accuracy.time_us;

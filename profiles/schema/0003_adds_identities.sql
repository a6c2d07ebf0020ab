-- Schema 3. docs/database.md describes the tables.

-- What makes a run itself, wherever its rows are copied to: the microsecond in which it began, and a number by chance.
-- Runs of older programs have none; they are the same if all that the table run says of them is.
CREATE TABLE run_identity (
    run_id   INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    identity TEXT NOT NULL UNIQUE CHECK (length(identity) = 32)
) STRICT;

-- Errata that were removed, so that a file which still has one does not bring it back.
CREATE TABLE removed_erratum (
    condition  TEXT PRIMARY KEY CHECK (condition <> ''),
    removed_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Schema 2. docs/database.md describes the table.

-- Configs that must not run, with the reason. What a condition may be is in core/registry/errata.hpp.
CREATE TABLE erratum (
    id        INTEGER PRIMARY KEY,
    condition TEXT NOT NULL UNIQUE CHECK (condition <> ''),
    reason    TEXT NOT NULL CHECK (reason <> ''),
    added_at  TEXT NOT NULL
) STRICT;

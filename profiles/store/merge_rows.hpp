// Rows of one database taken into another, so that the order in which databases are taken in does not matter. Inside
// profiles/ only.
//
// All work on a connection that has the other database attached as `other`, inside one transaction, and in this order.
// Their temporary tables stay until the next merge.
#pragma once

#include <cstdint>

#include "profiles/database/database.hpp"

namespace gnntune::store {

/// Makes merge_now: `latest`, the last time that a stamp may say. Those after it are of a clock that was wrong.
void note_time(const Database& database);

/// Finds or adds graphs, environments, problems, variants and runs, and makes merge_graph, merge_environment,
/// merge_problem and merge_run: `theirs`, `ours`.
void take_owners(const Database& database);

/// Makes merge_measurement: of each row there `theirs`, `ours`, `is_new` and the owners here.
void match_measurements(const Database& database);

/// Adds the new ones with their parts, and counters; then puts all rows into the order of their times. `before` is the
/// largest id that was here.
void take_measurements(const Database& database);

/// What stands once: the later of formats, constants, models (of those that are not in merge_bad_model), choices, steps,
/// accuracies.
void take_later(const Database& database);

/// The later of what was said about each condition: that it is an erratum, or that it is none any more. Returns how many
/// errata are here that were not, or have another reason.
std::int64_t take_errata(const Database& database);

}  // namespace gnntune::store

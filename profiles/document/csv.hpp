// The store as CSV: UTF-8, one header line, RFC 4180 quoting, "\n" line ends, numbers in shortest exact decimal form,
// NULL as an empty field; control characters are escaped (core/common/printable.hpp), so that a row is a line. Used for
// committed evidence files.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>

#include "profiles/store/store.hpp"

namespace gnntune::store {

/// Says of the config of a row what keeps it from running; empty if nothing does.
using HeldBackWords = std::function<std::string(const BestRow& row)>;

/// Store::best(), with the columns of the view `best` and `held_back`.
void write_best_csv(const Store& store, const HeldBackWords& held_back, std::ostream& out);

/// Every measurement of `run` (of all runs if none is given) in the order taken, failed ones with their reason:
/// graph, n_rows, n_cols, m, op, k, heads, weighted, direction, self_loop, dtype, reduce, policy, clock, config, variant_version,
/// status, reason, median_us, q1_us, q3_us, samples, sm_clock_mhz, prepare_us, workspace_bytes, max_error, device,
/// driver, cuda, taken_at, commit, and the counters of the view `counters`. Throws ErrorKind::invalid_argument if there
/// is no such run.
void write_measurements_csv(const Store& store, std::optional<std::int64_t> run, std::ostream& out);

}  // namespace gnntune::store

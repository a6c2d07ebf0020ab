// What counters look like: the row of a table for programs, the lines and small tables for people.
#pragma once

#include <string>

#include "core/registry/measurement.hpp"
#include "core/registry/variant.hpp"
#include "tools/common/lines.hpp"
#include "tuner/bound.hpp"

namespace gnntune::tools {

/// A profiled config, with what was to be expected of it.
struct ProfiledConfig {
    std::string graph;
    Problem problem;
    Measurement measurement;
    CostTerms expected;
    Roofline roofline;
    tuner::Limits limits;  ///< nothing in it without counters
};

/// A row for each config: CSV and JSON.
Table profile_table();
void add_row(Table& table, const ProfiledConfig& config);

/// Two lines that head the counters of a config.
Lines heading(const ProfiledConfig& config);
/// Counted, expected and the share of what the device can do, a row for each counter.
Table counters_table(const ProfiledConfig& config);
/// "DRAM 12.3 MiB, L2 106.2 MiB, L2 hits 80 %, ...", without what is not known.
std::string counters_text(const Counters& counters);
/// "moved 1.9x the compulsory bytes, 71 % of them from L2; bound by l2 (84 % of its limit)", without what is not known.
std::string conclusion(const Counters& counters, const tuner::Limits& limits, const Work& work);

}  // namespace gnntune::tools

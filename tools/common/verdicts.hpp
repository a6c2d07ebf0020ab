// Verdicts on measurements, as `db diff` and `bench --compare` take and show them.
#pragma once

#include <string>
#include <vector>

#include "tools/common/options.hpp"
#include "tools/common/output.hpp"
#include "tuner/compare.hpp"

namespace gnntune::tools {

/// Adds --across and --fail-on to a group of its own.
void add_verdict_options(Options& options);
/// The verdicts of a comma list, "all" being every one; throws ErrorKind::invalid_argument naming them.
std::vector<tuner::Judged> verdicts(const Parsed& parsed, const std::string& option);
/// kExitRuntime, with a note on stderr, if a pair has one of the verdicts of --fail-on; else kExitOk.
int exit_code_of(const tuner::Comparison& comparison, const Parsed& parsed, Output& out);

/// The pairs that have one of `only`, the largest ratio first.
Table pair_table(const tuner::Comparison& comparison, const std::vector<tuner::Judged>& only);
/// How verdicts come out for each op and variant.
Table tally_table(const tuner::Comparison& comparison);
/// "57 configs in both: 40 SAME, 1 FAST, 2 SLOW, 14 AMBIGUOUS; 3 only in a.db, none only in b.db"
std::string tally_sentence(const tuner::Comparison& comparison, const std::string& a, const std::string& b);

/// SLOW is bad, FAST good, AMBIGUOUS dim.
Style style_of(tuner::Judged verdict);

}  // namespace gnntune::tools

// What gnntune coverage prints: rows, kinds, and the sentence beneath.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/registry/measurement.hpp"
#include "tools/common/output.hpp"
#include "tuner/coverage.hpp"

namespace gnntune::tools {

/// Verdicts that are shown; of --only, else in text what is neither ok nor left out, and in CSV and JSON all.
std::set<tuner::CoverageVerdict> shown_verdicts(const Parsed& parsed, const Output& out);

/// Prints the rows and, but for CSV, the kinds. `folded`: in a table, problems that need not have a variant and have none
/// are one row for each op and storage type.
void print_coverage(Output& out, const std::vector<tuner::CoverageRow>& rows, const tuner::CoverageDemands& demands,
                    const std::set<tuner::CoverageVerdict>& shown, bool folded, Policy policy, Clock clock);

/// What can be done, without a time: variants of each problem, or why there are none.
struct ListedProblem {
    tuner::CoverageOutcome outcome;  ///< `no_variant`, or not
    std::vector<std::string> variants;
};
void print_coverage_list(Output& out, const std::vector<ListedProblem>& problems, const tuner::CoverageDemands& demands,
                         const std::set<tuner::CoverageVerdict>& shown);

}  // namespace gnntune::tools

// What `gnntune coverage` looks at, and its --list, which measures nothing.
#pragma once

#include <vector>

#include "core/registry/op.hpp"
#include "tools/common/options.hpp"
#include "tuner/coverage.hpp"

namespace gnntune::tools {

/// Every legal problem of --op, --dim and --heads.
std::vector<Problem> coverage_problems(const Parsed& parsed);
/// What is demanded of the backend, with the bounds of --bound.
tuner::CoverageDemands coverage_demands(const Parsed& parsed, Backend backend);
/// Names the problems and their variants. The exit code.
int list_coverage(const Parsed& parsed);

}  // namespace gnntune::tools

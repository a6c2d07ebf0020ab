// What `gnntune tune --dry-run` prints.
#pragma once

#include <optional>
#include <vector>

#include "tools/common/graphs.hpp"
#include "tools/common/steps.hpp"
#include "tuner/tune.hpp"

namespace gnntune::tools {

/// What is to be measured, with the time that it may take. Returns the exit code.
int print_tune_plan(const std::vector<GraphArgument>& graphs, const Device& device, tuner::Tuner& tuner,
                    const tuner::TuneOptions& options, const std::optional<Step>& step, Output& out);

}  // namespace gnntune::tools

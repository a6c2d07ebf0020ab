// --step and what goes with it: shared by tune and explain.
#pragma once

#include <optional>
#include <vector>

#include "core/dispatch/choose_step.hpp"
#include "core/dispatch/step.hpp"
#include "tools/common/options.hpp"

namespace gnntune::tools {

/// Adds the group "Whole training step": --step, --layers, --features, --format-limit.
void add_step_options(Options& options);

/// The step of --step with the widths of --dim, --layers and --heads; nothing without --step. Throws
/// ErrorKind::invalid_argument for what contradicts it, and for options that only a step has where there is none.
std::optional<Step> step_of(const Parsed& parsed);
/// --format-limit and the constraints; expected calls are steps.
StepLimits step_limits(const Parsed& parsed);
/// The problems of a step, once each.
std::vector<Problem> problems_of(const Step& step);

}  // namespace gnntune::tools

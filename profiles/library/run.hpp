// The launch path: what is checked before a run is enqueued.
#pragma once

#include <cstddef>

#include "core/dispatch/plan.hpp"
#include "core/include/gnntune/gnntune.h"

namespace gnntune::library {

/// Operands for the launch. Throws ErrorKind::invalid_argument in words if one is missing, not aligned or not wanted.
Operands checked_operands(const Plan& plan, const Graph& graph, const gnntune_operands& given);

/// Throws ErrorKind::invalid_argument in words if the plan needs more, or another alignment.
void check_workspace(const Plan& plan, const void* workspace, std::size_t bytes);

}  // namespace gnntune::library

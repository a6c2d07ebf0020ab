#pragma once

#include "core/registry/variant.hpp"
#include "kernels/common/attend.hpp"

namespace gnntune::attention_rows {

using State = kernels::AttendPlan;

/// Enqueues one run on operands of type T on the device that is current; there is a translation unit for each of float,
/// Float16 and BFloat16. Throws on a launch error.
template <typename T>
void launch_typed(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::attention_rows

#pragma once

#include "kernels/common/gas.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune::spmm_gas {

using State = kernels::PlanState<kernels::GasParams, CooFormat>;

/// Enqueues the initialisation of y and one run. Throws on a launch error.
void launch(const State& state, const Operands& operands, StreamHandle stream);

}  // namespace gnntune::spmm_gas

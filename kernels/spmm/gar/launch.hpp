#pragma once

#include "kernels/common/gar.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune::spmm_gar {

using State = kernels::PlanState<kernels::GarParams, CsrFormat>;

/// Enqueues one run. Throws on a launch error.
void launch(const State& state, const Operands& operands, StreamHandle stream);

}  // namespace gnntune::spmm_gar

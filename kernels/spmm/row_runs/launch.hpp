#pragma once

#include "core/graph/formats.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/spmm/row_runs/params.hpp"

namespace gnntune::spmm_row_runs {

using State = kernels::PlanState<RowRunsParams, CsrFormat>;

/// Enqueues one run on operands of type T on the device that is current; there is a translation unit for each of float,
/// Float16 and BFloat16. Throws on a launch error.
template <typename T>
void launch_typed(const State& state, const Operands& operands, StreamHandle stream);

}  // namespace gnntune::spmm_row_runs

// What a plan holds between its runs.
#pragma once

#include "kernels/attention/rows/launch.hpp"
#include "kernels/common/attend.cuh"

namespace gnntune::attention_rows {

struct Plan {
    kernels::AttendPlan rows;
};

/// launch() for a plan whose dtype is T; there is a translation unit for each.
template <typename T>
void launch_typed(const Plan& plan, const Operands& operands, void* workspace, cudaStream_t stream);

}  // namespace gnntune::attention_rows

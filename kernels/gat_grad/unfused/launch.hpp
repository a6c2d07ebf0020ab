#pragma once

#include "core/graph/formats.hpp"
#include "kernels/common/composition.hpp"

namespace gnntune::gat_grad_unfused {

struct State {
    std::shared_ptr<const CooFormat> coo;
    kernels::PartPlans parts;  ///< spmm, sddmm, row_sum, col_sum
    std::int32_t k;
    std::int32_t heads;
};

std::size_t workspace_bytes(const State& state);

/// Enqueues one run. Throws on a launch error.
void launch(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::gat_grad_unfused

#pragma once

#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/agnn_grad/gas/params.hpp"

namespace gnntune::agnn_grad_gas {

struct Plan {
    std::shared_ptr<const CooFormat> coo;
    GasParams params;
    std::int32_t k = 0;
    std::int32_t heads = 0;
};

std::size_t workspace_bytes(const Plan& plan);
/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const Plan& plan, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::agnn_grad_gas

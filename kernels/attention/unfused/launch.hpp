#pragma once

#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/composition.hpp"

namespace gnntune::attention_unfused {

struct Plan;

/// Cuts long rows into pieces: synchronises `stream`.
std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, kernels::PartPlans parts, std::int32_t k,
                                      std::int32_t heads, StreamHandle stream);
std::size_t workspace_bytes(const Plan& plan);
/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const Plan& plan, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::attention_unfused

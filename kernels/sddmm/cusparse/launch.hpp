#pragma once

#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::sddmm_cusparse {

struct Plan;

/// Asks cuSPARSE for its buffer size. Synchronises.
std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, std::int32_t k, StreamHandle stream);
std::size_t workspace_bytes(const Plan& plan);
void launch(const Plan& plan, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::sddmm_cusparse

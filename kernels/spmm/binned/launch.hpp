#pragma once

#include <cstdint>
#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/spmm/binned/params.hpp"

namespace gnntune::spmm_binned {

struct Plan;

/// Which rows go to which blocks. Synchronises `stream`.
std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, const BinnedParams& params, std::int32_t k,
                                      bool weighted, bool mean, DType dtype, StreamHandle stream);
std::size_t workspace_bytes(const Plan& plan);
/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const Plan& plan, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::spmm_binned

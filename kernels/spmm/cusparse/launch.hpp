#pragma once

#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/spmm/cusparse/params.hpp"

namespace gnntune::spmm_cusparse {

/// What a plan keeps. Exactly one of `csr` and `coo` is set, by params.coo().
struct Plan;

/// Builds a plan: asks cuSPARSE for its buffer size and preprocesses if the params say so. Synchronises.
std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, std::shared_ptr<const CooFormat> coo,
                                      const CusparseParams& params, std::int32_t k, bool weighted, DType dtype,
                                      StreamHandle stream);

/// Bytes for cuSPARSE's buffer and for weights in the format's order.
std::size_t workspace_bytes(const Plan& plan);

void launch(const Plan& plan, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::spmm_cusparse

#pragma once

#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/formats/dense/dense.hpp"

namespace gnntune::spmm_dense {

/// What a plan keeps.
struct Plan;

/// What a plan is made of. Exactly one of `dense` and `cells` is set: `cells` where the problem is weighted.
struct PlanParts {
    std::shared_ptr<const CsrFormat> csr;
    std::shared_ptr<const formats::DenseFormat> dense;
    std::shared_ptr<const formats::DenseCellsFormat> cells;
    std::int32_t compute_capability = 0;
    Precision precision = Precision::fp32;
};

/// Opens cuBLAS. For TF32, where an edge occurs more often than TF32 can count, the plan keeps a rounded copy of the
/// array. Allocates and synchronises.
std::shared_ptr<const Plan> make_plan(PlanParts parts, const Problem& problem, StreamHandle stream);

/// Bytes for cuBLAS, for the array (weighted), and for operands rounded to TF32.
std::size_t workspace_bytes(const Plan& plan);

/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const Plan& plan, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::spmm_dense

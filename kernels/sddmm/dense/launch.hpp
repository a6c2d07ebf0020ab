#pragma once

#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::sddmm_dense {

/// What a plan keeps.
struct Plan {
    std::shared_ptr<const CooFormat> coo;  ///< by ascending row
    std::int32_t k = 0;
    bool weighted = false;
    std::size_t cublas_bytes = 0;  ///< of the workspace, for cuBLAS
};

/// Bytes for cuBLAS and for the product of all rows with all columns.
std::size_t workspace_bytes(const Plan& plan);

/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const Plan& plan, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::sddmm_dense

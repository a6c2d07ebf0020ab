#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/sddmm/edges/params.hpp"

namespace gnntune::sddmm_edges {

/// Enqueues one run on operands of type T on the device that is current; there is a translation unit for each of float,
/// Float16 and BFloat16. Throws on a launch error.
template <typename T>
void launch_typed(const CooFormat& coo, const EdgesParams& params, std::int32_t k, std::int32_t heads, bool weighted,
                  const Operands& operands, cudaStream_t stream);

}  // namespace gnntune::sddmm_edges

#pragma once

#include <cstdint>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/sddmm/tcgnn/params.hpp"

namespace gnntune::sddmm_tcgnn {

/// Features of x_row that a block holds at a time: k in the fewest equal parts, each whole steps.
int segment_features(std::int32_t k, int tiles_per_warp);

/// Shared memory of a block.
std::int64_t shared_bytes(std::int32_t k, const TcgnnParams& params);

/// Lets the kernels that launch() may pick use so much, on the device that is current.
void allow_shared_memory(const TcgnnParams& params);

/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const SgtFormat& tiles, const TcgnnParams& params, std::int32_t k, bool weighted, const Operands& operands,
            StreamHandle stream);

}  // namespace gnntune::sddmm_tcgnn

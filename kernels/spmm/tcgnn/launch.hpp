#pragma once

#include <cstdint>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/spmm/tcgnn/params.hpp"

namespace gnntune::spmm_tcgnn {

/// Shared memory of a block.
std::int64_t shared_bytes(int warps_per_block, int tiles_per_warp);

/// Lets the kernels that launch() may pick use so much, on the device that is current.
void allow_shared_memory(const TcgnnParams& params);

/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const SgtFormat& tiles, const TcgnnParams& params, std::int32_t k, bool weighted, const Operands& operands,
            StreamHandle stream);

}  // namespace gnntune::spmm_tcgnn

#pragma once

#include <cstdint>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::edge_softmax_gas {

/// Enqueues zeroing and three kernels with blocks of `block_size` threads. Throws on a launch error.
void launch(const CooFormat& coo, int block_size, std::int32_t heads, const Operands& operands, void* workspace,
            StreamHandle stream);

}  // namespace gnntune::edge_softmax_gas

#pragma once

#include <cstdint>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::spmm_gar {

/// Enqueues one run with blocks of `block_size` threads. Throws on a launch error.
void launch(const CsrFormat& csr, int block_size, std::int32_t k, bool weighted, bool mean,
            const Operands& operands, StreamHandle stream);

}  // namespace gnntune::spmm_gar

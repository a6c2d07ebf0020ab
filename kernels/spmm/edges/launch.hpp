#pragma once

#include <cstdint>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/spmm/edges/params.hpp"

namespace gnntune::spmm_edges {

/// Enqueues one run on the device that is current. Throws on a launch error. `coo` is sorted by row and has the edges of
/// `csr` in the same order.
void launch(const CsrFormat& csr, const CooFormat& coo, const EdgesParams& params, std::int32_t k, bool weighted,
            const Operands& operands, StreamHandle stream);

}  // namespace gnntune::spmm_edges

#pragma once

#include <cstdint>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/sddmm/edges/params.hpp"

namespace gnntune::sddmm_edges {

/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const CooFormat& coo, const EdgesParams& params, std::int32_t k, bool weighted, const Operands& operands,
            StreamHandle stream);

}  // namespace gnntune::sddmm_edges

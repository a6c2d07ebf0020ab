#pragma once

#include <cstddef>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::csr_to_csc_cusparse {

/// Bytes of cuSPARSE's buffer and of the positions that travel as values. Calls the library; needs a device.
std::size_t workspace_bytes(const CsrFormat& csr, StreamHandle stream);

void launch(const CsrFormat& csr, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::csr_to_csc_cusparse

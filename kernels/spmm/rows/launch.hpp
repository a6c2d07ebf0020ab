#pragma once

#include <cstdint>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/spmm/rows/params.hpp"

namespace gnntune::spmm_rows {

/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const CsrFormat& csr, const RowsParams& params, std::int32_t k, bool weighted, bool mean,
            const Operands& operands, StreamHandle stream);

}  // namespace gnntune::spmm_rows

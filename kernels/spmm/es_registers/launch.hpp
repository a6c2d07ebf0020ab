#pragma once

#include <cstdint>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/spmm/es_registers/params.hpp"

namespace gnntune::spmm_es_registers {

/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const CsrFormat& csr, const RegistersParams& params, std::int32_t k, bool weighted, bool mean,
            const Operands& operands, StreamHandle stream);

}  // namespace gnntune::spmm_es_registers

#pragma once

#include <cstdint>
#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/gat/binned/params.hpp"

namespace gnntune::gat_binned {

struct State {
    std::shared_ptr<const CsrFormat> csr;
    kernels::BinnedRows rows;
    BinnedParams params;
    std::int32_t k;
    std::int32_t heads;
};

/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::gat_binned

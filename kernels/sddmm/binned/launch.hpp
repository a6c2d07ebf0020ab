#pragma once

#include <cstdint>
#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/sddmm/binned/params.hpp"

namespace gnntune::sddmm_binned {

struct State {
    std::shared_ptr<const CsrFormat> csr;
    kernels::BinnedRows rows;
    BinnedParams params;
    std::int32_t k;
    bool weighted;
    DType dtype;
};

/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const State& state, const Operands& operands, StreamHandle stream);

/// The same for a state whose dtype is T; there is a translation unit for each.
template <typename T>
void launch_typed(const State& state, const Operands& operands, cudaStream_t stream);

}  // namespace gnntune::sddmm_binned

#pragma once

#include <cstdint>
#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/spmm/max_binned/params.hpp"

namespace gnntune::spmm_max_binned {

struct State {
    std::shared_ptr<const CsrFormat> csr;
    kernels::BinnedRows rows;
    MaxParams params;
    std::int32_t k;
    bool weighted;
    DType dtype;
};

std::size_t workspace_bytes(const State& state);

/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

/// The same for a state whose dtype is T; there is a translation unit for each.
template <typename T>
void launch_typed(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::spmm_max_binned

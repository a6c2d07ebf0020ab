#pragma once

#include <cstdint>
#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/column_pass.hpp"

namespace gnntune::gat_grad_binned {

struct State {
    std::shared_ptr<const CsrFormat> csr;
    std::shared_ptr<const CsrFormat> csc;
    kernels::BinnedRows rows;
    kernels::BinnedRows cols;
    kernels::ColumnPassParams params;
    std::int32_t k;
    std::int32_t heads;
    DType dtype;
};

/// Bins of the pass that sums over rows.
kernels::BinShape row_shape(std::int32_t heads);

std::size_t workspace_bytes(const State& state);

/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

/// The same for a state whose dtype is T; there is a translation unit for each.
template <typename T>
void launch_typed(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::gat_grad_binned

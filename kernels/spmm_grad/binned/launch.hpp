#pragma once

#include <cstdint>
#include <memory>

#include "core/gpu/device_buffer.hpp"
#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/column_pass.hpp"

namespace gnntune::spmm_grad_binned {

struct State {
    std::shared_ptr<const CsrFormat> csc;
    std::shared_ptr<const CsrFormat> csr;  ///< for the mean, whose weights need the rows' degrees; else null
    DeviceBuffer<float> edge_share;        ///< for the mean: 1 / terms of an edge's row, in the order of the CSC
    kernels::BinnedRows cols;
    kernels::ColumnPassParams params;
    std::int32_t k;
    std::int32_t heads;
    bool weighted;
    bool self_loop;
    bool maximum;  ///< by max, with argmax
    DType dtype;
};

/// Fills edge_share. Synchronises.
void make_shares(State& state, StreamHandle stream);

std::size_t workspace_bytes(const State& state);

/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

/// The same for a state whose dtype is T.
template <typename T>
void launch_typed(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::spmm_grad_binned

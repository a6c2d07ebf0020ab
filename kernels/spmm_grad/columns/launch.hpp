#pragma once

#include <memory>

#include "core/gpu/device_buffer.hpp"
#include "core/graph/formats.hpp"
#include "kernels/spmm_grad/columns/params.hpp"

namespace gnntune::spmm_grad_columns {

struct State {
    std::shared_ptr<const CsrFormat> csc;
    kernels::BinnedRows cols;
    ColumnsParams params;
    DeviceBuffer<float>
        edge_share;             ///< [m] what an edge's term is multiplied with, in the CSC's order; empty for the sum
    DeviceBuffer<float> share;  ///< [n_rows] the same of a row's self loop; empty without
    std::int32_t k;
    DType dtype;
    bool self_loop;
    bool maximum;
};

/// Fills the shares of a mean, 1 / terms of a row: its edges, and its self loop if there are any. Synchronises.
void make_shares(const CsrFormat& csr, State& state, StreamHandle stream);

/// Enqueues one run on operands of type T on the device that is current. Throws on a launch error.
template <typename T>
void launch_typed(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::spmm_grad_columns

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
    DeviceBuffer<float> share;  ///< [n_rows] what a row's terms are multiplied with; empty for the sum
    std::int32_t k;
    DType dtype;
    bool self_loop;
};

/// Writes share[i] = 1 / terms of row i: its edges, and its self loop if `self_loop` says that rows have one. Device
/// memory, [n_rows]. Synchronises.
void make_shares(const CsrFormat& csr, bool self_loop, float* share, StreamHandle stream);

/// Enqueues one run on operands of type T on the device that is current. Throws on a launch error.
template <typename T>
void launch_typed(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::spmm_grad_columns

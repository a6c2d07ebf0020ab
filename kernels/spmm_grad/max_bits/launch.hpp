#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/column_pass.hpp"

namespace gnntune::spmm_grad_max_bits {

inline constexpr int kBitsThreads = 128;

/// Bytes of an edge's bits, for rows of k elements.
constexpr std::int32_t bits_stride(std::int32_t k) {
    return (k + 7) / 8;
}

/// Of the launch that makes bits: a lane has a byte.
inline kernels::BinShape bits_shape(std::int32_t k) {
    return {kernels::next_power_of_two(std::min(32, bits_stride(k))), 32, kBitsThreads};
}

struct State {
    std::shared_ptr<const CsrFormat> csr;
    std::shared_ptr<const CsrFormat> csc;
    kernels::BinnedRows rows;
    kernels::BinnedRows cols;
    kernels::ColumnPassParams params;
    std::int32_t k;
    bool weighted;
    DType dtype;
};

/// The workspace of a run: sums of pieces of split columns, then the bits.
struct Workspace {
    float* partial;
    std::uint8_t* bits;
    std::size_t bytes;

    Workspace(const State& state, void* base);
};

/// Enqueues one run of a state whose dtype is T on the device that is current. Throws on a launch error.
template <typename T>
void launch_typed(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::spmm_grad_max_bits

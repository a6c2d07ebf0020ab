// y[e] = act(scale weight[e] s[row_e, col_e]), where s holds the product of every row with every column.
//
// Layout   s [n_rows, stride] row-major; row_idx, col_idx [m] ascending by row; edge_id [m] or null (the caller's
//          order); weight (null: ones) and y [m] in the caller's order.
// Work     one thread per edge.
// Data     8 bytes of ids per edge, 4 more of edge_id, one sector of s (shared by neighbours in a row), weight and y,
//          which are scattered where there is an edge_id.
// Atomics, shared memory: none.
#pragma once

#include <cstdint>

#include "kernels/sddmm/common/edge_epilogue.hpp"

namespace gnntune::sddmm_dense {

inline constexpr int kThreads = 256;

static __global__ void sample_edges(const float* __restrict__ s, std::int64_t stride,
                                    const std::int32_t* __restrict__ row_idx, const std::int32_t* __restrict__ col_idx,
                                    const std::int32_t* __restrict__ edge_id, const float* __restrict__ weight,
                                    kernels::EdgeEpilogue epilogue, std::int64_t m, float* __restrict__ y) {
    const std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
    if (e >= m) return;
    const std::int64_t place = edge_id ? edge_id[e] : e;
    const float dot = s[row_idx[e] * stride + col_idx[e]];
    y[place] = epilogue(weight ? weight[place] * dot : dot);
}

}  // namespace gnntune::sddmm_dense

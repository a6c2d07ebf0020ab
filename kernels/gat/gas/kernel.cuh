// gat.gas, last kernel: y[row, h, :] += p[id, h] x[col, h, :], edge by edge: fuseGNN's gather-apply-scatter (Algorithm 1)
// with a weight per head. The weights p, after softmax and dropout, come from kernels/common/edge_passes.cuh.
//
// Layout   row_idx, col_idx [m] in any order; edge_id [m] or null; p [m, heads] in the caller's order;
//          x [n_cols, width], y [n_rows, width] zeroed beforehand, width = heads k; row-major, device memory.
// Work     width < T: a block takes floor(T / width) edges at once, consecutive threads the consecutive features of an
//          edge. width >= T: a block takes one edge and walks its features T at a time.
// Atomics  one scalar atomicAdd per edge and feature: not deterministic. Edges of weight 0 (dropped) are passed over.
#pragma once

#include "kernels/common/edge_passes.cuh"
#include "kernels/common/gat.cuh"

namespace gnntune::gat_gas {

[[maybe_unused]] static __global__ void scatter_kernel(kernels::EdgeList g, const float* __restrict__ p,
                                                       const float* __restrict__ x, float* __restrict__ y,
                                                       std::int32_t k) {
    const int threads = static_cast<int>(blockDim.x);
    const int thread = static_cast<int>(threadIdx.x);
    const int width = g.heads * k;
    const int stride = width < threads ? threads / width : 1;
    const int slot = width < threads ? thread / width : 0;
    const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * stride + slot;
    if (slot >= stride || e >= g.m) return;
    const std::int64_t id = g.edge_id ? __ldg(g.edge_id + e) : e;
    const float* source = x + static_cast<std::int64_t>(__ldg(g.col_idx + e)) * width;
    float* target = y + static_cast<std::int64_t>(__ldg(g.row_idx + e)) * width;
    for (int f = thread - slot * width; f < width; f += threads) {
        const float w = __ldg(p + id * g.heads + f / k);
        if (w != 0.0F) atomicAdd(target + f, w * __ldg(source + f));
    }
}

}  // namespace gnntune::gat_gas

// spmm.gas: gather-apply-scatter over a COO list, fuseGNN Algorithm 1.
//
// Layout   row_idx, col_idx [m] in any order; edge_id [m] or null; edge_weight [m] or null;
//          x [n_cols, k], y [n_rows, k] zeroed beforehand; row-major, device memory.
// Work     k < T: a block takes floor(T / k) edges at once, consecutive threads the consecutive features of an edge.
//          k >= T: a block takes one edge and walks its features T at a time, the weight in a register.
// Atomics  one scalar atomicAdd per edge and feature: not deterministic.
#pragma once

#include <cstdint>

namespace gnntune::spmm_gas {

__global__ void gas_kernel(const std::int32_t* __restrict__ row_idx, const std::int32_t* __restrict__ col_idx,
                           const std::int32_t* __restrict__ edge_id, const float* __restrict__ edge_weight,
                           const float* __restrict__ x, float* __restrict__ y, std::int64_t m, std::int32_t k) {
    const int threads = static_cast<int>(blockDim.x);
    const int thread = static_cast<int>(threadIdx.x);
    const int stride = k < threads ? threads / k : 1;
    const int slot = k < threads ? thread / k : 0;
    const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * stride + slot;
    if (slot >= stride || e >= m) return;
    const float w = edge_weight ? __ldg(edge_weight + (edge_id ? __ldg(edge_id + e) : e)) : 1.0F;
    const float* source = x + static_cast<std::int64_t>(__ldg(col_idx + e)) * k;
    float* target = y + static_cast<std::int64_t>(__ldg(row_idx + e)) * k;
    if (k < threads) {
        const int f = thread - slot * k;
        atomicAdd(target + f, w * __ldg(source + f));
    } else {
        for (int f = thread; f < k; f += threads) atomicAdd(target + f, w * __ldg(source + f));
    }
}

}  // namespace gnntune::spmm_gas

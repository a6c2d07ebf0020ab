// fuseGNN's gather-apply-scatter over a COO list (Algorithm 1). spmm gathers at columns and scatters to rows; the
// gradient with respect to x is the same with both exchanged (section 5.3).
#pragma once

#include <cstdint>

#include "kernels/common/gas.hpp"

namespace gnntune::kernels {

/// out[to_e, :] += w_e in[from_e, :] for every edge e.
struct Scatter {
    const std::int32_t* from;     ///< [m]
    const std::int32_t* to;       ///< [m]
    const std::int32_t* edge_id;  ///< [m] or null
    const float* edge_weight;     ///< [m] in the caller's order, or null
    const float* in;              ///< [.., k]
    float* out;                   ///< [.., k], initialised
    std::int64_t m;
    std::int32_t k;

    __device__ __forceinline__ std::int64_t id(std::int64_t e) const { return edge_id ? __ldg(edge_id + e) : e; }
    __device__ __forceinline__ float weight(std::int64_t e) const {
        return edge_weight ? __ldg(edge_weight + id(e)) : 1.0F;
    }
};

/// k < T: consecutive threads take the consecutive features of an edge. k >= T: the block walks one edge's features T at
/// a time, the weight in a register. One scalar atomicAdd per edge and feature. No barriers.
__device__ __forceinline__ void gas_scatter(const Scatter& s) {
    const int threads = static_cast<int>(blockDim.x);
    const int thread = static_cast<int>(threadIdx.x);
    const int stride = edges_per_block(s.k, threads);
    const int slot = s.k < threads ? thread / s.k : 0;
    const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * stride + slot;
    if (slot >= stride || e >= s.m) return;
    const float w = s.weight(e);
    const float* source = s.in + static_cast<std::int64_t>(__ldg(s.from + e)) * s.k;
    float* target = s.out + static_cast<std::int64_t>(__ldg(s.to + e)) * s.k;
    if (s.k < threads) {
        const int f = thread - slot * s.k;
        atomicAdd(target + f, w * __ldg(source + f));
    } else {
        for (int f = thread; f < s.k; f += threads) atomicAdd(target + f, w * __ldg(source + f));
    }
}

}  // namespace gnntune::kernels

// gcn_norm.gas: d_i = 1 + sum of the weights of row i; y[e] = w_e / sqrt(d_row d_col), y_self[i] = 1 / d_i, over a COO list.
//
// Layout   row_idx, col_idx [m] in any order; edge_id [m] or null; edge_weight [m] in the caller's order or null; y [m] in
//          the caller's order, y_self [n]; the workspace holds n sums without the self loop, zeroed before: doubles if
//          weighted, else counts in uint32; device memory.
// Work     a thread per edge: first it scatters its weight to the degree of its row, then, in a second kernel, it gathers
//          both degrees. Thread i of the second kernel also writes y_self[i].
// Sums     in double, and counts as integers: added one by one in fp32, many equal weights drift beyond its tolerance, and
//          ones are lost from 2^24 on.
// Shared   none.  Atomics: one per edge. Weighted sums come in any order: not deterministic.
#pragma once

#include <cstdint>

namespace gnntune::gcn_norm_gas {

struct Arrays {
    const std::int32_t* row_idx;
    const std::int32_t* col_idx;
    const std::int32_t* edge_id;
    const float* edge_weight;
    void* sums;
    float* y;
    float* y_self;
    std::int64_t n;
    std::int64_t m;

    __device__ __forceinline__ std::int64_t id(std::int64_t e) const { return edge_id ? __ldg(edge_id + e) : e; }
    __device__ __forceinline__ float degree(std::int64_t vertex) const {
        const double sum = edge_weight ? __ldg(static_cast<const double*>(sums) + vertex)
                                       : static_cast<double>(__ldg(static_cast<const std::uint32_t*>(sums) + vertex));
        return static_cast<float>(1.0 + sum);
    }
};

__device__ __forceinline__ std::int64_t thread_index() {
    return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__global__ void scatter_kernel(Arrays a) {
    const std::int64_t e = thread_index();
    if (e >= a.m) return;
    const std::int64_t row = __ldg(a.row_idx + e);
    if (a.edge_weight) {
        atomicAdd(static_cast<double*>(a.sums) + row, static_cast<double>(__ldg(a.edge_weight + a.id(e))));
    } else {
        atomicAdd(static_cast<std::uint32_t*>(a.sums) + row, 1U);
    }
}

__global__ void weights_kernel(Arrays a) {
    const std::int64_t t = thread_index();
    if (t < a.n) a.y_self[t] = 1.0F / a.degree(t);
    if (t >= a.m) return;
    const std::int64_t id = a.id(t);
    const float w = a.edge_weight ? __ldg(a.edge_weight + id) : 1.0F;
    a.y[id] = w * rsqrtf(a.degree(__ldg(a.row_idx + t))) * rsqrtf(a.degree(__ldg(a.col_idx + t)));
}

}  // namespace gnntune::gcn_norm_gas

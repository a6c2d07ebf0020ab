// fuseGNN's gather-apply-reduce (Algorithm 3): a thread block per row of CSR, sums kept on chip. spmm runs it over CSR;
// the gradient with respect to x is the same over CSC (section 5.4).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/common/group_reduce.cuh"

namespace gnntune::kernels {

/// y[i, :] = self_weight[i] x[i, :] + sum over edges e of row i of w_e x[col_e, :], divided by the number of terms for a
/// mean.
struct Gather {
    const std::int32_t* row_ptr;  ///< [n_rows + 1]
    const std::int32_t* col_idx;  ///< [m]
    const std::int32_t* edge_id;  ///< [m] or null
    const float* edge_weight;     ///< [m] in the caller's order, or null
    const float* self_weight;     ///< [n_rows] or null: no self loops
    const float* x;               ///< [.., k]
    float* y;                     ///< [n_rows, k]
    std::int32_t k;
    bool mean;

    __device__ __forceinline__ std::int64_t id(std::int64_t e) const { return edge_id ? __ldg(edge_id + e) : e; }
    __device__ __forceinline__ float weight(std::int64_t e) const {
        return edge_weight ? __ldg(edge_weight + id(e)) : 1.0F;
    }
    __device__ __forceinline__ const float* source(std::int64_t e) const {
        return x + static_cast<std::int64_t>(__ldg(col_idx + e)) * k;
    }
};

/// Bytes of shared memory of gar_rows().
inline std::size_t gar_shared_bytes(std::int32_t k, int block_size) {
    return k < block_size ? static_cast<std::size_t>(block_size) * sizeof(float) : 0;
}

/// Row blockIdx.x. k < T: floor(T / k) groups of k threads; group s takes the edges s, s + groups, ... of the row, one
/// feature per thread; the groups' sums meet in `partial` [T] in shared memory. k >= T: each thread owns the features t,
/// t + T, ... and walks all edges, its sum in a register.
__device__ __forceinline__ void gar_rows(const Gather& g, float* partial) {
    const int threads = static_cast<int>(blockDim.x);
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t row = blockIdx.x;
    const std::int64_t begin = __ldg(g.row_ptr + row);
    const std::int64_t end = __ldg(g.row_ptr + row + 1);
    const float* own = g.x + row * g.k;  // read with self loops only: the graph is square then
    const float self = g.self_weight ? __ldg(g.self_weight + row) : 0.0F;
    const std::int64_t terms = end - begin + (g.self_weight ? 1 : 0);
    const float factor = g.mean && terms > 0 ? 1.0F / static_cast<float>(terms) : 1.0F;
    if (g.k < threads) {
        const int groups = threads / g.k;
        const int group = thread / g.k;
        const int f = thread - group * g.k;
        float sum = 0.0F;
        if (group < groups) {
            for (std::int64_t e = begin + group; e < end; e += groups) {
                sum = fmaf(g.weight(e), __ldg(g.source(e) + f), sum);
            }
        }
        partial[thread] = sum;
        group_reduce(partial, g.k, groups);
        if (group != 0) return;
        sum = partial[thread];
        if (g.self_weight) sum = fmaf(self, __ldg(own + f), sum);
        g.y[row * g.k + f] = factor * sum;
    } else {
        for (int f = thread; f < g.k; f += threads) {
            float sum = g.self_weight ? self * __ldg(own + f) : 0.0F;
            for (std::int64_t e = begin; e < end; ++e) sum = fmaf(g.weight(e), __ldg(g.source(e) + f), sum);
            g.y[row * g.k + f] = factor * sum;
        }
    }
}

}  // namespace gnntune::kernels

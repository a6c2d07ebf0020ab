// gat.gar, last kernel: y[i, h, :] = sum over edges e of row i of p[id_e, h] x[col_e, h, :], fuseGNN's gather-apply-reduce
// (Algorithm 3) with a weight per head. The weights p, after softmax and dropout, come from kernels/common/edge_passes.cuh.
//
// Layout   row_ptr [n_rows + 1], col_idx [m], edge_id [m] or null; p [m, heads] in the caller's order;
//          x [n_cols, width], y [n_rows, width], width = heads k; row-major, device memory.
// Work     a block per row. width < T: floor(T / width) groups of width threads; group s takes the edges s, s + groups, ...
//          of the row, one feature per thread; the groups' sums meet in shared memory in a tree (group reduce).
//          width >= T: each thread owns the features t, t + T, ... and walks all edges.
// Shared   T floats.  Atomics: none in this kernel.
#pragma once

#include "kernels/common/edge_passes.cuh"
#include "kernels/common/gat.cuh"
#include "kernels/common/group_reduce.cuh"

namespace gnntune::gat_gar {

[[maybe_unused]] static __global__ void reduce_kernel(const std::int32_t* __restrict__ row_ptr,
                                                      const std::int32_t* __restrict__ col_idx,
                                                      const std::int32_t* __restrict__ edge_id,
                                                      const float* __restrict__ p, const float* __restrict__ x,
                                                      float* __restrict__ y, std::int32_t k, std::int32_t heads) {
    extern __shared__ float partial[];
    const int threads = static_cast<int>(blockDim.x);
    const int thread = static_cast<int>(threadIdx.x);
    const int width = heads * k;
    const std::int64_t row = blockIdx.x;
    const std::int64_t begin = __ldg(row_ptr + row);
    const std::int64_t end = __ldg(row_ptr + row + 1);
    const auto term = [&](std::int64_t e, int f, int head) {
        const std::int64_t id = edge_id ? __ldg(edge_id + e) : e;
        const float w = __ldg(p + id * heads + head);
        return w == 0.0F ? 0.0F : w * __ldg(x + static_cast<std::int64_t>(__ldg(col_idx + e)) * width + f);
    };
    if (width >= threads) {
        for (int f = thread; f < width; f += threads) {
            const int head = f / k;
            float sum = 0.0F;
            for (std::int64_t e = begin; e < end; ++e) sum += term(e, f, head);
            y[row * width + f] = sum;
        }
        return;
    }
    const int groups = threads / width;
    const int group = thread / width;
    const int f = thread - group * width;
    const int head = f / k;
    float sum = 0.0F;
    if (group < groups) {
        for (std::int64_t e = begin + group; e < end; e += groups) sum += term(e, f, head);
    }
    partial[thread] = sum;
    kernels::group_reduce(partial, width, groups);
    if (group == 0) y[row * width + f] = partial[thread];
}

}  // namespace gnntune::gat_gar

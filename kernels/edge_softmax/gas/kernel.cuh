// edge_softmax.gas: y[e, h] = exp(v[e, h] - max) / sum over the edges of each row, edge by edge.
//
// Work     a thread per edge and head in each of the three kernels of kernels/common/edge_passes.cuh, whose `p` is y.
// Layout   v and y [m, heads] in the caller's order; workspace: maximum's keys and sums, [n_rows, heads] each.
// Atomics  one maximum and one sum per edge and head: not deterministic.
#pragma once

#include "kernels/common/edge_passes.cuh"

namespace gnntune::edge_softmax_gas {

struct Softmax {
    const float* v;
    std::int32_t heads;

    __device__ __forceinline__ float logit(std::int64_t id, std::int64_t, std::int64_t, int head) const {
        return __ldg(v + id * heads + head);
    }
    __device__ __forceinline__ float finish(float value, std::int64_t, int) const { return value; }
};

}  // namespace gnntune::edge_softmax_gas

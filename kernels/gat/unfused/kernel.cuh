// gat.unfused, the kernels between its parts: logits of every edge, dropout, and the log-sum-exp.
//
//   logit_kernel    e[id, h] = leaky_relu(score_row[i, h] + score_col[j, h]); highest[i, h] = max of the row's keys
//   (edge_softmax)  alpha [m, heads]
//   weight_kernel   weight[h][id] = alpha keep; lse_key[i, h] = max of key(e - log(alpha)) over the edges with the highest e
//   (spmm per head) y
//   lse_kernel      lse from lse_key
//
// Layout   row_idx, col_idx [m] in any order; edge_id [m] or null; e, alpha [m, heads] and weight [heads, m] in the
//          caller's order, heads of `weight` padded to head_stride(m); keys [n_rows, heads], zeroed beforehand.
// Work     a thread per edge and head.
// Atomics  maxima of keys: any order gives the same. lse is read off the edge of the highest logit, where alpha is at
//          least 1 / degree: e - log(alpha) is the same number for each such edge. No lse wanted: no atomics.
#pragma once

#include "kernels/common/edge_passes.cuh"
#include "kernels/common/gat.cuh"

namespace gnntune::gat_unfused {

using namespace kernels;  // NOLINT: this header is included by launch.cu alone

inline constexpr int kThreads = 256;

[[maybe_unused]] static __global__ void logit_kernel(EdgeList g, GatSoftmax softmax, float* __restrict__ e,
                                                     std::uint32_t* __restrict__ highest) {
    const EdgeHead t(g);
    if (!t.here) return;
    const float logit = softmax.logit(t.id, t.row, t.col, t.head);
    e[t.id * g.heads + t.head] = logit;
    if (highest) atomicMax(highest + t.row * g.heads + t.head, float_key(logit));
}

[[maybe_unused]] static __global__ void weight_kernel(EdgeList g, GatSoftmax softmax, const float* __restrict__ e,
                                                      const float* __restrict__ alpha, float* __restrict__ weight,
                                                      std::int64_t stride, const std::uint32_t* __restrict__ highest,
                                                      std::uint32_t* __restrict__ lse_key) {
    const EdgeHead t(g);
    if (!t.here) return;
    const std::int64_t at = t.id * g.heads + t.head;
    const float value = __ldg(alpha + at);
    weight[t.head * stride + t.id] = softmax.finish(value, t.id, t.head);
    if (!highest || value == 0.0F) return;  // of logits -infinity only, a row has none of weight
    const std::int64_t unit = t.row * g.heads + t.head;
    const float logit = __ldg(e + at);
    if (float_key(logit) == __ldg(highest + unit)) atomicMax(lse_key + unit, float_key(logit - logf(value)));
}

[[maybe_unused]] static __global__ void lse_kernel(const std::uint32_t* __restrict__ lse_key, float* __restrict__ lse,
                                                   std::int64_t units) {
    const std::int64_t u = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (u < units) lse[u] = float_of_key(__ldg(lse_key + u));
}

}  // namespace gnntune::gat_unfused

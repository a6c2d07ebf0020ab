// gat_grad.unfused, the kernels between its parts; everything of edges is [heads, m], padded to head_stride(m).
//
//   alpha_kernel   alpha[h][id] = exp(leaky_relu(score_row + score_col) - lse) keep
//   (spmm, per head, opposite direction)   grad_x = sum of alpha grad_y
//   (sddmm, per head)                      d[h][id] = <grad_y[i, h, :], x[j, h, :]>
//   score_kernel   d[h][id] = exp(...) (keep d - D_i) leaky_relu'(.), in place; D_i = <grad_y[i, h], y[i, h]>
//   (spmm with k = 1 and x = 1, per head, both directions)   grad_score_row, grad_score_col = sums of d
//
// Layout   row_idx, col_idx [m] in any order; edge_id [m] or null; scores, lse, D [n, heads].
// Work     a thread per edge and head.  Atomics: none.
#pragma once

#include "kernels/common/edge_passes.cuh"
#include "kernels/common/gat.cuh"

namespace gnntune::gat_grad_unfused {

using namespace kernels;  // NOLINT: this header is included by launch.cu alone

inline constexpr int kThreads = 256;

[[maybe_unused]] static __global__ void alpha_kernel(EdgeList g, GatSoftmax softmax, const float* __restrict__ lse,
                                                     float* __restrict__ alpha, std::int64_t stride) {
    const EdgeHead t(g);
    if (!t.here) return;
    const float value = softmax_term(softmax.logit(t.id, t.row, t.col, t.head), __ldg(lse + t.row * g.heads + t.head));
    alpha[t.head * stride + t.id] = softmax.finish(value, t.id, t.head);
}

[[maybe_unused]] static __global__ void score_kernel(EdgeList g, GatSoftmax softmax, const float* __restrict__ lse,
                                                     const float* __restrict__ mean, float* __restrict__ d,
                                                     std::int64_t stride) {
    const EdgeHead t(g);
    if (!t.here) return;
    const GatScores<float>& s = softmax.scores;
    const std::int64_t unit = t.row * g.heads + t.head;
    const float score = __ldg(s.row + unit) + __ldg(s.col + t.col * g.heads + t.head);
    const float alpha = softmax_term(leaky_relu(score, s.slope), __ldg(lse + unit));
    float& value = d[t.head * stride + t.id];
    value = alpha * (softmax.finish(value, t.id, t.head) - __ldg(mean + unit)) * leaky_relu_derivative(score, s.slope);
}

}  // namespace gnntune::gat_grad_unfused

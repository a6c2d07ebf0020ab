// gat_grad.gas: gradients of gat edge by edge, input and weight gradient in one pass as in fuseGNN's Algorithm 2.
//
//   alpha = exp(e - lse),  alpha~ = alpha keep,  d = keep <grad_y[i, h, :], x[j, h, :]>,  D_i = <grad_y[i, h], y[i, h]>
//   grad_x[j, h, :] += alpha~ grad_y[i, h, :]
//   g = alpha (d - D_i) leaky_relu'(.),   grad_score_row[i, h] += g,   grad_score_col[j, h] += g
//
// Layout   row_idx, col_idx [m] in any order; edge_id [m] or null; x, grad_x [n_cols, heads, k], grad_y [n_rows, heads, k];
//          scores and their gradients [n, heads]; D [n_rows, heads], from row_dots(). Gradients zeroed beforehand.
// Work     unit = (edge, head), heads fastest; `lanes` threads of a warp each, a lane every lanes-th feature, which it
//          reads once for both the dot product and the scatter. The dot product meets by shuffles; lane 0 goes on.
// Atomics  one scalar per edge and feature and two per edge and head: not deterministic.
#pragma once

#include "kernels/common/edge_passes.cuh"
#include "kernels/common/gat.cuh"

namespace gnntune::gat_grad_gas {

struct Gradients {
    float* x;
    float* score_row;
    float* score_col;
};

[[maybe_unused]] static __global__ void grad_kernel(kernels::EdgeList g, kernels::GatScores<float> scores,
                                                    const float* __restrict__ x, const float* __restrict__ grad_y,
                                                    const float* __restrict__ lse, const float* __restrict__ mean,
                                                    Gradients grad, std::int32_t k, int lanes) {
    const kernels::Team t(lanes, lanes);
    const std::int64_t unit = kernels::group_index(lanes);
    const std::int64_t e = unit / g.heads;
    if (e >= g.m) return;
    const int head = static_cast<int>(unit - e * g.heads);
    const std::int64_t id = g.edge_id ? __ldg(g.edge_id + e) : e;
    const std::int64_t target = static_cast<std::int64_t>(__ldg(g.row_idx + e)) * g.heads + head;
    const std::int64_t source = static_cast<std::int64_t>(__ldg(g.col_idx + e)) * g.heads + head;
    const float score = __ldg(scores.row + target) + __ldg(scores.col + source);
    const float alpha = kernels::softmax_term(kernels::leaky_relu(score, scores.slope), __ldg(lse + target));
    const float keep = scores.dropout.factor(id, head);
    float d = 0.0F;
    if (keep != 0.0F) {
        const float weight = alpha * keep;
        for (int f = t.rank; f < k; f += lanes) {
            const float value = __ldg(grad_y + target * k + f);
            d = fmaf(value, __ldg(x + source * k + f), d);
            if (weight != 0.0F) atomicAdd(grad.x + source * k + f, weight * value);
        }
        d = keep * kernels::team_sum(t, d);
    }
    if (t.rank != 0) return;
    const float value = alpha * (d - __ldg(mean + target)) * kernels::leaky_relu_derivative(score, scores.slope);
    atomicAdd(grad.score_row + target, value);
    atomicAdd(grad.score_col + source, value);
}

}  // namespace gnntune::gat_grad_gas

// agnn_grad.rows_cols: with u = x_row[i, h], x = x[j, h], g = grad_y[i, h], c = cos(u, x),
// alpha = exp(beta c - lse[i]), D = <g, y[i]>, de = alpha (<g, x> - D) and w = beta de / (|u| |x|), for every head:
//     grad_x_row[i] = sum over edges of row i of w x       - beta (sum of de c) u / |u|^2
//     grad_x[j]     = sum over edges of column j of w u + alpha g  - beta (sum of de c) x / |x|^2
//     grad_beta     = sum of de c over all edges
//
// Layout   the CSR for rows, the CSC for columns: ptr [vertices + 1], idx [m]; x, grad_x [n_cols, heads, k], x_row,
//          grad_y, y_saved, grad_x_row [n_rows, heads, k], row-major, aligned to VEC elements; lse_saved [n_rows,
//          heads], beta [heads]. All are of type T: f32, f16 or bf16, but lse_saved; that and sums are fp32.
//          Workspace: row_info [n_rows, heads] = {1 / |u|, D}, row_beta [n_rows, heads] = sum of de c.
// Work     Two passes of kernels/common/gradient_passes.cuh: rows, then columns.
// Data     A row keeps u and g in registers and gathers x, once per edge; a column keeps x and gathers u and g.
//          Gathered rows give both dot products and then the sum from the same registers, so that nothing per edge
//          passes from rows to columns: a column computes its dot products again from rows that it needs anyhow. The
//          part along the own vector is taken out once for each row, tile or piece. Where k is wider than a tile, the
//          features outside it are read again by every tile, for the dot products only.
// Shared, atomics: those of the passes.
#pragma once

#include "kernels/agnn_grad/rows_cols/launch.hpp"
#include "kernels/common/gradient_passes.cuh"

namespace gnntune::agnn_grad_rows_cols {

using kernels::Pack;
using kernels::PassArguments;
using kernels::PassEdges;
using kernels::Team;
using kernels::Vec;

template <typename T>
struct Inputs {
    const T* x;
    const T* x_row;
    const T* beta;
    const T* grad_y;
    const T* y_saved;
    const float* lse_saved;
    float2* row_info;
};

/// acc -= beta sum inverse^2 own: what the length of the own vector does not see.
template <typename T, int VEC, int ITEMS>
__device__ __forceinline__ void take_out_own(float beta_sum, float inverse, const Pack<T, VEC> (&own)[ITEMS],
                                             Vec<VEC> (&acc)[ITEMS]) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) kernels::fma(acc[i], -beta_sum * inverse * inverse, own[i]);
}

/// Sums over the groups of the team: acc, and the sum of de c, which is returned.
template <int VEC, int ITEMS>
__device__ __forceinline__ float sum_team(const Team& t, float sum, Vec<VEC> (&acc)[ITEMS]) {
    kernels::sum_groups(t, acc);
    for (int offset = t.lanes; offset < t.size; offset *= 2) sum += __shfl_xor_sync(t.mask, sum, offset);
    return sum;
}

/// grad_x_row, and the sums of de c. Leaves what columns need of the row.
template <typename T>
struct RowPass {
    using Element = T;
    static constexpr int kOutputs = kRowOutputs;
    static constexpr bool kSums = true;
    static constexpr int unroll(int items) { return items == 1 ? 4 : items == 2 ? 2 : 1; }
    Inputs<T> in;
    T* grad[kOutputs];
    float* unit_sum;

    template <int VEC, int ITEMS>
    __device__ __forceinline__ float run(const PassArguments& a, const Team& t, std::int64_t unit, int f0,
                                         PassEdges edges, bool keeper, Vec<VEC> (&out)[1][ITEMS]) const;
};

/// grad_x. Edges lead to rows.
template <typename T>
struct ColPass {
    using Element = T;
    static constexpr int kOutputs = kColOutputs;
    static constexpr bool kSums = false;
    static constexpr int unroll(int items) { return items == 1 ? 2 : 1; }
    Inputs<T> in;
    T* grad[kOutputs];
    float* unit_sum;

    template <int VEC, int ITEMS>
    __device__ __forceinline__ float run(const PassArguments& a, const Team& t, std::int64_t unit, int f0,
                                         PassEdges edges, bool keeper, Vec<VEC> (&out)[1][ITEMS]) const;
};

template <typename T>
template <int VEC, int ITEMS>
__device__ __forceinline__ float RowPass<T>::run(const PassArguments& a, const Team& t, std::int64_t unit, int f0,
                                                 PassEdges edges, bool keeper, Vec<VEC> (&out)[1][ITEMS]) const {
    Vec<VEC>(&acc)[ITEMS] = out[0];
    constexpr int kUnroll = unroll(ITEMS);
    const int head = static_cast<int>(unit % a.heads);
    const T* u_row = in.x_row + unit * a.k;
    const T* g_row = in.grad_y + unit * a.k;
    const T* y_row = in.y_saved + unit * a.k;
    Pack<T, VEC> own[ITEMS];
    Pack<T, VEC> g[ITEMS];
    Pack<T, VEC> y[ITEMS];
    kernels::load_tile(t, u_row, true, f0, a.k, own);
    kernels::load_tile(t, g_row, true, f0, a.k, g);
    kernels::load_tile(t, y_row, true, f0, a.k, y);
    const float inverse = kernels::inverse_norm(kernels::full_dot(t, u_row, own, u_row, own, f0, a.k));
    const float inner = kernels::full_dot(t, g_row, g, y_row, y, f0, a.k);
    const float beta = kernels::widened(in.beta[head]);
    const float lse = in.lse_saved[unit];
    if (keeper && t.rank == 0) in.row_info[unit] = make_float2(inverse, inner);
    kernels::zero_all(acc);
    float sum = 0.0F;
    // All threads of the team make the same steps: they meet in shuffles.
    for (std::uint32_t e = edges.begin; e < edges.end; e += edges.step) {
        Pack<T, VEC> value[kUnroll][ITEMS];
        const T* source[kUnroll];
        float cosine[kUnroll];
        float product[kUnroll];
        float square[kUnroll];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
            source[u] = kernels::other_vector(a, t, edges, e, u, head, in.x);
            kernels::load_tile(t, source[u], source[u] != nullptr, f0, a.k, value[u]);
        }
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
            cosine[u] = kernels::dot_all(own, value[u]);
            product[u] = kernels::dot_all(g, value[u]);
            square[u] = kernels::dot_all(value[u], value[u]);
        }
        kernels::outside_tile<VEC, ITEMS>(t, f0, a.k, [&](int f) {
            const Pack<T, VEC> left = kernels::load_pack<VEC>(u_row + f);
            const Pack<T, VEC> grad = kernels::load_pack<VEC>(g_row + f);
#pragma unroll
            for (int u = 0; u < kUnroll; ++u) {
                if (!source[u]) continue;
                const Pack<T, VEC> right = kernels::load_pack<VEC>(source[u] + f);
                cosine[u] = kernels::dot(cosine[u], left, right);
                product[u] = kernels::dot(product[u], grad, right);
                square[u] = kernels::dot(square[u], right, right);
            }
        });
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
            const float both = inverse * kernels::inverse_norm(kernels::lanes_sum(t, square[u]));
            const float c = kernels::lanes_sum(t, cosine[u]) * both;
            product[u] = kernels::lanes_sum(t, product[u]);
            if (!source[u]) continue;
            const float de = expf(fmaf(beta, c, -lse)) * (product[u] - inner);
            sum = fmaf(de, c, sum);
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) kernels::fma(acc[i], beta * de * both, value[u][i]);
        }
    }
    sum = sum_team(t, sum, acc);
    take_out_own(beta * sum, inverse, own, acc);
    return sum;
}

template <typename T>
template <int VEC, int ITEMS>
__device__ __forceinline__ float ColPass<T>::run(const PassArguments& a, const Team& t, std::int64_t unit, int f0,
                                                 PassEdges edges, bool, Vec<VEC> (&out)[1][ITEMS]) const {
    Vec<VEC>(&acc)[ITEMS] = out[0];
    constexpr int kUnroll = unroll(ITEMS);
    const int head = static_cast<int>(unit % a.heads);
    const T* x_col = in.x + unit * a.k;
    Pack<T, VEC> own[ITEMS];
    kernels::load_tile(t, x_col, true, f0, a.k, own);
    const float inverse = kernels::inverse_norm(kernels::full_dot(t, x_col, own, x_col, own, f0, a.k));
    const float beta = kernels::widened(in.beta[head]);
    kernels::zero_all(acc);
    float sum = 0.0F;
    for (std::uint32_t e = edges.begin; e < edges.end; e += edges.step) {
        Pack<T, VEC> target[kUnroll][ITEMS];
        Pack<T, VEC> grad[kUnroll][ITEMS];
        std::int64_t row[kUnroll];
        float cosine[kUnroll];
        float product[kUnroll];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
            row[u] = kernels::other_end(a, t, edges, e, u, head);
            const bool here = row[u] >= 0;
            kernels::load_tile(t, in.x_row + (here ? row[u] * a.k : 0), here, f0, a.k, target[u]);
            kernels::load_tile(t, in.grad_y + (here ? row[u] * a.k : 0), here, f0, a.k, grad[u]);
        }
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
            cosine[u] = kernels::dot_all(target[u], own);
            product[u] = kernels::dot_all(grad[u], own);
        }
        kernels::outside_tile<VEC, ITEMS>(t, f0, a.k, [&](int f) {
            const Pack<T, VEC> right = kernels::load_pack<VEC>(x_col + f);
#pragma unroll
            for (int u = 0; u < kUnroll; ++u) {
                if (row[u] < 0) continue;
                cosine[u] = kernels::dot(cosine[u], kernels::load_pack<VEC>(in.x_row + row[u] * a.k + f), right);
                product[u] = kernels::dot(product[u], kernels::load_pack<VEC>(in.grad_y + row[u] * a.k + f), right);
            }
        });
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
            cosine[u] = kernels::lanes_sum(t, cosine[u]);
            product[u] = kernels::lanes_sum(t, product[u]);
            if (row[u] < 0) continue;
            const float2 info = __ldg(in.row_info + row[u]);
            const float both = inverse * info.x;
            const float c = cosine[u] * both;
            const float alpha = expf(fmaf(beta, c, -__ldg(in.lse_saved + row[u])));
            const float de = alpha * (product[u] - info.y);
            sum = fmaf(de, c, sum);
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
                kernels::fma(acc[i], beta * de * both, target[u][i]);
                kernels::fma(acc[i], alpha, grad[u][i]);
            }
        }
    }
    sum = sum_team(t, sum, acc);
    take_out_own(beta * sum, inverse, own, acc);
    return sum;
}

}  // namespace gnntune::agnn_grad_rows_cols

// attention_grad.rows_cols: with q = x_row[i, h], k' = key[j, h], x = x[j, h], g = grad_y[i, h],
// alpha = exp(s <q, k'> - lse[i]), D = <g, y[i]>, f = 1 / (1 - p) where dropout keeps the edge, else 0, and
// w = s alpha (f <g, x> - D), for every head:
//     grad_x_row[i] = sum over edges of row i of w k'
//     grad_key[j]   = sum over edges of column j of w q
//     grad_x[j]     = sum over edges of column j of f alpha g
//
// Layout   the CSR for rows, the CSC for columns: ptr [vertices + 1], idx [m]; x, key, grad_x, grad_key
//          [n_cols, heads, k], x_row, grad_y, y_saved, grad_x_row [n_rows, heads, k], row-major, aligned to VEC
//          elements, of type T: f32, f16 or bf16; lse_saved [n_rows, heads]; that and sums are fp32. Workspace: inner
//          [n_rows, heads] = D.
// Work     Two passes of kernels/common/gradient_passes.cuh: rows, then columns.
// Data     A row keeps q and g in registers and gathers key and x; a column keeps key and x and gathers q and g, with
//          lse and D of the row. Gathered rows give both dot products and then the sums from the same registers, so
//          that nothing per edge passes from rows to columns. Where k is wider than a tile, the features outside it are
//          read again by every tile, for the dot products only.
// Shared, atomics: those of the passes.
#pragma once

#include "kernels/attention_grad/rows_cols/launch.hpp"
#include "kernels/common/dropout.cuh"
#include "kernels/common/gradient_passes.cuh"

namespace gnntune::attention_grad_rows_cols {

using kernels::Pack;
using kernels::PassArguments;
using kernels::PassEdges;
using kernels::Team;
using kernels::Vec;

template <typename T>
struct Inputs {
    const T* x;
    const T* x_row;
    const T* key;
    const T* grad_y;
    const T* y_saved;
    const float* lse_saved;
    float* inner;
    float scale;
};

/// The rows at the other ends of N edges: one multiplied with what a logit needs, one with what the gradient of alpha
/// does.
template <typename T, int VEC, int ITEMS, int N>
struct Gathered {
    Pack<T, VEC> left[N][ITEMS];   ///< key, or x_row
    Pack<T, VEC> right[N][ITEMS];  ///< x, or grad_y
    std::int64_t other[N];         ///< vertex * heads + head, -1 for none
    float score[N];                ///< <x_row, key>
    float product[N];              ///< <grad_y, x>
};

/// Loads this group's edges from e on, and multiplies them with the own rows, of which the team holds the tiles.
/// Results are in every lane of a group. All threads of the team call it: it shuffles.
template <typename T, int VEC, int ITEMS, int N>
__device__ __forceinline__ void gather(const PassArguments& a, const Team& t, const PassEdges& edges, std::uint32_t e,
                                       int head, int f0, const T* left, const T* right, const T* own_left,
                                       const Pack<T, VEC> (&tile_left)[ITEMS], const T* own_right,
                                       const Pack<T, VEC> (&tile_right)[ITEMS], Gathered<T, VEC, ITEMS, N>& out) {
#pragma unroll
    for (int u = 0; u < N; ++u) {
        out.other[u] = kernels::other_end(a, t, edges, e, u, head);
        const bool here = out.other[u] >= 0;
        const T* from_left = nullptr;
        const T* from_right = nullptr;
        if (here) {
            from_left = left + out.other[u] * a.k;
            from_right = right + out.other[u] * a.k;
        }
        kernels::load_tile(t, from_left, here, f0, a.k, out.left[u]);
        kernels::load_tile(t, from_right, here, f0, a.k, out.right[u]);
    }
#pragma unroll
    for (int u = 0; u < N; ++u) {
        out.score[u] = kernels::dot_all(tile_left, out.left[u]);
        out.product[u] = kernels::dot_all(tile_right, out.right[u]);
    }
    kernels::outside_tile<VEC, ITEMS>(t, f0, a.k, [&](int f) {
        const Pack<T, VEC> mine_left = kernels::load_pack<VEC>(own_left + f);
        const Pack<T, VEC> mine_right = kernels::load_pack<VEC>(own_right + f);
#pragma unroll
        for (int u = 0; u < N; ++u) {
            if (out.other[u] < 0) continue;
            const std::int64_t at = out.other[u] * a.k + f;
            out.score[u] = kernels::dot(out.score[u], mine_left, kernels::load_pack<VEC>(left + at));
            out.product[u] = kernels::dot(out.product[u], mine_right, kernels::load_pack<VEC>(right + at));
        }
    });
#pragma unroll
    for (int u = 0; u < N; ++u) {
        out.score[u] = kernels::lanes_sum(t, out.score[u]);
        out.product[u] = kernels::lanes_sum(t, out.product[u]);
    }
}

constexpr int unroll_of(int items) {
    return items == 1 ? 2 : 1;
}

/// What the softmax's weight of this group's edge u, of the step that begins at e, is multiplied with.
__device__ __forceinline__ float kept(const kernels::EdgeDropout<true>& dropout, const Team& t, std::uint32_t e, int u,
                                      int head) {
    return dropout.factor(e + static_cast<std::uint32_t>(u * t.groups() + t.group), head);
}

/// grad_x_row. Leaves D for the columns.
template <typename T>
struct RowPass {
    using Element = T;
    static constexpr int kOutputs = kRowOutputs;
    static constexpr bool kSums = false;
    static constexpr int unroll(int items) { return unroll_of(items); }
    Inputs<T> in;
    T* grad[kOutputs];
    float* unit_sum;
    kernels::EdgeDropout<true> dropout;

    template <int VEC, int ITEMS>
    __device__ __forceinline__ float run(const PassArguments& a, const Team& t, std::int64_t unit, int f0,
                                         PassEdges edges, bool keeper, Vec<VEC> (&acc)[1][ITEMS]) const {
        constexpr int kUnroll = unroll(ITEMS);
        const int head = static_cast<int>(unit % a.heads);
        const T* query = in.x_row + unit * a.k;
        const T* grad_row = in.grad_y + unit * a.k;
        const T* y_row = in.y_saved + unit * a.k;
        Pack<T, VEC> q[ITEMS];
        Pack<T, VEC> g[ITEMS];
        Pack<T, VEC> y[ITEMS];
        kernels::load_tile(t, query, true, f0, a.k, q);
        kernels::load_tile(t, grad_row, true, f0, a.k, g);
        kernels::load_tile(t, y_row, true, f0, a.k, y);
        const float inner = kernels::full_dot(t, grad_row, g, y_row, y, f0, a.k);
        const float lse = in.lse_saved[unit];
        if (keeper && t.rank == 0) in.inner[unit] = inner;
        kernels::zero_all(acc[0]);
        // All threads of the team make the same steps: they meet in shuffles.
        for (std::uint32_t e = edges.begin; e < edges.end; e += edges.step) {
            Gathered<T, VEC, ITEMS, kUnroll> from;
            gather(a, t, edges, e, head, f0, in.key, in.x, query, q, grad_row, g, from);
#pragma unroll
            for (int u = 0; u < kUnroll; ++u) {
                if (from.other[u] < 0) continue;
                const float alpha = expf(fmaf(in.scale, from.score[u], -lse));
                const float d = kept(dropout, t, e, u, head) * from.product[u];
                const float weight = in.scale * alpha * (d - inner);
#pragma unroll
                for (int i = 0; i < ITEMS; ++i) kernels::fma(acc[0][i], weight, from.left[u][i]);
            }
        }
        kernels::sum_groups(t, acc[0]);
        return 0.0F;
    }
};

/// grad_x and grad_key. Edges lead to rows.
template <typename T>
struct ColPass {
    using Element = T;
    static constexpr int kOutputs = kColOutputs;
    static constexpr bool kSums = false;
    static constexpr int unroll(int items) { return unroll_of(items); }
    Inputs<T> in;
    T* grad[kOutputs];
    float* unit_sum;
    kernels::EdgeDropout<true> dropout;

    template <int VEC, int ITEMS>
    __device__ __forceinline__ float run(const PassArguments& a, const Team& t, std::int64_t unit, int f0,
                                         PassEdges edges, bool, Vec<VEC> (&acc)[2][ITEMS]) const {
        constexpr int kUnroll = unroll(ITEMS);
        const int head = static_cast<int>(unit % a.heads);
        const T* key_col = in.key + unit * a.k;
        const T* x_col = in.x + unit * a.k;
        Pack<T, VEC> key[ITEMS];
        Pack<T, VEC> x[ITEMS];
        kernels::load_tile(t, key_col, true, f0, a.k, key);
        kernels::load_tile(t, x_col, true, f0, a.k, x);
        kernels::zero_all(acc[0]);
        kernels::zero_all(acc[1]);
        for (std::uint32_t e = edges.begin; e < edges.end; e += edges.step) {
            Gathered<T, VEC, ITEMS, kUnroll> from;
            gather(a, t, edges, e, head, f0, in.x_row, in.grad_y, key_col, key, x_col, x, from);
#pragma unroll
            for (int u = 0; u < kUnroll; ++u) {
                const std::int64_t row = from.other[u];
                if (row < 0) continue;
                const float alpha = expf(fmaf(in.scale, from.score[u], -__ldg(in.lse_saved + row)));
                const float factor = kept(dropout, t, e, u, head);
                const float weight = in.scale * alpha * (factor * from.product[u] - __ldg(in.inner + row));
#pragma unroll
                for (int i = 0; i < ITEMS; ++i) {
                    kernels::fma(acc[0][i], factor * alpha, from.right[u][i]);
                    kernels::fma(acc[1][i], weight, from.left[u][i]);
                }
            }
        }
        kernels::sum_groups(t, acc[0]);
        kernels::sum_groups(t, acc[1]);
        return 0.0F;
    }
};

}  // namespace gnntune::attention_grad_rows_cols

// agnn_grad.rows_cols: with u = x_row[i, h], x = x[j, h], g = grad_y[i, h], c = cos(u, x),
// alpha = exp(beta c - lse[i]), D = <g, y[i]>, de = alpha (<g, x> - D) and w = beta de / (|u| |x|), for every head:
//     grad_x_row[i] = sum over edges of row i of w x       - beta (sum of de c) u / |u|^2
//     grad_x[j]     = sum over edges of column j of w u + alpha g  - beta (sum of de c) x / |x|^2
//     grad_beta     = sum of de c over all edges
//
// Layout   the CSR for rows, the CSC for columns: ptr [vertices + 1], idx [m]; x, grad_x [n_cols, heads, k], x_row,
//          grad_y, y_saved, grad_x_row [n_rows, heads, k], row-major, aligned to 4 VEC bytes; lse_saved [n_rows, heads],
//          beta [heads]. Workspace: row_info [n_rows, heads] = {1 / |u|, D}, row_beta [n_rows, heads] = sum of de c.
// Work     Two launches of one shape: rows, then columns. grid.y walks feature tiles of lanes ITEMS VEC floats. The
//          first unit_blocks blocks of grid.x hold teams of groups x lanes threads, team -> a row (column) of up to
//          long_row edges and a head, group -> UNROLL edges; the blocks behind them take a piece of a long one and a
//          head each.
// Data     A row keeps u and g in registers and gathers x, once per edge; a column keeps x and gathers u and g.
//          Gathered rows give both dot products and then the sum from the same registers, so that nothing per edge
//          passes from rows to columns: a column computes its dot products again from rows that it needs anyhow. The
//          part along the own vector is taken out once for each row, tile or piece. Where k is wider than a tile, the
//          features outside it are read again by every tile, for the dot products only.
// Shared   block_merge() of kernels/common/attention.cuh, for the pieces.  Atomics: none; sums have a fixed order.
#pragma once

#include "kernels/common/feature_tile.cuh"

namespace gnntune::agnn_grad_rows_cols {

using kernels::SoftmaxSum;
using kernels::Team;
using kernels::Vec;

inline constexpr int kThreads = 128;

struct Arguments {
    const std::int32_t* ptr;
    const std::int32_t* idx;
    const float* x;
    const float* x_row;
    const float* beta;
    const float* grad_y;
    const float* y_saved;
    const float* lse_saved;
    float2* row_info;
    float* row_beta;
    float* grad;  ///< grad_x_row, or grad_x
    const kernels::RowPiece* pieces;
    kernels::PieceResults results;
    std::int32_t vertices;
    std::int32_t heads;
    std::int32_t k;
    std::int32_t long_row;
    unsigned unit_blocks;
};

/// Range of edges that a team walks: begin, begin + 1, ... of every `step` before `end`.
struct Edges {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t step;
};

constexpr int unroll(bool columns, int items) {
    return items == 1 ? (columns ? 2 : 4) : items == 2 && !columns ? 2 : 1;
}

/// acc -= beta sum inverse^2 own: what the length of the own vector does not see.
template <int VEC, int ITEMS>
__device__ __forceinline__ void take_out_own(float beta_sum, float inverse, const Vec<VEC> (&own)[ITEMS],
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

/// The team's part of grad_x_row; returns its sum of de c. `keeper` writes what columns need of the row.
template <int VEC, int ITEMS>
__device__ __forceinline__ float row_gradient(const Arguments& a, const Team& t, std::int64_t unit, int f0, Edges edges,
                                              bool keeper, Vec<VEC> (&acc)[ITEMS]) {
    constexpr int kUnroll = unroll(false, ITEMS);
    const int head = static_cast<int>(unit % a.heads);
    const float* u_row = a.x_row + unit * a.k;
    const float* g_row = a.grad_y + unit * a.k;
    const float* y_row = a.y_saved + unit * a.k;
    Vec<VEC> own[ITEMS];
    Vec<VEC> g[ITEMS];
    kernels::load_tile(t, u_row, true, f0, a.k, own);
    kernels::load_tile(t, g_row, true, f0, a.k, g);
    kernels::load_tile(t, y_row, true, f0, a.k, acc);
    const float inverse = kernels::inverse_norm(kernels::full_dot(t, u_row, own, u_row, own, f0, a.k));
    const float inner = kernels::full_dot(t, g_row, g, y_row, acc, f0, a.k);
    const float beta = a.beta[head];
    const float lse = a.lse_saved[unit];
    if (keeper && t.rank == 0) a.row_info[unit] = make_float2(inverse, inner);
    kernels::zero_all(acc);
    float sum = 0.0F;
    // All threads of the team make the same steps: they meet in shuffles.
    for (std::uint32_t e = edges.begin; e < edges.end; e += edges.step) {
        Vec<VEC> value[kUnroll][ITEMS];
        const float* source[kUnroll];
        float cosine[kUnroll];
        float product[kUnroll];
        float square[kUnroll];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
            const std::uint32_t at = e + static_cast<std::uint32_t>(u * t.groups() + t.group);
            source[u] = nullptr;
            if (at < edges.end) {
                source[u] = a.x + (static_cast<std::int64_t>(__ldg(a.idx + at)) * a.heads + head) * a.k;
            }
            kernels::load_tile(t, source[u], source[u] != nullptr, f0, a.k, value[u]);
        }
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
            cosine[u] = kernels::dot_all(own, value[u]);
            product[u] = kernels::dot_all(g, value[u]);
            square[u] = kernels::dot_all(value[u], value[u]);
        }
        kernels::outside_tile<VEC, ITEMS>(t, f0, a.k, [&](int f) {
            const Vec<VEC> left = kernels::load<VEC>(u_row + f);
            const Vec<VEC> grad = kernels::load<VEC>(g_row + f);
#pragma unroll
            for (int u = 0; u < kUnroll; ++u) {
                if (!source[u]) continue;
                const Vec<VEC> right = kernels::load<VEC>(source[u] + f);
                cosine[u] = kernels::dot(left, right, cosine[u]);
                product[u] = kernels::dot(grad, right, product[u]);
                square[u] = kernels::dot(right, right, square[u]);
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

/// The team's part of grad_x. Edges lead to rows.
template <int VEC, int ITEMS>
__device__ __forceinline__ float col_gradient(const Arguments& a, const Team& t, std::int64_t unit, int f0, Edges edges,
                                              Vec<VEC> (&acc)[ITEMS]) {
    constexpr int kUnroll = unroll(true, ITEMS);
    const int head = static_cast<int>(unit % a.heads);
    const float* x_col = a.x + unit * a.k;
    Vec<VEC> own[ITEMS];
    kernels::load_tile(t, x_col, true, f0, a.k, own);
    const float inverse = kernels::inverse_norm(kernels::full_dot(t, x_col, own, x_col, own, f0, a.k));
    const float beta = a.beta[head];
    kernels::zero_all(acc);
    float sum = 0.0F;
    for (std::uint32_t e = edges.begin; e < edges.end; e += edges.step) {
        Vec<VEC> target[kUnroll][ITEMS];
        Vec<VEC> grad[kUnroll][ITEMS];
        std::int64_t row[kUnroll];
        float cosine[kUnroll];
        float product[kUnroll];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
            const std::uint32_t at = e + static_cast<std::uint32_t>(u * t.groups() + t.group);
            const bool here = at < edges.end;
            row[u] = here ? static_cast<std::int64_t>(__ldg(a.idx + at)) * a.heads + head : -1;
            kernels::load_tile(t, a.x_row + (here ? row[u] * a.k : 0), here, f0, a.k, target[u]);
            kernels::load_tile(t, a.grad_y + (here ? row[u] * a.k : 0), here, f0, a.k, grad[u]);
        }
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
            cosine[u] = kernels::dot_all(target[u], own);
            product[u] = kernels::dot_all(grad[u], own);
        }
        kernels::outside_tile<VEC, ITEMS>(t, f0, a.k, [&](int f) {
            const Vec<VEC> right = kernels::load<VEC>(x_col + f);
#pragma unroll
            for (int u = 0; u < kUnroll; ++u) {
                if (row[u] < 0) continue;
                cosine[u] = kernels::dot(kernels::load<VEC>(a.x_row + row[u] * a.k + f), right, cosine[u]);
                product[u] = kernels::dot(kernels::load<VEC>(a.grad_y + row[u] * a.k + f), right, product[u]);
            }
        });
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
            cosine[u] = kernels::lanes_sum(t, cosine[u]);
            product[u] = kernels::lanes_sum(t, product[u]);
            if (row[u] < 0) continue;
            const float2 info = __ldg(a.row_info + row[u]);
            const float both = inverse * info.x;
            const float c = cosine[u] * both;
            const float alpha = expf(fmaf(beta, c, -__ldg(a.lse_saved + row[u])));
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

template <bool COLUMNS, int VEC, int ITEMS>
__device__ __forceinline__ float gradient(const Arguments& a, const Team& t, std::int64_t unit, int f0, Edges edges,
                                          bool keeper, Vec<VEC> (&acc)[ITEMS]) {
    if constexpr (COLUMNS) {
        return col_gradient(a, t, unit, f0, edges, acc);
    } else {
        return row_gradient(a, t, unit, f0, edges, keeper, acc);
    }
}

template <bool COLUMNS, int VEC, int ITEMS>
__global__ void __launch_bounds__(kThreads) gradient_kernel(const Arguments a, int lanes, int split) {
    __shared__ float shared[kernels::shared_floats<VEC, ITEMS>(kThreads)];
    const Team t(lanes, lanes * split);
    const int step = lanes * VEC;
    const int tile = step * ITEMS;
    const int f0 = static_cast<int>(blockIdx.y) * tile + t.lane * VEC;
    const bool first_tile = blockIdx.y == 0;
    const auto run = static_cast<std::uint32_t>(unroll(COLUMNS, ITEMS) * t.groups());
    Vec<VEC> acc[ITEMS];
    if (blockIdx.x < a.unit_blocks) {
        const std::int64_t unit = static_cast<std::int64_t>(blockIdx.x) * t.count() + t.index();
        const std::int64_t vertex = unit / a.heads;
        if (vertex >= a.vertices) return;
        const auto begin = static_cast<std::uint32_t>(__ldg(a.ptr + vertex));
        const auto end = static_cast<std::uint32_t>(__ldg(a.ptr + vertex + 1));
        if (end - begin > static_cast<std::uint32_t>(a.long_row)) return;
        const float sum = gradient<COLUMNS>(a, t, unit, f0, {begin, end, run}, first_tile, acc);
        if (t.group != 0) return;
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            if (f0 + i * step < a.k) kernels::store_streaming(a.grad + unit * a.k + f0 + i * step, acc[i]);
        }
        if (!COLUMNS && first_tile && t.lane == 0) a.row_beta[unit] = sum;
        return;
    }
    const unsigned block = blockIdx.x - a.unit_blocks;
    const kernels::RowPiece piece = a.pieces[block / static_cast<unsigned>(a.heads)];
    const int head = static_cast<int>(block % static_cast<unsigned>(a.heads));
    const std::int64_t unit = static_cast<std::int64_t>(piece.row) * a.heads + head;
    const std::int64_t slot = static_cast<std::int64_t>(piece.slot) * a.heads + head;
    const bool keeper = first_tile && t.index() == 0 && piece.slot == piece.first_slot;
    const float sum =
        gradient<COLUMNS>(a, t, unit, f0,
                          {static_cast<std::uint32_t>(piece.begin) + run * static_cast<std::uint32_t>(t.index()),
                           static_cast<std::uint32_t>(piece.end), run * static_cast<std::uint32_t>(t.count())},
                          keeper, acc);
    const int left = a.k - static_cast<int>(blockIdx.y) * tile;  // features of the row in this tile and behind it
    float* out = (piece.slot < 0 ? a.grad + unit * a.k : a.results.values + slot * a.k) + (a.k - left);
    // Plain sums: their maximum is 0.
    const SoftmaxSum all =
        kernels::block_merge(t, SoftmaxSum{0.0F, sum}, acc, shared, [&](int c, float value, const SoftmaxSum&) {
            if (c < left) out[c] = value;
        });
    if (threadIdx.x != 0 || !first_tile) return;
    if (piece.slot >= 0) {
        a.results.sums[slot] = all;
    } else if (!COLUMNS) {
        a.row_beta[unit] = all.sum;
    }
}

}  // namespace gnntune::agnn_grad_rows_cols

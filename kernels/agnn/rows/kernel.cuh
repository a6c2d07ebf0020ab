// agnn.rows: y[i, h, :] = sum over edges e of row i of alpha_e x[col_e, h, :], alpha the softmax over the row of
// beta[h] cos(x_row[i, h, :], x[col_e, h, :]); lse[i, h] = log of the sum of exp of these logits.
//
// Layout   row_ptr [n_rows + 1], col_idx [m]; x [n_cols, heads, k], x_row and y [n_rows, heads, k], row-major,
//          aligned to 4 VEC bytes; beta [heads], lse [n_rows, heads] or null; inverse_norm [n_cols, heads] of x, or null.
// Work     grid.y walks feature tiles of lanes ITEMS VEC floats. The first row_blocks blocks of grid.x hold teams of
//          groups x lanes threads, team -> one row of up to long_row edges and one head, group -> UNROLL edges at a
//          time; the blocks behind them take one piece of a long row and one head each, all teams together.
// Data     The row operand stays in registers. A gathered row of x is loaded once, multiplied with it, and, when its
//          logit is known, added to the accumulators from the same registers. Without inverse_norm it gives its own
//          norm as well; with it, 4 bytes are read per edge and head. Each group keeps a running maximum, so that
//          logits of any size are safe, and groups, teams and pieces merge at the end. Where k is wider than a tile,
//          the features outside it are read again by every tile, for the dot product only.
// Shared   block_merge() of kernels/common/attention.cuh, for the pieces.  Atomics: none; sums have a fixed order.
#pragma once

#include "kernels/common/feature_tile.cuh"

namespace gnntune::agnn_rows {

using kernels::SoftmaxSum;
using kernels::Team;
using kernels::Vec;

inline constexpr int kThreads = 128;

struct Arguments {
    const std::int32_t* row_ptr;
    const std::int32_t* col_idx;
    const float* x;
    const float* x_row;
    const float* beta;
    const float* inverse_norm;
    float* y;
    float* lse;
    const kernels::RowPiece* pieces;
    kernels::PieceResults results;
    std::int32_t n_rows;
    std::int32_t heads;
    std::int32_t k;
    std::int32_t long_row;
    unsigned row_blocks;
};

/// The edges begin, begin + 1, ... of every `step` before `end`, for one team: `acc` is the sum at the returned
/// maximum. `unit` is row * heads + head.
template <int VEC, int ITEMS>
__device__ __forceinline__ SoftmaxSum attend(const Arguments& a, const Team& t, std::int64_t unit, int head, int f0,
                                             std::uint32_t begin, std::uint32_t end, std::uint32_t step,
                                             Vec<VEC> (&acc)[ITEMS]) {
    constexpr int kUnroll = ITEMS == 1 ? 4 : 2;
    const float* target = a.x_row + unit * a.k;
    Vec<VEC> own[ITEMS];
    kernels::load_tile(t, target, true, f0, a.k, own);
    const float factor = a.beta[head] * kernels::inverse_norm(kernels::full_dot(t, target, own, target, own, f0, a.k));
    kernels::zero_all(acc);
    SoftmaxSum running = kernels::empty_softmax();
    // All threads of the team make the same steps: they meet in shuffles.
    for (std::uint32_t e = begin; e < end; e += step) {
        Vec<VEC> value[kUnroll][ITEMS];
        const float* source[kUnroll];
        float inverse[kUnroll];
        float cosine[kUnroll];
        float logit[kUnroll];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
            const std::uint32_t at = e + static_cast<std::uint32_t>(u * t.groups() + t.group);
            source[u] = nullptr;
            inverse[u] = 0.0F;
            if (at < end) {
                const std::int64_t vector = static_cast<std::int64_t>(__ldg(a.col_idx + at)) * a.heads + head;
                source[u] = a.x + vector * a.k;
                if (a.inverse_norm) inverse[u] = __ldg(a.inverse_norm + vector);
            }
            kernels::load_tile(t, source[u], source[u] != nullptr, f0, a.k, value[u]);
        }
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
            cosine[u] = kernels::dot_all(own, value[u]);
            if (!a.inverse_norm) inverse[u] = kernels::dot_all(value[u], value[u]);
        }
        kernels::outside_tile<VEC, ITEMS>(t, f0, a.k, [&](int f) {
            const Vec<VEC> left = kernels::load<VEC>(target + f);
#pragma unroll
            for (int u = 0; u < kUnroll; ++u) {
                if (!source[u]) continue;
                const Vec<VEC> right = kernels::load<VEC>(source[u] + f);
                cosine[u] = kernels::dot(left, right, cosine[u]);
                if (!a.inverse_norm) inverse[u] = kernels::dot(right, right, inverse[u]);
            }
        });
        float max = running.max;
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
            cosine[u] = kernels::lanes_sum(t, cosine[u]);
            if (!a.inverse_norm) inverse[u] = kernels::inverse_norm(kernels::lanes_sum(t, inverse[u]));
            logit[u] = source[u] ? factor * inverse[u] * cosine[u] : kernels::minus_infinity();
            max = fmaxf(max, logit[u]);
        }
        const float scale = kernels::rescale(running.max, max);
        running = {max, running.sum * scale};
        kernels::scale_all(acc, scale);
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
            const float p = kernels::softmax_term(logit[u], max);
            running.sum += p;
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) kernels::fma(acc[i], p, value[u][i]);
        }
    }
    // Groups of the team: the lanes of one hold the same running sum.
    SoftmaxSum all = running;
    for (int offset = t.lanes; offset < t.size; offset *= 2) {
        all = kernels::merge(all, {__shfl_xor_sync(t.mask, all.max, offset), __shfl_xor_sync(t.mask, all.sum, offset)});
    }
    kernels::scale_all(acc, kernels::rescale(running.max, all.max));
    kernels::sum_groups(t, acc);
    return all;
}

template <int VEC, int ITEMS>
__device__ void attend_row(const Arguments& a, const Team& t, int f0) {
    constexpr int kUnroll = ITEMS == 1 ? 4 : 2;
    const std::int64_t unit = static_cast<std::int64_t>(blockIdx.x) * t.count() + t.index();
    const std::int64_t row = unit / a.heads;
    if (row >= a.n_rows) return;
    const auto begin = static_cast<std::uint32_t>(__ldg(a.row_ptr + row));
    const auto end = static_cast<std::uint32_t>(__ldg(a.row_ptr + row + 1));
    if (end - begin > static_cast<std::uint32_t>(a.long_row)) return;
    Vec<VEC> acc[ITEMS];
    const SoftmaxSum all = attend(a, t, unit, static_cast<int>(unit % a.heads), f0, begin, end,
                                  static_cast<std::uint32_t>(kUnroll * t.groups()), acc);
    if (t.group != 0) return;
    kernels::scale_all(acc, kernels::softmax_scale(all));
    const int step = t.lanes * VEC;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        if (f0 + i * step < a.k) kernels::store_streaming(a.y + unit * a.k + f0 + i * step, acc[i]);
    }
    if (a.lse && t.lane == 0 && blockIdx.y == 0) a.lse[unit] = kernels::log_sum_exp(all);
}

template <int VEC, int ITEMS>
__device__ void attend_piece(const Arguments& a, const Team& t, int f0, float* shared) {
    constexpr int kUnroll = ITEMS == 1 ? 4 : 2;
    const unsigned block = blockIdx.x - a.row_blocks;
    const kernels::RowPiece piece = a.pieces[block / static_cast<unsigned>(a.heads)];
    const int head = static_cast<int>(block % static_cast<unsigned>(a.heads));
    const std::int64_t unit = static_cast<std::int64_t>(piece.row) * a.heads + head;
    const auto own = static_cast<std::uint32_t>(kUnroll * t.groups());
    Vec<VEC> acc[ITEMS];
    const SoftmaxSum mine = attend(
        a, t, unit, head, f0, static_cast<std::uint32_t>(piece.begin) + own * static_cast<std::uint32_t>(t.index()),
        static_cast<std::uint32_t>(piece.end), own * static_cast<std::uint32_t>(t.count()), acc);
    const std::int64_t slot = static_cast<std::int64_t>(piece.slot) * a.heads + head;
    const int tile = t.lanes * ITEMS * VEC;
    const int left = a.k - static_cast<int>(blockIdx.y) * tile;  // features of the row in this tile and behind it
    float* out = (piece.slot < 0 ? a.y + unit * a.k : a.results.values + slot * a.k) + (a.k - left);
    const bool whole = piece.slot < 0;
    const SoftmaxSum all =
        kernels::block_merge(t, mine, acc, shared, [&](int c, float value, const SoftmaxSum& merged) {
            if (c < left) out[c] = whole ? value * kernels::softmax_scale(merged) : value;
        });
    if (threadIdx.x != 0 || blockIdx.y != 0) return;
    if (!whole) {
        a.results.sums[slot] = all;
    } else if (a.lse) {
        a.lse[unit] = kernels::log_sum_exp(all);
    }
}

template <int VEC, int ITEMS>
__global__ void __launch_bounds__(kThreads) rows_kernel(const Arguments a, int lanes, int split) {
    __shared__ float shared[kernels::shared_floats<VEC, ITEMS>(kThreads)];
    const Team t(lanes, lanes * split);
    const int f0 = static_cast<int>(blockIdx.y) * lanes * ITEMS * VEC + t.lane * VEC;
    if (blockIdx.x < a.row_blocks) {
        attend_row<VEC, ITEMS>(a, t, f0);
    } else {
        attend_piece<VEC, ITEMS>(a, t, f0, shared);
    }
}

}  // namespace gnntune::agnn_rows

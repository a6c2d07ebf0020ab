// edge_softmax.rows: y[e, h] = exp(v[e, h] - max) / sum over the edges e of each row, v = edge_weight.
//
// Layout   row_ptr [n_rows + 1]; edge_id [m] or null; v and y [m, heads] in the caller's order, of type T: f32, f16 or
//          bf16, sums in fp32; device memory.
// Work     unit = (row, head), heads fastest: teams next to each other read neighbouring values of the same edges.
//          First a block for every piece of a long row and head, then blocks of 128 / size teams, a unit each.
// Data     A thread keeps the first kKept of its values in registers; a row of up to kKept size edges is read once and
//          written once. Longer ones are read again, from L1 or L2, for the sum and for the result.
// Long     A row of one piece is its block's work; up to kBlockKept values a thread stay in registers. Pieces of split rows leave (max, sum) in the workspace;
//          finish_kernel merges those of its row and writes its piece.
// Atomics  none; the order of summation depends on `size` and the graph only: repeats bit for bit.
#pragma once

#include "kernels/common/attention.cuh"
#include "kernels/common/elements.cuh"

namespace gnntune::edge_softmax_rows {

using namespace kernels;  // NOLINT: this header is included by launch.cu alone

inline constexpr int kThreads = 128;
inline constexpr int kKept = 4;
inline constexpr int kBlockKept = 16;  ///< values of a thread of a block that has a long row

template <typename T>
struct Edges {
    const std::int32_t* row_ptr;
    const std::int32_t* edge_id;
    const T* v;
    T* y;
    std::int64_t n_rows;
    std::int32_t heads;

    __device__ __forceinline__ std::int64_t place(std::int64_t e, int head) const {
        return (edge_id ? __ldg(edge_id + e) : e) * heads + head;
    }
    __device__ __forceinline__ float logit(std::int64_t at) const { return load_value(v + at); }
    __device__ __forceinline__ void store(std::int64_t at, float value) const { y[at] = narrowed<T>(value); }
};

// Sum of a piece over the whole block, and its values.
template <typename T>
__device__ __forceinline__ SoftmaxSum sum_piece(const Edges<T>& g, const RowPiece& p, int head, SoftmaxSum* shared) {
    float max = minus_infinity();
    for (std::int64_t e = std::int64_t{p.begin} + threadIdx.x; e < p.end; e += kThreads) {
        max = fmaxf(max, g.logit(g.place(e, head)));
    }
    float sum = 0.0F;
    for (std::int64_t e = std::int64_t{p.begin} + threadIdx.x; e < p.end; e += kThreads) {
        sum += softmax_term(g.logit(g.place(e, head)), max);
    }
    return block_merge({max, sum}, shared);
}

template <typename T>
__device__ __forceinline__ void write_piece(const Edges<T>& g, const RowPiece& p, int head, const SoftmaxSum& all) {
    const float scale = softmax_scale(all);
    for (std::int64_t e = std::int64_t{p.begin} + threadIdx.x; e < p.end; e += kThreads) {
        const std::int64_t at = g.place(e, head);
        g.store(at, softmax_term(g.logit(at), all.max) * scale);
    }
}

// A row that its block keeps: every logit is read once, all of a thread's at the same time.
template <typename T>
__device__ __forceinline__ void whole_row(const Edges<T>& g, const RowPiece& p, int head, SoftmaxSum* shared) {
    const std::int64_t first = std::int64_t{p.begin} + threadIdx.x;
    float kept[kBlockKept];
    float max = minus_infinity();
#pragma unroll
    for (int u = 0; u < kBlockKept; ++u) {
        const std::int64_t e = first + u * kThreads;
        kept[u] = e < p.end ? g.logit(g.place(e, head)) : minus_infinity();
    }
#pragma unroll
    for (int u = 0; u < kBlockKept; ++u) max = fmaxf(max, kept[u]);
    float sum = 0.0F;
#pragma unroll
    for (int u = 0; u < kBlockKept; ++u) sum += softmax_term(kept[u], max);
    const SoftmaxSum all = block_merge({max, sum}, shared);
    const float scale = softmax_scale(all);
#pragma unroll
    for (int u = 0; u < kBlockKept; ++u) {
        const std::int64_t e = first + u * kThreads;
        if (e < p.end) g.store(g.place(e, head), softmax_term(kept[u], all.max) * scale);
    }
}

template <typename T>
__global__ void __launch_bounds__(kThreads, 12)
    rows_kernel(Edges<T> g, const RowPiece* __restrict__ pieces, unsigned piece_blocks, std::int32_t long_row,
                SoftmaxSum* __restrict__ partial, int size) {
    if (blockIdx.x < piece_blocks) {
        __shared__ SoftmaxSum shared[kThreads / 32];
        const RowPiece p = pieces[blockIdx.x / static_cast<unsigned>(g.heads)];
        const int head = static_cast<int>(blockIdx.x % static_cast<unsigned>(g.heads));
        if (p.slot < 0 && p.end - p.begin <= kThreads * kBlockKept) return whole_row(g, p, head, shared);
        const SoftmaxSum all = sum_piece(g, p, head, shared);
        if (p.slot < 0) {
            write_piece(g, p, head, all);
        } else if (threadIdx.x == 0) {
            partial[std::int64_t{p.slot} * g.heads + head] = all;
        }
        return;
    }
    const Team t(1, size);
    const std::int64_t unit = static_cast<std::int64_t>(blockIdx.x - piece_blocks) * t.count() + t.index();
    // Small teams are many: a division of 64 bits would take a good part of their time.
    const std::int64_t row =
        unit >> 32 == 0 ? static_cast<std::uint32_t>(unit) / static_cast<std::uint32_t>(g.heads) : unit / g.heads;
    if (row >= g.n_rows) return;
    const int head = static_cast<int>(unit - row * g.heads);
    const std::int64_t begin = __ldg(g.row_ptr + row);
    const std::int64_t end = __ldg(g.row_ptr + row + 1);
    if (end - begin > long_row) return;

    const std::int64_t first = begin + t.rank;
    const std::int64_t rest = first + kKept * size;
    std::int64_t at[kKept];
    float kept[kKept];
    float max = minus_infinity();
#pragma unroll
    for (int u = 0; u < kKept; ++u) {
        const std::int64_t e = first + u * size;
        at[u] = e < end ? g.place(e, head) : -1;
    }
#pragma unroll
    for (int u = 0; u < kKept; ++u) {
        kept[u] = at[u] >= 0 ? g.logit(at[u]) : minus_infinity();
        max = fmaxf(max, kept[u]);
    }
    for (std::int64_t e = rest; e < end; e += size) max = fmaxf(max, g.logit(g.place(e, head)));
    max = team_max(t, max);
    float sum = 0.0F;
#pragma unroll
    for (int u = 0; u < kKept; ++u) sum += kept[u] = softmax_term(kept[u], max);
    for (std::int64_t e = rest; e < end; e += size) sum += softmax_term(g.logit(g.place(e, head)), max);
    const float scale = softmax_scale({max, team_sum(t, sum)});
#pragma unroll
    for (int u = 0; u < kKept; ++u) {
        if (at[u] >= 0) g.store(at[u], kept[u] * scale);
    }
    for (std::int64_t e = rest; e < end; e += size) {
        const std::int64_t place = g.place(e, head);
        g.store(place, softmax_term(g.logit(place), max) * scale);
    }
}

// Block b -> piece b / heads, head b % heads; pieces that are whole rows are done already.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    finish_kernel(Edges<T> g, const RowPiece* __restrict__ pieces, const SoftmaxSum* __restrict__ partial) {
    __shared__ SoftmaxSum shared[kThreads / 32];
    const RowPiece p = pieces[blockIdx.x / static_cast<unsigned>(g.heads)];
    const int head = static_cast<int>(blockIdx.x % static_cast<unsigned>(g.heads));
    if (p.slot < 0) return;
    SoftmaxSum mine = empty_softmax();
    for (int s = static_cast<int>(threadIdx.x); s < p.count; s += kThreads) {
        mine = merge(mine, partial[(std::int64_t{p.first_slot} + s) * g.heads + head]);
    }
    write_piece(g, p, head, block_merge(mine, shared));
}

}  // namespace gnntune::edge_softmax_rows

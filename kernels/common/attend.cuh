// Attention in one pass over the edges of a row, for logits that are products of features: agnn.rows, attention.rows.
//
// Work     grid.y walks feature tiles of lanes ITEMS VEC elements. The first row_blocks blocks of grid.x hold teams of
//          groups x lanes threads, team -> one row of up to long_row edges and one head, group -> UNROLL edges at a
//          time; the blocks behind them take one piece of a long row and one head each, all teams together.
// Data     What a row contributes to its logits stays in registers. Each group keeps a running maximum, so that logits
//          of any size are safe, and groups, teams and pieces merge at the end.
// Shared   block_merge() of kernels/common/attention.cuh, for the pieces.  Atomics: none; sums have a fixed order.
//
// A `Source` gives the logits (kernels/attention/common/products.cuh, kernels/agnn/common/cosines.cuh). It is passed by value to the
// kernel, and has
//   static constexpr bool kDropout                   whether edges are dropped
//   float kept(edge, head) const                     what the weight of an edge, by its place in the CSR, is multiplied
//                                                    with after the softmax: 1 without dropout
//   Element                                          type of the features that are summed and of y: f32, f16 or bf16;
//                                                    lse and sums are fp32
//   template <int VEC, int ITEMS, bool WHOLE>
//   struct Row                                       WHOLE: a tile holds all features; false by default
//     kSums                                          sums over the features of an edge that its logit is made of, at
//                                                    most
//     Row(source, team, unit, head, f0, k)           what the team keeps of the row; unit = row * heads + head. All
//                                                    threads of the team call it: it may shuffle
//     void gather(team, vector, value, part) const   for UNROLL edges whose sources are vector[u] = column * heads +
//                                                    head, or -1 for none: this lane's part of the tile that is summed,
//                                                    zeros for none, and this lane's share of each sum. Shuffles
//                                                    nothing
//     float logit(sum) const                         the logit of an edge from its sums over all lanes of a group
#pragma once

#include "kernels/common/attend.hpp"
#include "kernels/common/feature_tile.cuh"
#include "kernels/common/logits.cuh"
#include "kernels/common/storage.hpp"
#include "kernels/common/tiles.hpp"

namespace gnntune::kernels {

inline constexpr int kAttendThreads = 128;

constexpr int attend_unroll(int items) {
    return items == 1 ? 4 : 2;
}

template <typename T>
struct AttendArguments {
    const std::int32_t* row_ptr;
    const std::int32_t* col_idx;
    T* y;
    float* lse;
    const RowPiece* pieces;
    PieceResults results;
    std::int32_t n_rows;
    std::int32_t heads;
    std::int32_t k;
    std::int32_t long_row;
    unsigned row_blocks;
};

/// The edges begin, begin + 1, ... of every `step` before `end`, for one team: `acc` is the sum at the returned
/// maximum. `unit` is row * heads + head.
template <int VEC, int ITEMS, typename Source>
__device__ __forceinline__ SoftmaxSum attend(const AttendArguments<typename Source::Element>& a, const Source& from,
                                             const Team& t, std::int64_t unit, int head, int f0, std::uint32_t begin,
                                             std::uint32_t end, std::uint32_t step, Vec<VEC> (&acc)[ITEMS]) {
    constexpr int kUnroll = attend_unroll(ITEMS);
    using Row = typename Source::template Row<VEC, ITEMS>;
    const Row row(from, t, unit, head, f0, a.k);
    zero_all(acc);
    SoftmaxSum running = empty_softmax();
    // All threads of the team make the same steps: they meet in shuffles.
    for (std::uint32_t e = begin; e < end; e += step) {
        Pack<typename Source::Element, VEC> value[kUnroll][ITEMS];
        std::int64_t vector[kUnroll];
        float logit[kUnroll];
        const auto edge = [&](int u) { return e + static_cast<std::uint32_t>(u * t.groups() + t.group); };
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
            vector[u] = edge(u) < end ? static_cast<std::int64_t>(__ldg(a.col_idx + edge(u))) * a.heads + head : -1;
        }
        float part[Row::kSums][kUnroll];
        row.gather(t, vector, value, part);
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
            logit[u] = row_logit(t, row, part, u);
            if (edge(u) >= end) logit[u] = minus_infinity();
        }
        float max = running.max;
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) max = fmaxf(max, logit[u]);
        const float scale = rescale(running.max, max);
        running = {max, running.sum * scale};
        scale_all(acc, scale);
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
            float p = softmax_term(logit[u], max);
            running.sum += p;
            if (Source::kDropout && edge(u) < end) p *= from.kept(edge(u), head);
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) fma(acc[i], p, value[u][i]);
        }
    }
    // Groups of the team: the lanes of one hold the same running sum.
    SoftmaxSum all = running;
    for (int offset = t.lanes; offset < t.size; offset *= 2) {
        all = merge(all, {__shfl_xor_sync(t.mask, all.max, offset), __shfl_xor_sync(t.mask, all.sum, offset)});
    }
    scale_all(acc, rescale(running.max, all.max));
    sum_groups(t, acc);
    return all;
}

template <int VEC, int ITEMS, typename Source>
__device__ void attend_row(const AttendArguments<typename Source::Element>& a, const Source& from, const Team& t,
                           int f0) {
    const std::int64_t unit = static_cast<std::int64_t>(blockIdx.x) * t.count() + t.index();
    const std::int64_t row = unit / a.heads;
    if (row >= a.n_rows) return;
    const auto begin = static_cast<std::uint32_t>(__ldg(a.row_ptr + row));
    const auto end = static_cast<std::uint32_t>(__ldg(a.row_ptr + row + 1));
    if (end - begin > static_cast<std::uint32_t>(a.long_row)) return;
    Vec<VEC> acc[ITEMS];
    zero_all(acc);
    SoftmaxSum all = empty_softmax();
    // Without any edge the inputs may be null pointers.
    if (begin < end) {
        all = attend(a, from, t, unit, static_cast<int>(unit % a.heads), f0, begin, end,
                     static_cast<std::uint32_t>(attend_unroll(ITEMS) * t.groups()), acc);
    }
    if (t.group != 0) return;
    scale_all(acc, softmax_scale(all));
    const int step = t.lanes * VEC;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        if (f0 + i * step < a.k) store_streaming(a.y + unit * a.k + f0 + i * step, acc[i]);
    }
    if (a.lse && t.lane == 0 && blockIdx.y == 0) a.lse[unit] = log_sum_exp(all);
}

template <int VEC, int ITEMS, typename Source>
__device__ void attend_piece(const AttendArguments<typename Source::Element>& a, const Source& from, const Team& t,
                             int f0, float* shared) {
    using T = typename Source::Element;
    const unsigned block = blockIdx.x - a.row_blocks;
    const RowPiece piece = a.pieces[block / static_cast<unsigned>(a.heads)];
    const int head = static_cast<int>(block % static_cast<unsigned>(a.heads));
    const std::int64_t unit = static_cast<std::int64_t>(piece.row) * a.heads + head;
    const auto own = static_cast<std::uint32_t>(attend_unroll(ITEMS) * t.groups());
    Vec<VEC> acc[ITEMS];
    const SoftmaxSum mine =
        attend(a, from, t, unit, head, f0,
               static_cast<std::uint32_t>(piece.begin) + own * static_cast<std::uint32_t>(t.index()),
               static_cast<std::uint32_t>(piece.end), own * static_cast<std::uint32_t>(t.count()), acc);
    const std::int64_t slot = static_cast<std::int64_t>(piece.slot) * a.heads + head;
    const int tile = t.lanes * ITEMS * VEC;
    const int left = a.k - static_cast<int>(blockIdx.y) * tile;  // features of the row in this tile and behind it
    const bool whole = piece.slot < 0;
    const std::int64_t out = (whole ? unit : slot) * a.k + (a.k - left);
    const SoftmaxSum all = block_merge(t, mine, acc, shared, [&](int c, float value, const SoftmaxSum& merged) {
        if (c >= left) return;
        if (whole) {
            a.y[out + c] = narrowed<T>(value * softmax_scale(merged));
        } else {
            a.results.values[out + c] = value;
        }
    });
    if (threadIdx.x != 0 || blockIdx.y != 0) return;
    if (!whole) {
        a.results.sums[slot] = all;
    } else if (a.lse) {
        a.lse[unit] = log_sum_exp(all);
    }
}

template <int VEC, int ITEMS, typename Source>
__global__ void __launch_bounds__(kAttendThreads)
    attend_kernel(const AttendArguments<typename Source::Element> a, const Source from, int lanes, int split) {
    __shared__ float shared[shared_floats<VEC, ITEMS>(kAttendThreads)];
    const Team t(lanes, lanes * split);
    const int f0 = static_cast<int>(blockIdx.y) * lanes * ITEMS * VEC + t.lane * VEC;
    if (blockIdx.x < a.row_blocks) {
        attend_row<VEC, ITEMS>(a, from, t, f0);
    } else {
        attend_piece<VEC, ITEMS>(a, from, t, f0, shared);
    }
}

template <int VEC, int ITEMS, typename Source>
void launch_attend_shape(const AttendPlan& p, AttendArguments<typename Source::Element> a, const Source& from,
                         cudaStream_t stream) {
    a.row_blocks =
        static_cast<unsigned>(ceil_div(std::int64_t{a.n_rows} * a.heads, kAttendThreads / (p.lanes * p.split)));
    const auto piece_blocks = static_cast<unsigned>(static_cast<std::int64_t>(p.pieces.pieces.size()) * a.heads);
    const dim3 grid(a.row_blocks + piece_blocks, static_cast<unsigned>(ceil_div(p.k, tile_width(p.lanes, ITEMS, VEC))));
    attend_kernel<VEC, ITEMS, Source><<<grid, kAttendThreads, 0, stream>>>(a, from, p.lanes, p.split);
    GNNTUNE_CUDA(cudaGetLastError());
}

/// Enqueues the pass, and the merge of split rows. Features are read in the widest vectors of at most 16 bytes that the
/// `pointers` of the run allow. A tile is lanes * items vectors, so narrower ones only make for more tiles.
/// Takes piece_results_bytes() of the plan's slots from `space`.
template <typename Source>
void launch_attend(const AttendPlan& p, const Source& from, std::initializer_list<const void*> pointers,
                   typename Source::Element* y, float* lse, WorkspaceCutter& space, cudaStream_t stream) {
    using T = typename Source::Element;
    const CsrFormat& g = *p.csr;
    if (g.n_rows == 0) return;
    const PieceResults results = take_piece_results(p.slots(), p.heads, p.k, space);
    const AttendArguments<T> a{g.row_ptr, g.col_idx,         y, lse, p.pieces.pieces.data(), results, g.n_rows, p.heads,
                               p.k,       p.pieces.long_row, 0};
    const int width = vector_width(p.k, pointers, static_cast<int>(16 / sizeof(T)), sizeof(T));
    with_vector<T>(width, [&](auto vec) {
        with_tile_items(p.items, [&](auto items) { launch_attend_shape<vec(), items()>(p, a, from, stream); });
    });
    launch_merge_pieces(p.pieces, results, y, lse, p.heads, p.k, true, stream);
}

}  // namespace gnntune::kernels

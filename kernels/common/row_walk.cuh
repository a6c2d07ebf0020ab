// A pass over the edges of every row and head, with a running softmax or a plain sum over the row: the part of unfused
// attention that lies between its sddmm and its spmm. Edge values are one array per head, `edge_stride` apart, each in
// the caller's order.
//
// Work     The first unit_blocks blocks of the grid: warp -> a row of up to long_row edges and a head, lane -> every
//          32nd edge. The blocks behind them: a piece of a long row and a head each. Sums of split rows meet in
//          merge_pieces().
#pragma once

#include "core/gpu/cuda_check.hpp"
#include "core/graph/formats.hpp"
#include "kernels/common/attention.cuh"
#include "kernels/common/host.hpp"

namespace gnntune::kernels {

inline constexpr int kWalkThreads = 256;

struct RowWalk {
    const std::int32_t* row_ptr;
    const std::int32_t* col_idx;
    const std::int32_t* edge_id;
    const RowPiece* pieces;
    SoftmaxSum* sums;  ///< [slots, heads]
    std::int64_t edge_stride;
    std::int32_t n_rows;
    std::int32_t heads;
    std::int32_t long_row;
    unsigned unit_blocks;
};

/// One edge of one head: `row` and `col` are vertex * heads + head, `at` is the place of its values.
struct WalkEdge {
    std::int64_t row;
    std::int64_t col;
    std::int64_t at;
    int head;
};

/// `F` has SoftmaxSum edge(const WalkEdge&), called once for each edge and head, and void row(unit, const SoftmaxSum&),
/// called once for each unit that is not a split row's.
template <typename F>
static __global__ void __launch_bounds__(kWalkThreads) walk_rows_kernel(const RowWalk w, F f) {
    __shared__ SoftmaxSum shared[kWalkThreads / 32];
    const auto walk = [&](std::int64_t unit, std::uint32_t begin, std::uint32_t end, std::uint32_t step) {
        SoftmaxSum sum = empty_softmax();
        const int head = static_cast<int>(unit % w.heads);
        for (std::uint32_t e = begin; e < end; e += step) {
            const std::int64_t col = static_cast<std::int64_t>(__ldg(w.col_idx + e)) * w.heads + head;
            const std::int64_t id = w.edge_id ? __ldg(w.edge_id + e) : e;
            sum = merge(sum, f.edge(WalkEdge{unit, col, head * w.edge_stride + id, head}));
        }
        return team_merge(Team(32, 32), sum);
    };
    const std::uint32_t lane = threadIdx.x % 32;
    const std::uint32_t warp = threadIdx.x / 32;
    if (blockIdx.x < w.unit_blocks) {
        const std::int64_t unit = static_cast<std::int64_t>(blockIdx.x) * (kWalkThreads / 32) + warp;
        const std::int64_t row = unit / w.heads;
        if (row >= w.n_rows) return;
        const auto begin = static_cast<std::uint32_t>(__ldg(w.row_ptr + row));
        const auto end = static_cast<std::uint32_t>(__ldg(w.row_ptr + row + 1));
        if (end - begin > static_cast<std::uint32_t>(w.long_row)) return;
        const SoftmaxSum all = walk(unit, begin + lane, end, 32);
        if (lane == 0) f.row(unit, all);
        return;
    }
    const unsigned block = blockIdx.x - w.unit_blocks;
    const RowPiece piece = w.pieces[block / static_cast<unsigned>(w.heads)];
    const int head = static_cast<int>(block % static_cast<unsigned>(w.heads));
    const std::int64_t unit = static_cast<std::int64_t>(piece.row) * w.heads + head;
    const SoftmaxSum mine = walk(unit, static_cast<std::uint32_t>(piece.begin) + threadIdx.x,
                                 static_cast<std::uint32_t>(piece.end), kWalkThreads);
    if (lane == 0) shared[warp] = mine;
    __syncthreads();
    if (threadIdx.x != 0) return;
    SoftmaxSum all = shared[0];
    for (int s = 1; s < kWalkThreads / 32; ++s) all = merge(all, shared[s]);
    if (piece.slot < 0) {
        f.row(unit, all);
    } else {
        w.sums[static_cast<std::int64_t>(piece.slot) * w.heads + head] = all;
    }
}

/// Enqueues the walk, and the merge of split rows into `total` [n_rows, heads] if it is not null: the log-sum-exp if
/// `softmax`, else the plain sum.
template <typename F>
static void walk_rows(const CsrFormat& g, const RowPieces& pieces, int heads, SoftmaxSum* sums,
                      std::int64_t edge_stride, const F& f, float* total, bool softmax, cudaStream_t stream) {
    if (g.n_rows == 0) return;
    const auto unit_blocks = static_cast<unsigned>(ceil_div(std::int64_t{g.n_rows} * heads, kWalkThreads / 32));
    const auto piece_blocks = static_cast<unsigned>(pieces.pieces.size() * static_cast<std::size_t>(heads));
    walk_rows_kernel<<<unit_blocks + piece_blocks, kWalkThreads, 0, stream>>>(
        RowWalk{g.row_ptr, g.col_idx, g.edge_id, pieces.pieces.data(), sums, edge_stride, g.n_rows, heads,
                pieces.long_row, unit_blocks},
        f);
    GNNTUNE_CUDA(cudaGetLastError());
    if (!total) return;
    launch_merge_pieces(pieces, {sums, nullptr}, static_cast<float*>(nullptr), total, heads, 0, softmax, stream);
}

}  // namespace gnntune::kernels

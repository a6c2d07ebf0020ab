// gat.rows: y[i, h, :] = sum over edges j->i of alpha~ x[j, h, :], alpha the softmax over row i of
// leaky_relu(score_row[i, h] + score_col[j, h]); alpha~ = alpha / (1 - p) where dropout keeps the edge, else 0.
//
// Layout   row_ptr [n_rows + 1], col_idx [m], edge_id [m] or null; x [n_cols, heads, k], y [n_rows, heads, k], aligned to
//          VEC elements; scores and lse [n, heads]; row-major, device memory. lse may be null. x, y and scores are of
//          type T: f32, f16 or bf16; lse and sums are fp32.
// Work     unit = (row, head), heads fastest, so that teams next to each other read one contiguous row of x.
//          grid.x: first a block for every piece of a long row and head, then blocks of 128 / size teams, a unit each;
//          grid.y: feature tiles. Team -> `size` edges at a time, one thread each for the logit; then its groups of
//          `lanes` threads take every groups-th of these edges, a lane ITEMS vectors of VEC features.
// Data     One pass over a row: online softmax, the accumulators scaled where the maximum grew. Per step a thread reads
//          a column id and a score, for the next step before the gathers of this one; 4 ITEMS gathers of a lane are in
//          flight. Edges that dropout drops are not gathered. y is written once.
// Long     rows of more than RowPieces::long_row edges. A row of one piece is written by its block; those of several
//          leave max, sum and numerator in the workspace for merge_pieces().
// Shared   one slot of max, sum and tile for each group-summed team: pieces only.
// Atomics  none; the order of summation depends on the params and the graph only: repeats bit for bit.
#pragma once

#include "kernels/common/gat.cuh"

namespace gnntune::gat_rows {

using namespace kernels;  // NOLINT: this header is included by launch_*.cu alone

inline constexpr int kThreads = 128;

struct Csr {
    const std::int32_t* row_ptr;
    const std::int32_t* col_idx;
    const std::int32_t* edge_id;
    std::int64_t n_rows;
};

template <typename T, int VEC, int ITEMS>
__global__ void __launch_bounds__(kThreads)
    rows_kernel(Csr g, GatScores<T> scores, const T* __restrict__ x, T* __restrict__ y, float* __restrict__ lse,
                const RowPiece* __restrict__ pieces, unsigned piece_blocks, std::int32_t long_row, PieceResults partial,
                std::int32_t k, int lanes, int size) {
    __shared__ float shared[shared_floats<VEC, ITEMS>(kThreads)];
    const Team t(lanes, size);
    const int heads = scores.heads;
    const bool in_piece = blockIdx.x < piece_blocks;
    std::int64_t row = 0;
    int head = 0;
    std::int64_t from = 0;
    std::int64_t end = 0;
    std::int64_t step = size;
    RowPiece piece{};
    if (in_piece) {
        piece = pieces[blockIdx.x / static_cast<unsigned>(heads)];
        head = static_cast<int>(blockIdx.x % static_cast<unsigned>(heads));
        row = piece.row;
        from = piece.begin + static_cast<std::int64_t>(t.index()) * size;
        end = piece.end;
        step = static_cast<std::int64_t>(t.count()) * size;
    } else {
        const std::int64_t unit = static_cast<std::int64_t>(blockIdx.x - piece_blocks) * t.count() + t.index();
        row = unit / heads;
        if (row >= g.n_rows) return;
        head = static_cast<int>(unit - row * heads);
        from = __ldg(g.row_ptr + row);
        end = __ldg(g.row_ptr + row + 1);
        if (end - from > long_row) return;
    }
    const std::int64_t unit = row * heads + head;
    const float score = scores.of_row(unit);
    const int tile0 = static_cast<int>(blockIdx.y) * lanes * ITEMS * VEC;

    SoftmaxSum running = empty_softmax();
    Vec<VEC> acc[ITEMS];
    zero_all(acc);
    std::int32_t next_col = 0;
    float next_logit = minus_infinity();
    const auto fetch = [&](std::int64_t e0) {
        next_logit = minus_infinity();
        if (e0 + t.rank >= end) return;
        next_col = __ldg(g.col_idx + e0 + t.rank);
        next_logit =
            leaky_relu(score + scores.of_col(static_cast<std::int64_t>(next_col) * heads + head), scores.slope);
    };
    fetch(from);
    for (std::int64_t e0 = from; e0 < end; e0 += step) {
        const std::int32_t col = next_col;
        const int count = static_cast<int>(end - e0 < size ? end - e0 : size);
        float weight;
        const float factor = online_step(t, next_logit, running, weight);
        fetch(e0 + step);
        if (factor != 1.0F) scale_all(acc, factor);
        if (scores.dropout.probability > 0.0F && t.rank < count) {
            const std::int64_t e = e0 + t.rank;
            if (!scores.dropout.keeps(g.edge_id ? __ldg(g.edge_id + e) : e, head)) weight = 0.0F;
        }
        gather_weighted(t, col, weight, count, x + static_cast<std::int64_t>(head) * k,
                        static_cast<std::int64_t>(heads) * k, tile0 + t.lane * VEC, k, acc);
    }
    running.sum = team_sum(t, running.sum);
    sum_groups(t, acc);

    if (!in_piece) {
        const float scale = softmax_scale(running) * scores.dropout.keep_scale;
        scale_all(acc, scale);
        if (t.group == 0) {
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
                const int f = tile0 + (i * lanes + t.lane) * VEC;
                if (f < k) store_streaming(y + unit * k + f, acc[i]);
            }
        }
        if (lse && t.rank == 0 && blockIdx.y == 0) lse[unit] = log_sum_exp(running);
        return;
    }
    const std::int64_t slot = static_cast<std::int64_t>(piece.slot) * heads + head;
    const SoftmaxSum all = block_merge(t, running, acc, shared, [&](int c, float value, const SoftmaxSum& whole) {
        if (tile0 + c >= k) return;
        value *= scores.dropout.keep_scale;
        if (piece.slot < 0) {
            y[unit * k + tile0 + c] = narrowed<T>(value * softmax_scale(whole));
        } else {
            partial.values[slot * k + tile0 + c] = value;
        }
    });
    if (threadIdx.x != 0 || blockIdx.y != 0) return;
    if (piece.slot >= 0) {
        partial.sums[slot] = all;
    } else if (lse) {
        lse[unit] = log_sum_exp(all);
    }
}

}  // namespace gnntune::gat_rows

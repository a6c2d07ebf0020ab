// gat_grad.rows_cols: gradients of gat by a pass over rows and a pass over columns, without atomics.
//
//   alpha = exp(e - lse),  alpha~ = alpha keep,  d = keep <grad_y[i, h, :], x[j, h, :]>,  D_i = <grad_y[i, h], y[i, h]>
//   rows_kernel   g = alpha (d - D_i) leaky_relu'(.),  grad_score_row[i, h] = sum over the row of g,
//                 terms[id, h] = (alpha~, g)
//   cols_kernel   grad_x[j, h, :] = sum over the column of alpha~ grad_y[i, h, :],  grad_score_col[j, h] = sum of g
//
// Layout   rows: CSR; columns: CSR of the opposite direction, whose col_idx are rows; edge_id of each leads to the caller's
//          order, in which terms [m, heads] stand. x, grad_x [n_cols, heads, k], grad_y, y [n_rows, heads, k], aligned to
//          VEC elements; scores, lse and their gradients [n, heads]; row-major, device memory. Features, scores and
//          gradients are of type T: f32, f16 or bf16; lse, terms and sums are fp32.
// Work     both: unit = (row or column, head), heads fastest; first a block for every piece of a long one and head, then
//          blocks of 128 / size teams, a unit each. A team takes `size` edges at a time, one thread each for what is
//          scalar (score, exponential, dropout); its groups of `lanes` threads take every groups-th of these edges.
//          rows_kernel walks all features for kUnroll edges of a group, then hands each dot product to its edge's thread.
//          cols_kernel holds ITEMS vectors of VEC features a lane, feature tiles along grid.y.
// Data     rows: one row of x per edge, grad_y from L1, 8 bytes per edge and head written. columns: one row of grad_y
//          and those 8 bytes per edge and head. Edges that dropout drops are gathered in neither.
// Long     pieces of split rows leave sums in the workspace for merge_pieces(), as plain sums: maximum 0.
// Atomics  none; the order of summation depends on the params and the graph only: repeats bit for bit.
#pragma once

#include "kernels/common/gat.cuh"

namespace gnntune::gat_grad_rows_cols {

using namespace kernels;  // NOLINT: this header is included by launch_*.cu alone

inline constexpr int kThreads = 128;

struct Csr {
    const std::int32_t* row_ptr;
    const std::int32_t* col_idx;
    const std::int32_t* edge_id;
    std::int64_t n_rows;

    __device__ __forceinline__ std::int64_t id(std::int64_t e) const { return edge_id ? __ldg(edge_id + e) : e; }
};

/// What a launch knows of the long rows.
struct Pieces {
    const RowPiece* pieces;
    unsigned blocks;  ///< pieces times heads
    std::int32_t long_row;
    PieceResults partial;
};

/// The edges of this thread's team: [from, end), `step` apart.
struct Share {
    std::int64_t row;
    std::int64_t from;
    std::int64_t end;
    std::int64_t step;
    std::int32_t slot;  ///< of a piece; -1: a whole row
    int head;
    bool in_piece;
    bool here;  ///< else the team has nothing to do

    __device__ __forceinline__ Share(const Csr& g, const Pieces& p, const Team& t, int heads) {
        in_piece = blockIdx.x < p.blocks;
        here = true;
        slot = -1;
        if (in_piece) {
            const RowPiece piece = p.pieces[blockIdx.x / static_cast<unsigned>(heads)];
            head = static_cast<int>(blockIdx.x % static_cast<unsigned>(heads));
            row = piece.row;
            slot = piece.slot;
            from = piece.begin + static_cast<std::int64_t>(t.index()) * t.size;
            end = piece.end;
            step = static_cast<std::int64_t>(t.count()) * t.size;
            return;
        }
        const std::int64_t unit = static_cast<std::int64_t>(blockIdx.x - p.blocks) * t.count() + t.index();
        row = unit / heads;
        here = row < g.n_rows;
        if (!here) return;
        head = static_cast<int>(unit - row * heads);
        from = __ldg(g.row_ptr + row);
        end = __ldg(g.row_ptr + row + 1);
        step = t.size;
        here = end - from <= p.long_row;
    }
};

template <typename T, int VEC>
__global__ void __launch_bounds__(kThreads)
    rows_kernel(Csr g, GatScores<T> scores, const T* __restrict__ x, const T* __restrict__ grad_y,
                const T* __restrict__ y, const float* __restrict__ lse, float2* __restrict__ terms,
                T* __restrict__ grad_score_row, Pieces p, std::int32_t k, int lanes, int size) {
    constexpr int kUnroll = 4;
    __shared__ SoftmaxSum shared[kThreads / 32];
    const Team t(lanes, size);
    const int heads = scores.heads;
    const Share s(g, p, t, heads);
    if (!s.here) return;
    const std::int64_t unit = s.row * heads + s.head;
    const T* target = grad_y + unit * k;

    float mean = 0.0F;
    for (int f = t.rank * VEC; f < k; f += size * VEC) {
        mean = kernels::dot(mean, load_pack<VEC>(target + f), load_pack<VEC>(y + unit * k + f));
    }
    mean = team_sum(t, mean);
    const float score = scores.of_row(unit);
    const float log_sum = __ldg(lse + unit);
    const int groups = t.groups();
    const int my_step = t.rank / groups;  // this thread's edge is that of group rank % groups in this step

    float sum = 0.0F;
    for (std::int64_t e0 = s.from; e0 < s.end; e0 += s.step) {
        const int count = static_cast<int>(s.end - e0 < size ? s.end - e0 : size);
        const bool mine = t.rank < count;
        std::int64_t id = 0;
        std::int32_t col = 0;
        float v = 0.0F;
        float keep = 0.0F;
        if (mine) {
            id = g.id(e0 + t.rank);
            col = __ldg(g.col_idx + e0 + t.rank);
            v = score + scores.of_col(static_cast<std::int64_t>(col) * heads + s.head);
            keep = scores.dropout.factor(id, s.head);
        }
        float d = 0.0F;
        for (int u0 = 0; u0 * groups < count; u0 += kUnroll) {
            const T* source[kUnroll];
            float dot[kUnroll];
#pragma unroll
            for (int u = 0; u < kUnroll; ++u) {
                const int q = (u0 + u) * groups + t.group;
                const std::int32_t row = __shfl_sync(t.mask, col, q, size);
                const float kept = __shfl_sync(t.mask, keep, q, size);
                dot[u] = 0.0F;
                source[u] =
                    q < count && kept != 0.0F ? x + (static_cast<std::int64_t>(row) * heads + s.head) * k : nullptr;
            }
            for (int f = t.lane * VEC; f < k; f += lanes * VEC) {
                const Pack<T, VEC> a = load_pack<VEC>(target + f);
                Pack<T, VEC> b[kUnroll];
#pragma unroll
                for (int u = 0; u < kUnroll; ++u) {
                    zero(b[u]);
                    if (source[u]) b[u] = load_pack<VEC>(source[u] + f);
                }
#pragma unroll
                for (int u = 0; u < kUnroll; ++u) dot[u] = kernels::dot(dot[u], a, b[u]);
            }
#pragma unroll
            for (int u = 0; u < kUnroll; ++u) {
                const float whole = lanes_sum(t, dot[u]);
                const float value = __shfl_sync(t.mask, whole, (t.rank & (groups - 1)) * lanes, size);
                if (my_step == u0 + u) d = value;
            }
        }
        if (mine) {
            const float alpha = softmax_term(leaky_relu(v, scores.slope), log_sum);
            const float gradient = alpha * (keep * d - mean) * leaky_relu_derivative(v, scores.slope);
            sum += gradient;
            terms[id * heads + s.head] = make_float2(alpha * keep, gradient);
        }
    }
    if (!s.in_piece) {
        sum = team_sum(t, sum);
        if (t.rank == 0) grad_score_row[unit] = narrowed<T>(sum);
        return;
    }
    const SoftmaxSum all = block_merge(SoftmaxSum{0.0F, sum}, shared);
    if (threadIdx.x != 0) return;
    if (s.slot >= 0) {
        p.partial.sums[static_cast<std::int64_t>(s.slot) * heads + s.head] = all;
    } else {
        grad_score_row[unit] = narrowed<T>(all.sum);
    }
}

template <typename T, int VEC, int ITEMS>
__global__ void __launch_bounds__(kThreads)
    cols_kernel(Csr g, const T* __restrict__ grad_y, const float2* __restrict__ terms, T* __restrict__ grad_x,
                T* __restrict__ grad_score_col, Pieces p, std::int32_t k, int heads, int lanes, int size) {
    __shared__ float shared[shared_floats<VEC, ITEMS>(kThreads)];
    const Team t(lanes, size);
    const Share s(g, p, t, heads);
    if (!s.here) return;
    const std::int64_t unit = s.row * heads + s.head;
    const int tile0 = static_cast<int>(blockIdx.y) * lanes * ITEMS * VEC;

    float sum = 0.0F;
    Vec<VEC> acc[ITEMS];
    zero_all(acc);
    for (std::int64_t e0 = s.from; e0 < s.end; e0 += s.step) {
        const int count = static_cast<int>(s.end - e0 < size ? s.end - e0 : size);
        std::int32_t row = 0;
        float weight = 0.0F;
        if (t.rank < count) {
            const float2 term = __ldg(terms + g.id(e0 + t.rank) * heads + s.head);
            row = __ldg(g.col_idx + e0 + t.rank);
            weight = term.x;
            sum += term.y;
        }
        gather_weighted(t, row, weight, count, grad_y + static_cast<std::int64_t>(s.head) * k,
                        static_cast<std::int64_t>(heads) * k, tile0 + t.lane * VEC, k, acc);
    }
    sum = team_sum(t, sum);
    sum_groups(t, acc);
    if (!s.in_piece) {
        if (t.group == 0) {
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
                const int f = tile0 + (i * lanes + t.lane) * VEC;
                if (f < k) store_streaming(grad_x + unit * k + f, acc[i]);
            }
        }
        if (t.rank == 0 && blockIdx.y == 0) grad_score_col[unit] = narrowed<T>(sum);
        return;
    }
    const std::int64_t slot = static_cast<std::int64_t>(s.slot) * heads + s.head;
    const SoftmaxSum all =
        block_merge(t, SoftmaxSum{0.0F, sum}, acc, shared, [&](int c, float value, const SoftmaxSum&) {
            if (tile0 + c >= k) return;
            if (s.slot >= 0) {
                p.partial.values[slot * k + tile0 + c] = value;
            } else {
                grad_x[unit * k + tile0 + c] = narrowed<T>(value);
            }
        });
    if (threadIdx.x != 0 || blockIdx.y != 0) return;
    if (s.slot >= 0) {
        p.partial.sums[slot] = all;
    } else {
        grad_score_col[unit] = narrowed<T>(all.sum);
    }
}

}  // namespace gnntune::gat_grad_rows_cols

// gat.binned: y[i, h, :] = sum over edges j->i of alpha~ x[j, h, :], alpha the softmax over row i of
// leaky_relu(score_row[i, h] + score_col[j, h]); alpha~ = alpha / (1 - p) where dropout keeps the edge, else 0.
//
// Layout   row_ptr [n_rows + 1], col_idx [m], edge_id [m] or null; x [n_cols, heads, k], y [n_rows, heads, k],
//          aligned to VEC elements; scores and lse [n, heads]; row-major, device memory. lse may be null. x, y and
//          scores are of type T: f32, f16 or bf16; lse and sums are fp32.
// Work     One launch, rows binned by degree (kernels/common/binned_rows.hpp): a team of one or more groups of `lanes`
//          threads owns a row, or a piece of a long one, with all its heads. Group -> every n-th run of RUN edges, lane
//          -> a vector of VEC features, which lies in one head. grid.y: feature tiles.
// Data     One pass over a row. Per run a lane reads RUN ids and vectors of x, all in flight together, and scales what
//          it has where the maximum grew: once a run. The RUN weights: TOGETHER, as many lanes of a head compute one
//          each and hand it over by shuffles; else each lane computes all of its head. y is written once.
// Shared   maximum, sum and vector of every lane of a group for each warp, for teams of several warps.
// Needs    TOGETHER: k a multiple of RUN VEC, lanes of RUN or more.
// Atomics  none; the order of summation depends on the params, the degree, the place of the row's first edge and
//          whether ids are aligned to four only.
#pragma once

#include "kernels/common/binned_rows.cuh"
#include "kernels/common/gat.cuh"
#include "kernels/common/gather_sums.cuh"
#include "kernels/common/running_sums.cuh"

namespace gnntune::gat_binned {

using namespace kernels;  // NOLINT: this header is included by launch_*.cu alone

template <typename T>
struct Arguments {
    BinnedRowsView rows;
    const std::int32_t* col_idx;
    const std::int32_t* edge_id;
    GatScores<T> scores;
    const T* x;
    T* y;
    float* lse;
    PieceResults partial;
    std::int64_t m;
    std::int32_t k;
    int lanes;
    bool ids_aligned;  ///< col_idx to four elements
};

/// A run of a team's edges as a lane sees it: its vectors of x, in flight, and the weights they get.
template <typename T, int VEC, int RUN>
struct Run {
    std::int32_t cols[RUN];  ///< -1: not an edge of the team
    Pack<T, VEC> value[RUN];
    float weight[RUN];
};

/// The threads of this warp whose numbers differ from this one's below RUN only.
template <int RUN>
__device__ __forceinline__ unsigned neighbours() {
    return ((1U << RUN) - 1U) << (threadIdx.x & 31U & ~(RUN - 1U));
}

/// Every lane computes the logits of its head by itself.
template <typename T, int VEC, int RUN, bool DROPOUT>
__device__ __forceinline__ void weigh_alone(const Arguments<T>& a, std::uint32_t e, float score, int head,
                                            RunningSums<VEC>& r, Run<T, VEC, RUN>& run) {
    float max = r.softmax.max;
#pragma unroll
    for (int u = 0; u < RUN; ++u) {
        run.weight[u] = minus_infinity();
        if (run.cols[u] < 0) continue;
        run.weight[u] = a.scores.of_col(static_cast<std::int64_t>(run.cols[u]) * a.scores.heads + head);
    }
#pragma unroll
    for (int u = 0; u < RUN; ++u) {
        if (run.cols[u] >= 0) run.weight[u] = leaky_relu(score + run.weight[u], a.scores.slope);
        max = fmaxf(max, run.weight[u]);
    }
    const float factor = rescale(r.softmax.max, max);
    r.softmax = {max, r.softmax.sum * factor};
    scale_all(r.sum, factor);
#pragma unroll
    for (int u = 0; u < RUN; ++u) {
        run.weight[u] = logit_weight(run.weight[u], max);
        r.softmax.sum += run.weight[u];
        if (DROPOUT && run.cols[u] >= 0) {
            if (!a.scores.dropout.keeps(a.edge_id ? __ldg(a.edge_id + e + u) : e + u, head)) run.weight[u] = 0.0F;
        }
    }
}

/// RUN neighbouring lanes of one head compute one logit each and hand their weights over. `r.softmax.sum` is this
/// lane's share of the sum.
template <typename T, int VEC, int RUN, bool DROPOUT>
__device__ __forceinline__ void weigh_together(const Arguments<T>& a, const RowTask& task, std::uint32_t e, float score,
                                               int head, bool inside, RunningSums<VEC>& r, Run<T, VEC, RUN>& run) {
    const int mine = static_cast<int>(threadIdx.x) & (RUN - 1);
    const unsigned mask = neighbours<RUN>();
    const std::uint32_t edge = e + static_cast<std::uint32_t>(mine);
    const bool here = inside && edge >= task.begin && edge < task.end;
    float logit = minus_infinity();
    if (here) {
        const std::int64_t col = __ldg(a.col_idx + edge);
        logit = leaky_relu(score + a.scores.of_col(col * a.scores.heads + head), a.scores.slope);
    }
    float max = fmaxf(r.softmax.max, logit);
#pragma unroll
    for (int offset = RUN / 2; offset > 0; offset /= 2) max = fmaxf(max, __shfl_xor_sync(mask, max, offset));
    const float factor = rescale(r.softmax.max, max);
    float weight = logit_weight(logit, max);
    r.softmax = {max, r.softmax.sum * factor + weight};
    scale_all(r.sum, factor);
    if (DROPOUT && here) {
        if (!a.scores.dropout.keeps(a.edge_id ? __ldg(a.edge_id + edge) : edge, head)) weight = 0.0F;
    }
#pragma unroll
    for (int u = 0; u < RUN; ++u) run.weight[u] = __shfl_sync(mask, weight, u, RUN);
}

/// Edges of a team that this group has.
template <typename T, int VEC, int RUN, bool DROPOUT, bool TOGETHER>
__device__ __forceinline__ RunningSums<VEC> walk(const Arguments<T>& a, const RowTask& task, int group, int groups,
                                                 int head, int f, bool inside) {
    RunningSums<VEC> r;
    clear(r);
    if (task.row < 0) return r;
    const float score = inside ? a.scores.of_row(static_cast<std::int64_t>(task.row) * a.scores.heads + head) : 0.0F;
    const LaneVectors<1, T> x(a.x, a.k * a.scores.heads, f, 0);
    const TeamWalk<RUN> walk(task.begin, task.end, group, groups, a.m, a.ids_aligned);
    for (std::uint32_t e = walk.start; e < task.end; e += walk.stride) {
        const EdgeRun<RUN> edges = walk.run(e);
        Run<T, VEC, RUN> run;
        load_run(a.col_idx, edges, run.cols);
#pragma unroll
        for (int u = 0; u < RUN; ++u) {
            zero(run.value[u]);
            if (edges.has(u)) run.value[u] = load_pack<VEC>(x.at(0, run.cols[u]));
            if (!edges.has(u)) run.cols[u] = -1;
        }
        if constexpr (TOGETHER) {
            weigh_together<T, VEC, RUN, DROPOUT>(a, task, e, score, head, inside, r, run);
        } else {
            weigh_alone<T, VEC, RUN, DROPOUT>(a, e, score, head, r, run);
        }
#pragma unroll
        for (int u = 0; u < RUN; ++u) {
            if (run.weight[u] != 0.0F) fma(r.sum[0], run.weight[u], run.value[u]);  // 0: whatever x holds
        }
    }
    if constexpr (TOGETHER) {
        const unsigned mask = neighbours<RUN>();
#pragma unroll
        for (int offset = RUN / 2; offset > 0; offset /= 2) {
            r.softmax.sum += __shfl_xor_sync(mask, r.softmax.sum, offset);
        }
    }
    return r;
}

// Runs of four edges in 64 registers: by itself ptxas takes fewer, and waits for three gathers before it starts the
// last.
template <typename T, int VEC, int RUN, bool DROPOUT, bool TOGETHER>
__global__ void __launch_bounds__(kMaxBinThreads, RUN == 4 ? 2 : 1)
    binned_kernel(const __grid_constant__ Arguments<T> a) {
    extern __shared__ float shared[];  // [warps][lanes][2 + VEC]
    const RowTask task = row_task(a.rows);
    const int heads = a.scores.heads;
    const int lane = static_cast<int>(threadIdx.x) & (a.lanes - 1);
    const int lanes_shift = 31 - __clz(a.lanes);
    const int group = (static_cast<int>(threadIdx.x) & (task.team - 1)) >> lanes_shift;
    const int f = (static_cast<int>(blockIdx.y) * a.lanes + lane) * VEC;
    const bool inside = f < a.k * heads;
    const int head = inside ? f / a.k : 0;
    RunningSums<VEC> r =
        walk<T, VEC, RUN, DROPOUT, TOGETHER>(a, task, group, task.team >> lanes_shift, head, f, inside);

    merge_groups(r, task.team, a.lanes, lane, group, shared);
    if (task.row < 0 || group != 0 || !inside) return;
    const bool first_of_head = f % a.k == 0;
    if (task.slot >= 0) {
        const std::int64_t slot = static_cast<std::int64_t>(task.slot) * heads;
        scale_all(r.sum, a.scores.dropout.keep_scale);
        store_sums(a.partial.values + slot * a.k + f, r.sum[0]);
        if (first_of_head) a.partial.sums[slot + head] = r.softmax;
        return;
    }
    const std::int64_t unit = static_cast<std::int64_t>(task.row) * heads;
    scale_all(r.sum, softmax_scale(r.softmax) * a.scores.dropout.keep_scale);
    store_streaming(a.y + unit * a.k + f, r.sum[0]);
    if (a.lse && first_of_head) a.lse[unit + head] = log_sum_exp(r.softmax);
}

}  // namespace gnntune::gat_binned

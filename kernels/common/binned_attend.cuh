// Attention in one launch with rows binned by degree, for logits that are products of features: agnn.binned,
// attention.binned. y[i, h, :] = sum over edges j->i of alpha x[j, h, :], alpha the softmax over row i of the logits of
// a `Source` (kernels/common/attend.cuh), times what its dropout makes of the edge; lse[i, h] = log of the sum of exp of
// these logits.
//
// Layout   row_ptr [n_rows + 1], col_idx [m]; x [n_cols, heads, k], y [n_rows, heads, k], aligned to VEC elements;
//          lse [n_rows, heads] or null; row-major, device memory. lse and sums are fp32.
// Work     kernels/common/binned_rows.hpp: a team of one or more groups owns a row, or a piece of a long one. `lanes`
//          threads of a group have a head, ITEMS vectors of VEC features each, and a group as many heads as a warp has
//          room for. Group -> every n-th run of RUN edges. grid.y: tiles of heads, and of features where k is wider.
// Data     What a row contributes to its logits stays in registers. Per run a lane reads RUN ids and RUN ITEMS vectors
//          of each gathered array, all in flight together, and scales what it has where the maximum grew: once a run.
//          Sums over the lanes of a head: from RUN lanes on, each lane is left with those of one edge in less than RUN
//          + log2(lanes) shuffles, computes its weight, and hands it over; fewer lanes have all sums and weights each.
// Shared   kernels/common/running_sums.cuh, for teams of several warps.
// Atomics  none; the order of summation depends on the params, the degree, the place of the row's first edge and
//          whether ids are aligned to four only.
#pragma once

#include "kernels/common/binned_attend.hpp"
#include "kernels/common/binned_rows.cuh"
#include "kernels/common/edge_runs.cuh"
#include "kernels/common/group_reduce.cuh"
#include "kernels/common/logits.cuh"
#include "kernels/common/running_sums.cuh"
#include "kernels/common/storage.hpp"

namespace gnntune::kernels {

template <typename T>
struct BinnedAttendArguments {
    BinnedRowsView rows;
    const std::int32_t* col_idx;
    T* y;
    float* lse;
    PieceResults partial;
    std::int64_t m;
    std::int32_t k;
    std::int32_t heads;
    int lanes;          ///< of a head
    int heads_at_once;  ///< of a group
    int feature_tiles;  ///< of a head
    bool ids_aligned;   ///< col_idx to four elements
};

/// Weights of a run, whose mask says which are edges of the team, from the lanes' shares `part` of the sums,
/// where the head has RUN lanes or more: lane l, and those beside it that have the same edge, take edge l RUN / lanes.
/// `r.softmax.sum` is the lane's share of the sum.
template <int VEC, int ITEMS, int RUN, typename Source, typename Row>
__device__ __forceinline__ void weigh_together(const Team& t, const Source& from, const Row& row,
                                               const EdgeRun<RUN>& run, int head, float (&part)[Row::kSums][RUN],
                                               RunningSums<VEC, ITEMS>& r, float (&weight)[RUN]) {
    constexpr int kRunShift = RUN == 8 ? 3 : RUN == 4 ? 2 : 1;
    static_assert(RUN == 1 << kRunShift, "runs of 2, 4 or 8 edges");
    const int same_shift = 31 - __clz(t.lanes) - kRunShift;
    const int mine = t.lane >> same_shift;
    float sum[Row::kSums];
#pragma unroll
    for (int s = 0; s < Row::kSums; ++s) {
        scatter_sums<RUN>(part[s], t.lane, t.lanes, t.mask);
        sum[s] = part[s][0];
    }
    float logit = row.logit(sum);
    if (!run.has(mine)) logit = minus_infinity();
    float max = fmaxf(r.softmax.max, logit);
    for (int offset = t.lanes / 2; offset >> same_shift > 0; offset /= 2) {
        max = fmaxf(max, __shfl_xor_sync(t.mask, max, offset));
    }
    const float factor = rescale(r.softmax.max, max);
    float own = logit_weight(logit, max);
    r.softmax = {max, r.softmax.sum * factor + own};
    scale_all(r.sum, factor);
    if (Source::kDropout && run.has(mine)) own *= from.kept(run.first + static_cast<std::uint32_t>(mine), head);
#pragma unroll
    for (int u = 0; u < RUN; ++u) weight[u] = __shfl_sync(t.mask, own, u << same_shift, t.lanes);
}

/// The same where the head has fewer lanes: each of them computes all weights.
template <int VEC, int ITEMS, int RUN, typename Source, typename Row>
__device__ __forceinline__ void weigh_alone(const Team& t, const Source& from, const Row& row, const EdgeRun<RUN>& run,
                                            int head, const float (&part)[Row::kSums][RUN], RunningSums<VEC, ITEMS>& r,
                                            float (&weight)[RUN]) {
    float max = r.softmax.max;
#pragma unroll
    for (int u = 0; u < RUN; ++u) {
        weight[u] = row_logit(t, row, part, u);
        if (!run.has(u)) weight[u] = minus_infinity();
        max = fmaxf(max, weight[u]);
    }
    const float factor = rescale(r.softmax.max, max);
    r.softmax = {max, r.softmax.sum * factor};
    scale_all(r.sum, factor);
#pragma unroll
    for (int u = 0; u < RUN; ++u) {
        weight[u] = logit_weight(weight[u], max);
        r.softmax.sum += weight[u];
        if (Source::kDropout && run.has(u)) weight[u] *= from.kept(run.first + static_cast<std::uint32_t>(u), head);
    }
}

/// Edges of a row, or of a piece of it, that this group has: what each lane's head and vectors get of them. The lanes
/// of a head call it together; `t` is these lanes.
template <int VEC, int ITEMS, int RUN, bool WHOLE, typename Source>
__device__ __forceinline__ void attend_runs(const BinnedAttendArguments<typename Source::Element>& a,
                                            const Source& from, const Team& t, const RowTask& task, int head, int f0,
                                            int group, int groups, RunningSums<VEC, ITEMS>& r) {
    using Row = typename Source::template Row<VEC, ITEMS, WHOLE>;
    const Row row(from, t, static_cast<std::int64_t>(task.row) * a.heads + head, head, f0, a.k);
    const bool together = t.lanes >= RUN;
    const TeamWalk<RUN> walk(task.begin, task.end, group, groups, a.m, a.ids_aligned);
    for (std::uint32_t e = walk.start; e < task.end; e += walk.stride) {
        const EdgeRun<RUN> run = walk.run(e);
        std::int32_t cols[RUN];
        load_run(a.col_idx, run, cols);
        std::int64_t vector[RUN];
#pragma unroll
        for (int u = 0; u < RUN; ++u) {
            vector[u] = run.has(u) ? static_cast<std::int64_t>(cols[u]) * a.heads + head : -1;
        }
        Pack<typename Source::Element, VEC> value[RUN][ITEMS];
        float part[Row::kSums][RUN];
        float weight[RUN];
        row.gather(t, vector, value, part);
        if (together) {
            weigh_together(t, from, row, run, head, part, r, weight);
        } else {
            weigh_alone(t, from, row, run, head, part, r, weight);
        }
#pragma unroll
        for (int u = 0; u < RUN; ++u) {
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) fma(r.sum[i], weight[u], value[u][i]);
        }
    }
    if (!together) return;
    // Lanes of one edge have the same share.
    for (int offset = t.lanes / 2; offset >= t.lanes / RUN; offset /= 2) {
        r.softmax.sum += __shfl_xor_sync(t.mask, r.softmax.sum, offset);
    }
}

template <int VEC, int ITEMS, int RUN, bool WHOLE, typename Source>
__global__ void __launch_bounds__(kMaxBinThreads)
    binned_attend_kernel(const __grid_constant__ BinnedAttendArguments<typename Source::Element> a,
                         const __grid_constant__ Source from) {
    extern __shared__ float shared[];  // [warps][lanes of a group][2 + VEC ITEMS]
    const RowTask task = row_task(a.rows);
    const Team t(a.lanes, a.lanes);
    const int lanes_shift = 31 - __clz(a.lanes);
    const int group_lanes = a.lanes * a.heads_at_once;
    const int group_shift = 31 - __clz(group_lanes);
    const int place = static_cast<int>(threadIdx.x) & (group_lanes - 1);
    const int group = (static_cast<int>(threadIdx.x) & (task.team - 1)) >> group_shift;
    const int head_tile = static_cast<int>(blockIdx.y) / a.feature_tiles;
    const int feature_tile = static_cast<int>(blockIdx.y) - head_tile * a.feature_tiles;
    const int head = head_tile * a.heads_at_once + (place >> lanes_shift);
    const int step = a.lanes * VEC;
    const int f0 = feature_tile * step * ITEMS + t.lane * VEC;
    RunningSums<VEC, ITEMS> r;
    clear(r);
    // Without any edge the inputs may be null pointers.
    if (task.row >= 0 && head < a.heads && task.begin < task.end) {
        attend_runs<VEC, ITEMS, RUN, WHOLE>(a, from, t, task, head, f0, group, task.team >> group_shift, r);
    }
    merge_groups(r, task.team, group_lanes, place, group, shared);
    if (task.row < 0 || group != 0 || head >= a.heads) return;
    const bool whole = task.slot < 0;
    const std::int64_t unit = static_cast<std::int64_t>(whole ? task.row : task.slot) * a.heads + head;
    const bool first = t.lane == 0 && feature_tile == 0;
    if (!whole) {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            const int f = f0 + i * step;
            if (f < a.k) store_sums(a.partial.values + unit * a.k + f, r.sum[i]);
        }
        if (first) a.partial.sums[unit] = r.softmax;
        return;
    }
    scale_all(r.sum, softmax_scale(r.softmax));
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const int f = f0 + i * step;
        if (f < a.k) store_streaming(a.y + unit * a.k + f, r.sum[i]);
    }
    if (a.lse && first) a.lse[unit] = log_sum_exp(r.softmax);
}

template <int VEC, int ITEMS, int RUN, bool WHOLE, typename Source>
void launch_binned_attend_shape(const BinnedAttendPlan& p, BinnedAttendArguments<typename Source::Element> a,
                                const Source& from, cudaStream_t stream) {
    const BinShape shape = p.params.shape(p.heads);
    a.feature_tiles = WHOLE ? 1 : static_cast<int>(ceil_div(p.k, tile_width(a.lanes, ITEMS, VEC)));
    const auto head_tiles = static_cast<unsigned>(ceil_div(p.heads, a.heads_at_once));
    const dim3 grid(p.rows.blocks, head_tiles * static_cast<unsigned>(a.feature_tiles));
    const int warps = p.rows.has_teams_of_warps() ? p.params.warps_per_block : 0;
    const std::size_t shared = static_cast<std::size_t>(warps * shape.lanes * running_slot(VEC, ITEMS)) * sizeof(float);
    binned_attend_kernel<VEC, ITEMS, RUN, WHOLE, Source>
        <<<grid, static_cast<unsigned>(shape.threads), shared, stream>>>(a, from);
    GNNTUNE_CUDA(cudaGetLastError());
}

/// Enqueues the pass, and the merge of split rows, for the plan whose dtype is the Source's. Features are read in the
/// widest vectors of at most 16 bytes that the `pointers` of the run allow; narrower ones make for more tiles.
/// Takes piece_results_bytes() of the plan's slots from `space`.
template <typename Source>
void launch_binned_attend(const BinnedAttendPlan& p, const Source& from, std::initializer_list<const void*> pointers,
                          typename Source::Element* y, float* lse, WorkspaceCutter& space, cudaStream_t stream) {
    using T = typename Source::Element;
    if (p.rows.blocks == 0) return;
    const CsrFormat& g = *p.csr;
    BinnedAttendArguments<T> a{};
    a.rows = view_of(p.rows, g);
    a.col_idx = g.col_idx;
    a.y = y;
    a.lse = lse;
    a.partial = take_piece_results(p.slots(), p.heads, p.k, space);
    a.m = g.m;
    a.k = p.k;
    a.heads = p.heads;
    a.lanes = p.params.lanes;
    a.heads_at_once = p.params.heads_at_once(p.heads);
    a.ids_aligned = aligned_to_four(g.col_idx);
    const int width = vector_width(p.k, pointers, static_cast<int>(16 / sizeof(T)), sizeof(T));
    with_vector<T>(width, [&](auto vec) {
        // Params have a head whole wherever lanes can; the pointers of a run may be aligned to less. A head that is not
        // whole is read again by every tile, and tiles are as wide as they get.
        const auto whole = [&](int items) { return tile_width(p.params.lanes, items, vec()) >= p.k; };
        if (!whole(kMostAttendItems)) {
            return launch_binned_attend_shape<vec(), kMostAttendItems, kAttendInFlight / kMostAttendItems, false>(
                p, a, from, stream);
        }
        with_items(whole(p.params.items) ? p.params.items : kMostAttendItems, [&](auto items) {
            // As many vectors in flight for every number of items.
            constexpr int kRun = kAttendInFlight / items();
            if constexpr (items() == 1) {
                // With dropout runs of four alone: half as many weights for a lane to draw, and fewer kernels.
                if (Source::kDropout || p.params.run == 4) {
                    return launch_binned_attend_shape<vec(), 1, 4, true>(p, a, from, stream);
                }
            }
            if constexpr (items() > 1 || !Source::kDropout) {
                launch_binned_attend_shape<vec(), items(), kRun, true>(p, a, from, stream);
            }
        });
    });
    launch_merge_pieces(*p.rows.pieces, a.partial, y, lse, p.heads, p.k, true, stream);
}

}  // namespace gnntune::kernels

// spmm_grad.columns: the gradients of spmm without weights of edges, one gather for each edge
//
//   grad_x[j, :] = sum over edges e with source j of s_i grad_y[i, :] (+ self_weight[j] s_j grad_y[j, :])
//   grad_self_weight[j] = s_j <grad_y[j, :], x[j, :]>
// with s_i = 1, for the mean 1 / terms of row i, in fp32 whatever the storage; and of a maximum
//
//   grad_x[j, f] = sum of grad_y[i, f] over edges e with source j that have argmax[i, f] = e
//
// Layout   cols: the CSC, binned by degree; row_idx [m]; share [n_rows] or null; x, grad_x [n_cols, k], grad_y
//          [n_rows, k], row-major, aligned to 16 bytes; self_weight, grad_self_weight [n] or null; of type T: f32, f16 or
//          bf16, sums in fp32; argmax [n_rows, k], places in the caller's order, to which edge_id of the CSC leads, or
//          null: the same; device memory.
// Work     One launch over columns binned by degree (kernels/common/binned_rows.hpp): a team of one or more groups of
//          `lanes` threads has a column, or a piece of a long one; group -> every n-th run of RUN edges, lane -> ITEMS
//          vectors of 16 bytes. grid.y walks the feature tiles; with self loops there is one.
// Data     Per run RUN * ITEMS independent gathers of grad_y (of a maximum half as many, and of argmax beside them), and the shares of the same rows beside them. The group that
//          leads a column reads its rows of x and grad_y for the self loop. grad_x is written once, past L2's retained
//          lines.
// Shared   sums of every lane of a group for each warp, for teams of several warps.
// Atomics  none; the order of summation depends on the params, the degree, the place of the first edge and whether ids
//          are aligned to four only.
// Needs    k a multiple of VEC; lanes a power of two up to 32; grid.y <= 65535.
#pragma once

#include "kernels/common/gather_sums.cuh"
#include "kernels/common/head_groups.cuh"
#include "kernels/common/prefetch.cuh"
#include "kernels/spmm_grad/columns/launch.hpp"

namespace gnntune::spmm_grad_columns {

using namespace kernels;  // NOLINT: this header is included by launch_typed.cu alone

/// What a gradient is of: sums and means, without or with self loops, or maxima.
enum class Of { sums, loops, maxima };

template <typename T>
struct Arguments {
    BinnedRowsView cols;
    const std::int32_t* row_idx;  ///< of the CSC
    const std::int32_t* edge_id;  ///< of the CSC, or null
    const std::int32_t* argmax;   ///< of maxima
    const float* edge_share;      ///< [m] in the order of the CSC, or null
    const float* share;           ///< [n_rows], of self loops; or null
    const T* self_weight;
    const T* x;
    const T* grad_y;
    T* grad_x;
    T* grad_self_weight;
    float* partial;  ///< [slots, k]
    std::int64_t m;
    std::int32_t k;
    int lanes;
    bool ids_aligned;  ///< row_idx and edge_id to four elements

    __device__ __forceinline__ float share_of(std::int32_t row) const { return share ? __ldg(share + row) : 1.0F; }
};

/// Adds to `sum` the elements of `value`, a lane's vector of an edge's row of grad_y, whose mark is the edge.
template <int VEC, typename T>
__device__ __forceinline__ void add_won(Vec<VEC>& sum, std::int32_t edge, const Pack<std::int32_t, 4> (&mark)[VEC / 4],
                                        const Pack<T, VEC>& value) {
#pragma unroll
    for (int j = 0; j < VEC; ++j) {
        if (mark[j / 4].v[j % 4] == edge) sum.v[j] += widened(value.v[j]);
    }
}

/// Edges that a group takes in at once. Marks of 4 bytes stand beside the elements of a maximum.
constexpr int run_edges(Of of, int items) {
    return (of == Of::maxima ? 4 : 8) / items;
}

/// 64 registers, for all gathers of a run: kernels/spmm/binned/README.md, version 2.
constexpr int column_registers(Of of, int vec) {
    return of == Of::maxima && vec == 8 ? 80 : 64;
}

template <typename T, int VEC, int ITEMS, Of OF>
__global__ void GNNTUNE_BIN_BOUNDS((column_registers(OF, VEC))) columns_kernel(const __grid_constant__ Arguments<T> a) {
    constexpr bool SELF = OF == Of::loops;
    constexpr int kRun = run_edges(OF, ITEMS);
    extern __shared__ float shared[];  // [warps][lanes][lane_sums_slot()]
    const RowTask task = row_task(a.cols);
    const int lane = static_cast<int>(threadIdx.x) & (a.lanes - 1);
    const int lanes_shift = 31 - __clz(a.lanes);
    const int group = (static_cast<int>(threadIdx.x) & (task.team - 1)) >> lanes_shift;
    const int step = a.lanes * VEC;
    const int f0 = static_cast<int>(blockIdx.y) * step * ITEMS + lane * VEC;
    const bool leads = task.row >= 0 && task.leads && group == 0;

    LaneSums<VEC, ITEMS> r{};
    const LaneVectors<ITEMS, T> from(a.grad_y, a.k, f0, step);
    [[maybe_unused]] const LaneVectors<ITEMS, std::int32_t> marks(OF == Of::maxima ? a.argmax : nullptr, a.k, f0, step);
    // A self loop's rows are on their way into L2 while the edges are walked: no registers wait for them.
    if constexpr (SELF) {
        if (leads) {
            const LaneVectors<ITEMS, T> own(a.x, a.k, f0, step);
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
                prefetch(from.at(i, task.row));
                prefetch(own.at(i, task.row));
            }
        }
    }
    const TeamWalk<kRun> walk(task.begin, task.end, group, task.team >> lanes_shift, a.m, a.ids_aligned);
    for (std::uint32_t e = walk.start; e < walk.end; e += walk.stride) {
        const EdgeRun<kRun> run = walk.run(e);
        std::int32_t rows[kRun];
        Pack<T, VEC> value[kRun][ITEMS];
        load_run(a.row_idx, run, rows);
        if constexpr (OF == Of::maxima) {
            std::int32_t ids[kRun];
            Pack<std::int32_t, 4> mark[kRun][ITEMS][VEC / 4];
            if (a.edge_id) {
                load_run(a.edge_id, run, ids);
            } else {
#pragma unroll
                for (int u = 0; u < kRun; ++u)
                    ids[u] = static_cast<std::int32_t>(run.first + static_cast<std::uint32_t>(u));
            }
            // Both rows of an edge are asked for at once. Of an edge that does not belong both are zeros.
            gather(run, from, rows, value);
#pragma unroll
            for (int u = 0; u < kRun; ++u) {
#pragma unroll
                for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
                    for (int p = 0; p < VEC / 4; ++p) {
                        zero(mark[u][i][p]);
                        if (run.has(u)) mark[u][i][p] = load_pack<4>(marks.at(i, rows[u]) + p * 4);
                    }
                }
            }
#pragma unroll
            for (int u = 0; u < kRun; ++u) {
#pragma unroll
                for (int i = 0; i < ITEMS; ++i) add_won(r.x[i], ids[u], mark[u][i], value[u][i]);
            }
        } else {
            float s[kRun];
            if (a.edge_share) {
                load_run(a.edge_share, run, s);
            } else {
#pragma unroll
                for (int u = 0; u < kRun; ++u) s[u] = 1.0F;
            }
            gather(run, from, rows, value);
#pragma unroll
            for (int u = 0; u < kRun; ++u) {
#pragma unroll
                for (int i = 0; i < ITEMS; ++i) fma(r.x[i], s[u], value[u][i]);
            }
        }
    }
    if constexpr (SELF) {
        if (leads) {
            const LaneVectors<ITEMS, T> own(a.x, a.k, f0, step);
            const float share = a.share_of(task.row);
            const float w = share * load_value(a.self_weight + task.row);
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
                const Pack<T, VEC> value = load_pack<VEC>(from.at(i, task.row));
                const Pack<T, VEC> x = load_pack<VEC>(own.at(i, task.row));
                fma(r.x[i], w, value);
                if (f0 + i * step < a.k) r.own = dot(r.own, x, value);  // lanes beyond k have the first vector
            }
            r.own *= share;
        }
    }
    merge_groups<SELF>(r, a.lanes, a.lanes, task.team, group, shared);
    if (task.row < 0 || group != 0) return;
    const bool whole = task.slot < 0;
    const std::int64_t out = static_cast<std::int64_t>(whole ? task.row : task.slot) * a.k;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const int f = f0 + i * step;
        if (f >= a.k) continue;
        if (whole) {
            store_streaming(a.grad_x + out + f, r.x[i]);
        } else {
            store_sums(a.partial + out + f, r.x[i]);
        }
    }
    if (SELF && leads && lane == 0) a.grad_self_weight[task.row] = narrowed<T>(r.own);
}

}  // namespace gnntune::spmm_grad_columns

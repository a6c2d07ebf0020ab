// spmm.binned: y[i, :] = sum over edges e of row i of w_e x[col_e, :] (+ self_weight[i] x[i, :]), for the mean divided by
//              the number of terms. Of several heads, which are parts of the k features, each by weights of its own.
//
// Layout   row_ptr [n_rows + 1], col_idx [m], edge_id [m] or null, edge_weight [m] or null (caller's order), self_weight
//          [n_rows] or null, of heads [m, heads] and [n_rows, heads]; x [n_cols, k], y [n_rows, k], row-major, device
//          memory, x and y aligned to VEC elements, of which a head has a multiple; rows [n_rows] by bin, or null where
//          row i stands at i. x, weights and y are of type T: f32, f16 or bf16; sums are fp32.
// Work     One launch. The first blocks of grid.x have a piece of a very long row each; those behind them belong to
//          bins of rows of like degree, heavy bins first; in a bin a team of 2^shift threads owns a row, up to a block.
//          Team -> groups of `lanes` threads, group -> every n-th run of UNROLL edges, lane -> ITEMS vectors of VEC
//          features. grid.y walks the feature tiles (slow, so that a slice of x stays in L2).
// Data     The first group of a team asks for the self loop's row of x together with the row's offsets. Where several
//          groups share a row, ids and weights come four at a time from positions that are multiples of 4, else one by
//          one; weights of heads, which lie together, one by one: a lane asks for those of its vectors. Then UNROLL *
//          ITEMS independent gathers per lane. y is written once, past L2's retained lines.
// Shared   a tile of features per warp, for teams of several warps.
// Atomics  none. Groups meet by shuffles, warps in shared memory, pieces of a row by
//          kernels/common/merge_rows.cuh: the order of summation depends on params, degree, the place of the row's
//          first edge and whether ids are aligned to four only.
// Needs    lanes a power of two up to 32; grid.y <= 65535.
#pragma once

#include "kernels/common/binned_rows.cuh"
#include "kernels/common/self_term.cuh"

namespace gnntune::spmm_binned {

using kernels::Vec;

/// Whether edges have weights: one, or one for each head.
enum class Weights { none, of_edges, of_heads };

template <typename T>
struct Arguments {
    kernels::BinnedRowsView rows;
    kernels::WeightedEdges<T> edges;
    kernels::SelfTerm<T> self;
    const T* x;
    T* y;
    float* partial;  ///< [slots, k]
    std::int32_t k;
    int lanes;
    bool mean;
    std::int32_t heads;   ///< that have weights
    std::int32_t head_k;  ///< features of each
};

// Two blocks of the largest size: 64 registers, which ptxas then fills with gathers in flight. By itself it takes fewer
// and waits for half of them before it starts the others.
// Kernels of heads are those with SELF, and may have no self loops.
template <typename T, int VEC, int ITEMS, Weights WEIGHTS, bool SELF>
__global__ void __launch_bounds__(kernels::kMaxBinThreads, 2) binned_kernel(const __grid_constant__ Arguments<T> a) {
    constexpr int kUnroll = 8 / ITEMS;
    extern __shared__ float4 shared_bytes[];  // a tile of lanes * ITEMS vectors per warp
    const kernels::RowTask task = kernels::row_task(a.rows);
    const int lane = static_cast<int>(threadIdx.x) & (a.lanes - 1);
    const int lanes_shift = 31 - __clz(a.lanes);
    const int group = (static_cast<int>(threadIdx.x) & (task.team - 1)) >> lanes_shift;
    const int groups = task.team >> lanes_shift;
    const int step = a.lanes * VEC;
    const int f0 = static_cast<int>(blockIdx.y) * step * ITEMS + lane * VEC;

    Vec<VEC> acc[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) kernels::zero(acc[i]);

    const kernels::LaneVectors<ITEMS, T> x(a.x, a.k, f0, step);
    constexpr bool kHeads = WEIGHTS == Weights::of_heads;
    [[maybe_unused]] const kernels::LaneHeads<ITEMS> heads(kHeads ? a.heads : 1, kHeads ? a.head_k : 1, a.k, f0, step);
    if constexpr (SELF) {
        if (task.row >= 0 && task.leads && group == 0) {
            if constexpr (kHeads) {
                a.self.add(task.row, x, heads, acc);
            } else {
                a.self.add(task.row, x, acc);
            }
        }
    }
    const kernels::TeamWalk<kUnroll> walk(task.begin, task.end, group, groups, a.edges.m, a.edges.ids_aligned);
    if constexpr (kHeads) {
        kernels::gather_head_sums(a.edges, walk, x, heads, acc);
    } else {
        kernels::gather_sums<WEIGHTS == Weights::of_edges>(a.edges, walk, x, acc);
    }
    for (int offset = a.lanes; offset < min(task.team, 32); offset *= 2) {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
            for (int j = 0; j < VEC; ++j) acc[i].v[j] += __shfl_xor_sync(0xffffffffU, acc[i].v[j], offset);
        }
    }
    if (task.team > 32) {  // the same for all threads of a block
        auto* shared = reinterpret_cast<Vec<VEC>*>(shared_bytes);
        const int tile = a.lanes * ITEMS;
        const int warp = static_cast<int>(threadIdx.x) / 32;
        if (threadIdx.x % 32 < a.lanes) {
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) shared[warp * tile + i * a.lanes + lane] = acc[i];
        }
        __syncthreads();
        if (group != 0) return;
        for (int other = 1; other < task.team / 32; ++other) {
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
                kernels::fma(acc[i], 1.0F, shared[(warp + other) * tile + i * a.lanes + lane]);
            }
        }
    }
    if (task.row < 0 || group != 0) return;
    if (task.slot >= 0) {
        float* out = a.partial + static_cast<std::int64_t>(task.slot) * a.k;
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            if (f0 + i * step < a.k) kernels::store_sums(out + f0 + i * step, acc[i]);
        }
        return;
    }
    if (a.mean) {
        const float factor = a.self.mean_factor(task.end - task.begin);
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) kernels::scale(acc[i], factor);
    }
    T* out = a.y + static_cast<std::int64_t>(task.row) * a.k;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        if (f0 + i * step < a.k) kernels::store_streaming(out + f0 + i * step, acc[i]);
    }
}

}  // namespace gnntune::spmm_binned

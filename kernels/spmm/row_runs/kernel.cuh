// spmm.row_runs: y[i, :] = sum over edges e of row i of w_e x[col_e, :] (+ self_weight[i] x[i, :]), for the mean divided
//                by the number of terms
//
// Layout   row_ptr [n_rows + 1], col_idx [m], edge_id [m] or null, edge_weight [m] or null (caller's order), self_weight
//          [n_rows] or null, x [n_cols, k], y [n_rows, k], row-major, device memory, x and y aligned to VEC elements.
//          x, weights and y are of type T: f32, f16 or bf16; sums are fp32.
// Work     grid.x walks the rows, grid.y the feature tiles (slow, so that a slice of x stays in L2); block -> groups of
//          `lanes` threads, group -> `rows` consecutive rows, whose edges are one stretch of the list, lane -> ITEMS
//          vectors of VEC features.
// Data     A step is kRun edges from a multiple of kRun on, whatever rows they belong to. Their ids and weights, four at a
//          time, were asked for a step before; then kRun * ITEMS independent gathers per lane, then the sums. A row's
//          self loop is asked for where the row begins and added where it ends; there the sum is written, once, past
//          L2's retained lines.
// Shared   none.  Atomics: none; a row is summed edge by edge in the order of the list, its self loop last.
// Needs    lanes a power of two up to 32; grid.y <= 65535.
#pragma once

#include "kernels/common/row_cursor.cuh"
#include "kernels/common/self_term.cuh"
#include "kernels/spmm/row_runs/params.hpp"

namespace gnntune::spmm_row_runs {

using kernels::Vec;
using Run = kernels::EdgeRun<kRun>;

// Registers for all gathers of a step and the ids of the next.
template <typename T, int VEC, int ITEMS, bool WEIGHTED, bool SELF>
__global__ void __launch_bounds__(kThreads, ITEMS == 2 ? 6 : 8)
    row_runs_kernel(const std::int32_t* __restrict__ row_ptr, const __grid_constant__ kernels::WeightedEdges<T> edges,
                    const kernels::SelfTerm<T> self, const T* __restrict__ x, T* __restrict__ y, std::int32_t n_rows,
                    std::int32_t k, int lanes, int rows, bool mean) {
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const std::int64_t first = kernels::group_index(lanes) * rows;
    if (first >= n_rows) return;
    const auto last = static_cast<std::int32_t>(min(first + rows, std::int64_t{n_rows}));
    kernels::RowCursor at(row_ptr, static_cast<std::int32_t>(first), last);
    const std::uint32_t begin = at.begin;
    const std::uint32_t end = at.edge(last);
    const int step = lanes * VEC;
    const int f0 = static_cast<int>(blockIdx.y) * step * ITEMS + lane * VEC;
    const kernels::LaneVectors<ITEMS, T> from(x, k, f0, step);

    Vec<VEC> acc[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) kernels::zero(acc[i]);
    kernels::Pack<T, VEC> own[SELF ? ITEMS : 1];
    float own_weight = 0.0F;
    const auto ask_for_own = [&] {
        if constexpr (SELF) {
            own_weight = kernels::load_value(self.weight + at.row);
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) own[i] = kernels::load_pack<VEC>(from.at(i, at.row));
        }
    };
    ask_for_own();
    const auto finish_row = [&] {
        T* out = y + static_cast<std::int64_t>(at.row) * k + f0;
        const float factor = mean ? self.mean_factor(at.end - at.begin) : 1.0F;
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            if constexpr (SELF) kernels::fma(acc[i], own_weight, own[i]);
            if (mean) kernels::scale(acc[i], factor);
            if (f0 + i * step < k) kernels::store_streaming(out + i * step, acc[i]);
            kernels::zero(acc[i]);
        }
        at.next();
        if (SELF && at.row < last) ask_for_own();
    };

    std::int32_t cols[kRun];
    std::int32_t ids[kRun];
    float weights[kRun];
    const auto load_edges = [&](const Run& run) {
        kernels::load_run(edges.col_idx, run, cols);
        if constexpr (WEIGHTED) kernels::load_weights(edges, run, ids, weights);
    };
    const auto run_at = [&](std::uint32_t e) {
        return Run(e, begin, end, static_cast<std::uint32_t>(edges.m), edges.ids_aligned);
    };
    std::uint32_t e = begin & ~static_cast<std::uint32_t>(kRun - 1);
    if (begin < end) load_edges(run_at(e));
    while (e < end) {
        const Run run = run_at(e);
        kernels::Pack<T, VEC> value[kRun][ITEMS];
        kernels::gather(run, from, cols, value);
        float w[kRun];
#pragma unroll
        for (int u = 0; u < kRun; ++u) w[u] = WEIGHTED ? weights[u] : 1.0F;
        e += kRun;
        if (e < end) load_edges(run_at(e));
#pragma unroll
        for (int u = 0; u < kRun; ++u) {
            if (!run.has(u)) continue;
            while (run.first + u >= at.end) finish_row();
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) kernels::fma(acc[i], w[u], value[u][i]);
        }
    }
    while (at.row < last) finish_row();
}

}  // namespace gnntune::spmm_row_runs

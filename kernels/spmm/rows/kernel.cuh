// spmm.rows: y[i, :] = sum over edges e of row i of w_e x[col_e, :] (+ self_weight[i] x[i, :]), for the mean divided by the
//            number of terms
//
// Layout   row_ptr [n_rows + 1], col_idx [m], edge_id [m] or null, edge_weight [m] or null (caller's order), self_weight
//          [n_rows] or null, x [n_cols, k], y [n_rows, k], row-major, device memory, x and y aligned to VEC elements.
//          x, weights and y are of type T: f32, f16 or bf16; sums are fp32.
// Work     grid.x walks the rows, grid.y the feature tiles (slow, so that a slice of x stays in L2);
//          block -> teams of split * lanes threads, team -> one row, group of lanes -> every split-th run of UNROLL
//          edges, lane -> ITEMS vectors of VEC features. The groups' sums meet by shuffles.
// Data     Per step a group reads UNROLL column ids and weights (the same for all of its lanes; four at a time where
//          groups share a row), then issues UNROLL * ITEMS independent gathers per lane, then multiplies. y is written
//          once, past L2's retained lines.
// Shared   none.  Atomics: none; the order of summation depends on split, UNROLL and, where groups share a row, on the
//          place of its first edge and on whether ids are aligned to four only.
// Needs    lanes and split powers of two, lanes * split <= 32; grid.y <= 65535.
#pragma once

#include "kernels/common/prefetch.cuh"
#include "kernels/common/self_term.cuh"
#include "kernels/spmm/rows/params.hpp"

namespace gnntune::spmm_rows {

using kernels::Vec;

template <typename T, int VEC, int ITEMS, int UNROLL, bool WEIGHTED, bool SELF>
__global__ void __launch_bounds__(kMaxThreads, ITEMS* UNROLL == 16 ? 2 : 4)
    rows_kernel(const std::int32_t* __restrict__ row_ptr, const __grid_constant__ kernels::WeightedEdges<T> edges,
                const kernels::SelfTerm<T> self, const T* __restrict__ x, T* __restrict__ y, std::int32_t n_rows,
                std::int32_t k, int lanes, int split, bool mean) {
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const int team = lanes * split;
    const int group = (static_cast<int>(threadIdx.x) & (team - 1)) / lanes;
    const std::int64_t row = kernels::group_index(team);
    const bool here = row < n_rows;  // all lanes of a warp stay for the shuffles
    const int step = lanes * VEC;
    const int f0 = static_cast<int>(blockIdx.y) * step * ITEMS + lane * VEC;

    Vec<VEC> acc[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) kernels::zero(acc[i]);

    const std::uint32_t begin = here ? static_cast<std::uint32_t>(__ldg(row_ptr + row)) : 0;
    const std::uint32_t end = here ? static_cast<std::uint32_t>(__ldg(row_ptr + row + 1)) : 0;
    const kernels::LaneVectors<ITEMS, T> from(x, k, f0, step);
    const bool has_own = SELF && here && group == 0;
    if (has_own) {  // on its way into L2 while the edges are walked: added first, it would be waited for
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) kernels::prefetch(from.at(i, static_cast<std::int32_t>(row)));
    }
    const kernels::TeamWalk<UNROLL> walk(begin, end, group, split, edges.m, edges.ids_aligned);
    kernels::gather_sums<WEIGHTED>(edges, walk, from, acc);
    if (has_own) self.add(static_cast<std::int32_t>(row), from, acc);
    for (int offset = lanes; offset < team; offset *= 2) {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
            for (int j = 0; j < VEC; ++j) acc[i].v[j] += __shfl_xor_sync(0xffffffffU, acc[i].v[j], offset);
        }
    }
    if (!here || group != 0) return;
    if (mean) {
        const float factor = self.mean_factor(end - begin);
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) kernels::scale(acc[i], factor);
    }
    T* out = y + row * k;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        if (f0 + i * step < k) kernels::store_streaming(out + f0 + i * step, acc[i]);
    }
}

}  // namespace gnntune::spmm_rows

// y[id_e] = act(scale w_e <x_row[row_e, :], x[col_e, :]>) for every edge e of a list, edge by edge.
//
// Layout   row_idx, col_idx [m]; edge_id [m] or null; edge_weight [m] or null (caller's order); x_row [n_rows, k],
//          x [n_cols, k], y [m]; row-major, device memory, matrices aligned to VEC elements. Matrices, weights and y
//          are of type T: f32, f16 or bf16; sums are fp32.
// Work     group of `lanes` threads -> UNROLL consecutive edges; lane -> every lanes-th vector of VEC features.
// Data     Ids come up to four at a time. For each vector of features a lane has UNROLL gathers of x in flight, and one
//          of x_row for each row among the edges: consecutive edges of a sorted list share it. The sums of all edges
//          are scattered over the lanes while they are formed; neighbouring lanes write neighbouring edges.
// Shared   none.  Atomics: none; the order of summation depends on lanes and UNROLL only, so results repeat bit for
//          bit.
#pragma once

#include <cuda_runtime_api.h>

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/edge_runs.cuh"
#include "kernels/common/group_reduce.cuh"
#include "kernels/sddmm/common/edge_dots.hpp"
#include "kernels/sddmm/common/edge_epilogue.hpp"

namespace gnntune::kernels {

template <typename T>
struct EdgeDots {
    const std::int32_t* row_idx;
    const std::int32_t* col_idx;
    const std::int32_t* edge_id;
    const T* edge_weight;
    const T* x_row;
    const T* x;
    T* y;
    EdgeEpilogue epilogue;
    std::int64_t m;
    std::int32_t k;
    int lanes;
    bool ids_aligned;  ///< row_idx and col_idx to four elements
};

template <typename T, int VEC, int UNROLL>
__global__ void __launch_bounds__(kEdgeDotThreads, 8) edge_dots_kernel(const __grid_constant__ EdgeDots<T> a) {
    const int lanes_shift = 31 - __clz(a.lanes);
    const int lane = static_cast<int>(threadIdx.x) & (a.lanes - 1);
    const auto m = static_cast<std::uint32_t>(a.m);
    const std::uint32_t e = (blockIdx.x * (kEdgeDotThreads >> lanes_shift) + (threadIdx.x >> lanes_shift)) * UNROLL;

    // What is beyond the last edge computes it again, and is not stored: no test in what follows.
    std::int32_t rows[UNROLL];
    std::int32_t cols[UNROLL];
    load_run_or_last(a.row_idx, e, m, a.ids_aligned, rows);
    load_run_or_last(a.col_idx, e, m, a.ids_aligned, cols);
    const auto row_bytes = static_cast<std::uint32_t>(a.k) * static_cast<std::uint32_t>(sizeof(T));
    const T* left_at[UNROLL];
    const T* right_at[UNROLL];
    float sum[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
        left_at[u] = row_of(a.x_row, rows[u], row_bytes);
        right_at[u] = row_of(a.x, cols[u], row_bytes);
        sum[u] = 0.0F;
    }
    for (auto f = static_cast<std::uint32_t>(lane * VEC); f < static_cast<std::uint32_t>(a.k);
         f += static_cast<std::uint32_t>(a.lanes * VEC)) {
        Pack<T, VEC> left[UNROLL];
        Pack<T, VEC> right[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            right[u] = load_pack<VEC>(right_at[u] + f);
            // A row's vector is asked for once, and handed on when it is there: no load waits for another.
            zero(left[u]);
            if (u == 0 || rows[u] != rows[u > 0 ? u - 1 : 0]) left[u] = load_pack<VEC>(left_at[u] + f);
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            if (u > 0 && rows[u] == rows[u > 0 ? u - 1 : 0]) left[u] = left[u > 0 ? u - 1 : 0];
            sum[u] = dot(sum[u], left[u], right[u]);
        }
    }
    scatter_sums(sum, lane, a.lanes);
    // Sum i of the group is in its lanes i / held * share and behind.
    constexpr int kShift = UNROLL == 4 ? 2 : UNROLL == 2 ? 1 : 0;
    static_assert(1 << kShift == UNROLL);
    const int share_shift = max(0, lanes_shift - kShift);
    const int held_shift = max(0, kShift - lanes_shift);
    if ((lane & ((1 << share_shift) - 1)) != 0) return;
    const std::uint32_t first = e + (static_cast<std::uint32_t>(lane >> share_shift) << held_shift);
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
        if (i >= 1 << held_shift || first + i >= m) break;
        const std::uint32_t id = a.edge_id ? static_cast<std::uint32_t>(__ldg(a.edge_id + first + i)) : first + i;
        const float weight = a.edge_weight ? load_value(a.edge_weight + id) : 1.0F;
        a.y[id] = narrowed<T>(a.epilogue(weight * sum[i]));
    }
}

/// Enqueues them. Throws on a launch error.
template <int VEC, int UNROLL, typename T>
void launch_edge_dots(const EdgeDots<T>& a, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(ceil_div(a.m, std::int64_t{kEdgeDotThreads / a.lanes} * UNROLL));
    edge_dots_kernel<T, VEC, UNROLL><<<blocks, kEdgeDotThreads, 0, stream>>>(a);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::kernels

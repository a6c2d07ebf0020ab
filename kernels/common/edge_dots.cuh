// y[id_e] = act(scale w_e <x_row[row_e, :], x[col_e, :]>) for every edge e of a list, edge by edge.
//
// Layout   row_idx, col_idx [m]; edge_id [m] or null; edge_weight [m] or null (caller's order); x_row [n_rows, k],
//          x [n_cols, k], y [m]; row-major, device memory, matrices aligned to VEC elements. Matrices, weights and y
//          are of type T: f32, f16 or bf16; sums are fp32.
// Work     group of `lanes` threads -> UNROLL consecutive edges; lane -> every lanes-th vector of VEC features.
// Data     Ids come up to four at a time. For each vector of features a lane has UNROLL gathers of x in flight, and
//          one of x_row for each row among the edges: consecutive edges of a sorted list share it. The sums of all
//          edges are scattered over the lanes while they are formed; neighbouring lanes write neighbouring edges.
// Shared   none.  Atomics: none; the order of summation depends on lanes and UNROLL only, so results repeat bit for
// bit.
#pragma once

#include <cuda_runtime_api.h>

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/edge_dots.hpp"
#include "kernels/common/edge_epilogue.hpp"
#include "kernels/common/edge_runs.cuh"
#include "kernels/common/group_reduce.cuh"

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
__global__ void __launch_bounds__(kEdgeDotThreads) edge_dots_kernel(const __grid_constant__ EdgeDots<T> a) {
    const int lane = static_cast<int>(threadIdx.x) & (a.lanes - 1);
    const std::int64_t e = group_index(a.lanes) * UNROLL;

    std::int32_t rows[UNROLL];
    std::int32_t cols[UNROLL];
    float sum[UNROLL];
    load_run(a.row_idx, e, a.m, a.ids_aligned, rows, -1);
    load_run(a.col_idx, e, a.m, a.ids_aligned, cols, -1);
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) sum[u] = 0.0F;
    for (int f = lane * VEC; f < a.k; f += a.lanes * VEC) {
        Pack<T, VEC> left[UNROLL];
        Pack<T, VEC> right[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            zero(left[u]);
            zero(right[u]);
            if (cols[u] < 0) continue;
            right[u] = load_pack<VEC>(a.x + static_cast<std::int64_t>(cols[u]) * a.k + f);
            if (u > 0 && rows[u] == rows[u > 0 ? u - 1 : 0]) continue;
            left[u] = load_pack<VEC>(a.x_row + static_cast<std::int64_t>(rows[u]) * a.k + f);
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            if (u > 0 && rows[u] == rows[u > 0 ? u - 1 : 0]) left[u] = left[u > 0 ? u - 1 : 0];
            sum[u] = dot(sum[u], left[u], right[u]);
        }
    }
    // Every lane of the warp is still here: threads beyond the last edge have skipped the loads only.
    scatter_sums(sum, lane, a.lanes);
    const int held = max(1, UNROLL / a.lanes);
    const int share = max(1, a.lanes / UNROLL);
    if (lane % share != 0) return;
    const std::int64_t first = e + static_cast<std::int64_t>(lane / share) * held;
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
        if (i >= held || first + i >= a.m) break;
        const std::int64_t id = a.edge_id ? __ldg(a.edge_id + first + i) : first + i;
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

// sddmm.binned: y[id_e] = w_e <x_row[i, :], x[col_e, :]> for every edge e of row i.
//
// Layout   row_ptr [n_rows + 1], col_idx [m]; edge_id [m] or null; edge_weight [m] or null (caller's order);
//          x_row [n_rows, k], x [n_cols, k], y [m]; row-major, device memory, matrices aligned to VEC elements.
//          Matrices, weights and y are of type T: f32, f16 or bf16; sums are fp32.
// Work     One launch. A team of 2^shift threads owns a row, or a piece of a long one (kernels/common/binned_rows.hpp).
//          Team -> groups of `lanes` threads, group -> every n-th run of RUN edges, lane -> ITEMS vectors of VEC
//          features, and every lanes * ITEMS-th after them where k is wider.
// Data     The row's features stay in registers, what is beyond the tile comes again for each run. RUN ITEMS gathers
//          per lane are in flight. The sums of a run are scattered over the lanes while they are formed; neighbouring
//          lanes write neighbouring edges.
// Shared   none.  Atomics: none; the order of summation depends on lanes, vec and items only: repeats bit for bit.
#pragma once

#include "kernels/common/binned_rows.cuh"
#include "kernels/common/edge_runs.cuh"
#include "kernels/common/group_reduce.cuh"

namespace gnntune::sddmm_binned {

using kernels::Pack;

template <typename T>
struct Arguments {
    kernels::BinnedRowsView rows;
    const std::int32_t* col_idx;
    const std::int32_t* edge_id;
    const T* edge_weight;
    const T* x_row;
    const T* x;
    T* y;
    std::int64_t m;
    std::int32_t k;
    int lanes;
    bool ids_aligned;  ///< col_idx to four elements
};

/// Loads the lane's vectors from feature `f` on, `step` apart; zeros behind k and where there is no row.
template <int VEC, int ITEMS, typename T>
__device__ __forceinline__ void load_features(const T* row, int f, int step, std::int32_t k,
                                              Pack<T, VEC> (&out)[ITEMS]) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        kernels::zero(out[i]);
        if (row && f + i * step < k) out[i] = kernels::load_pack<VEC>(row + f + i * step);
    }
}

template <typename T, int VEC, int ITEMS, int RUN>
__global__ void __launch_bounds__(kernels::kMaxBinThreads) binned_kernel(const __grid_constant__ Arguments<T> a) {
    const kernels::RowTask task = kernels::row_task(a.rows);
    if (task.row < 0) return;  // whole groups: what follows waits for lanes of the own group alone
    const int lanes_shift = 31 - __clz(a.lanes);
    const int lane = static_cast<int>(threadIdx.x) & (a.lanes - 1);
    const int group = (static_cast<int>(threadIdx.x) & (task.team - 1)) >> lanes_shift;
    const int groups = task.team >> lanes_shift;
    const unsigned of_group =
        a.lanes == 32 ? 0xffffffffU : ((1U << a.lanes) - 1) << (threadIdx.x & 31U & ~(a.lanes - 1U));
    const int step = a.lanes * VEC;
    const int tile = step * ITEMS;
    const T* query = a.x_row + static_cast<std::int64_t>(task.row) * a.k;
    Pack<T, VEC> own[ITEMS];
    load_features(task.begin < task.end ? query : nullptr, lane * VEC, step, a.k, own);

    // A group by itself has few edges: it starts with the first of them. Several start where vectors of ids do.
    const bool wide = groups > 1 && a.ids_aligned;
    const std::uint32_t start = wide ? task.begin & ~3U : task.begin;
    const std::int64_t readable = wide ? a.m : task.end;
    for (std::uint32_t e = start + static_cast<std::uint32_t>(group * RUN); e < task.end;
         e += static_cast<std::uint32_t>(groups * RUN)) {
        std::int32_t cols[RUN];
        kernels::load_run(a.col_idx, e, readable, wide, cols, -1);
        const T* row[RUN];
        Pack<T, VEC> value[RUN][ITEMS];
#pragma unroll
        for (int u = 0; u < RUN; ++u) {
            const bool here = e + u >= task.begin && e + u < task.end;
            row[u] = here ? a.x + static_cast<std::int64_t>(cols[u]) * a.k : nullptr;
            load_features(row[u], lane * VEC, step, a.k, value[u]);
        }
        float sum[RUN];
#pragma unroll
        for (int u = 0; u < RUN; ++u) {
            sum[u] = 0.0F;
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) sum[u] = kernels::dot(sum[u], own[i], value[u][i]);
        }
        for (int f = tile + lane * VEC; f < a.k; f += step) {
            const Pack<T, VEC> left = kernels::load_pack<VEC>(query + f);
#pragma unroll
            for (int u = 0; u < RUN; ++u) {
                if (row[u]) sum[u] = kernels::dot(sum[u], left, kernels::load_pack<VEC>(row[u] + f));
            }
        }
        kernels::scatter_sums(sum, lane, a.lanes, of_group);
        const int held = max(1, RUN / a.lanes);
        const int share = max(1, a.lanes / RUN);
        if (lane % share != 0) continue;
        const std::uint32_t first = e + static_cast<std::uint32_t>(lane / share * held);
#pragma unroll
        for (int i = 0; i < RUN; ++i) {
            if (i >= held) break;
            const std::uint32_t at = first + static_cast<std::uint32_t>(i);
            if (at < task.begin || at >= task.end) continue;
            const std::int64_t id = a.edge_id ? __ldg(a.edge_id + at) : static_cast<std::int64_t>(at);
            const float weight = a.edge_weight ? kernels::load_value(a.edge_weight + id) : 1.0F;
            a.y[id] = kernels::narrowed<T>(weight * sum[i]);
        }
    }
}

}  // namespace gnntune::sddmm_binned

// gcn_norm.binned: d_i = 1 + sum of the weights of row i; y[e] = w_e / sqrt(d_row d_col), y_self[i] = 1 / d_i
//
// Layout   row_ptr [n + 1], col_idx [m], edge_id [m] or null, edge_weight [m] in the caller's order or null; y [m] in
//          the caller's order, y_self [n]; weights and results are of type T: f32, f16 or bf16; in the workspace a double
//          for each piece of a split row and inverse_root [n] in fp32, or null; device memory, any alignment of an
//          element.
// Work     a team of threads owns a row, the pieces of very long rows have a block each
//          (kernels/common/binned_rows.hpp). Thread t of a team takes the edges t, t + team, ... of the row, kRun at a
//          time: neighbours in a team load and store neighbouring words, wherever the row begins. Nobody searches for
//          the row of an edge.
//          degrees  weighted: a team sums its row, a small kernel the pieces of split rows. Unweighted: differences of
//                   row pointers, a thread per row.
//          weights  the row's own factor once for a thread, that of the column gathered for each edge. Without
//                   inverse_root both come from row_ptr, and the team that has the row's first edge writes y_self.
//                   Both ends of an edge have the same factor, so that the walk may as well go over the CSC, with the
//                   column for the row: of a reversed problem that is the caller's order, and nothing is scattered.
// Data     the order of the rows and row_ptr once for each pass over rows; degrees: the weights; weights: col_idx, the
//          weights, one gathered factor for each edge (or a pair of row pointers), kRun of them under way in a thread.
//          Stores stay in L2 as long as they may: the neighbour of a row may be another bin's, and half a sector's.
// Sums     in double: a row of many equal weights drifts beyond fp32's tolerance otherwise.
// Shared   a double per warp.  Atomics: none; the order of summation depends on the params only: repeats bit for bit.
#pragma once

#include "kernels/common/binned_rows.cuh"
#include "kernels/common/elements.cuh"
#include "kernels/gcn_norm/binned/params.hpp"

namespace gnntune::gcn_norm_binned {

template <typename T>
struct Arrays {
    kernels::BinnedRowsView rows;
    const std::int32_t* degree_ptr;  ///< row_ptr of the rows whose edges make degrees
    const std::int32_t* col_idx;
    const std::int32_t* edge_id;
    const T* edge_weight;
    double* partial;
    float* inverse_root;
    T* y;
    T* y_self;
    std::int32_t n;

    /// Of an unweighted graph; whole numbers are rounded once.
    __device__ __forceinline__ float degree(std::int32_t row) const {
        const std::int32_t edges = __ldg(degree_ptr + row + 1) - __ldg(degree_ptr + row);
        return static_cast<float>(static_cast<std::uint32_t>(edges) + 1U);
    }
    __device__ __forceinline__ void store(std::int32_t row, float degree) const {
        inverse_root[row] = rsqrtf(degree);
        y_self[row] = kernels::narrowed<T>(1.0F / degree);
    }
};

/// Places in the caller's order of the edges at e, e + team, ... of the format; -1 from `end` on.
template <typename T>
__device__ __forceinline__ void load_ids(const Arrays<T>& a, std::uint32_t e, const kernels::RowTask& task,
                                         std::int32_t (&ids)[kRun]) {
#pragma unroll
    for (int u = 0; u < kRun; ++u) {
        const std::uint32_t at = e + static_cast<std::uint32_t>(u * task.team);
        ids[u] = -1;
        if (at < task.end) ids[u] = a.edge_id ? __ldg(a.edge_id + at) : static_cast<std::int32_t>(at);
    }
}

template <typename T>
__device__ __forceinline__ void load_weights(const Arrays<T>& a, const std::int32_t (&ids)[kRun], float (&w)[kRun]) {
#pragma unroll
    for (int u = 0; u < kRun; ++u) w[u] = ids[u] >= 0 ? kernels::load_value(a.edge_weight + ids[u]) : 0.0F;
}

/// Sum over a team, valid in its first thread. All threads of the block call, once in a kernel, with the same team.
__device__ __forceinline__ double team_sum(double value, int team) {
    __shared__ double of_warp[kThreads / 32];
    for (int offset = min(team, 32) / 2; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffffU, value, offset);
    }
    if (team <= 32) return value;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (threadIdx.x % 32 == 0) of_warp[warp] = value;
    __syncthreads();
    if ((threadIdx.x & static_cast<unsigned>(team - 1)) != 0) return 0.0;
    for (int other = 1; other < team / 32; ++other) value += of_warp[warp + other];
    return value;
}

/// Weighted.
template <typename T>
__global__ void __launch_bounds__(kThreads) sum_degrees_kernel(const __grid_constant__ Arrays<T> a) {
    const kernels::RowTask task = kernels::row_task(a.rows);
    const auto member = threadIdx.x & static_cast<unsigned>(task.team - 1);
    double sum = 0.0;
    for (std::uint32_t e = task.begin + member; e < task.end; e += static_cast<std::uint32_t>(kRun * task.team)) {
        std::int32_t ids[kRun];
        float w[kRun];
        load_ids(a, e, task, ids);
        load_weights(a, ids, w);
#pragma unroll
        for (int u = 0; u < kRun; ++u) sum += w[u];
    }
    sum = team_sum(sum, task.team);
    if (task.row < 0 || member != 0) return;
    if (task.slot >= 0) {
        a.partial[task.slot] = sum;
    } else {
        a.store(task.row, static_cast<float>(1.0 + sum));
    }
}

/// Block b -> split row b, thread -> every kThreads-th piece of it.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    merge_degrees_kernel(const __grid_constant__ Arrays<T> a, const kernels::SplitRow* __restrict__ split) {
    const kernels::SplitRow r = split[blockIdx.x];
    double sum = 0.0;
    for (auto s = static_cast<std::int32_t>(threadIdx.x); s < r.count; s += kThreads) {
        sum += a.partial[r.first_slot + s];
    }
    sum = team_sum(sum, kThreads);
    if (threadIdx.x == 0) a.store(r.row, static_cast<float>(1.0 + sum));
}

/// Unweighted: a thread per row.
template <typename T>
__global__ void __launch_bounds__(kThreads) count_degrees_kernel(const __grid_constant__ Arrays<T> a) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (row < a.n) a.store(static_cast<std::int32_t>(row), a.degree(static_cast<std::int32_t>(row)));
}

/// STORED: degrees come from inverse_root.
template <typename T, bool WEIGHTED, bool STORED>
__global__ void __launch_bounds__(kThreads) weights_kernel(const __grid_constant__ Arrays<T> a) {
    const kernels::RowTask task = kernels::row_task(a.rows);
    if (task.row < 0) return;
    const auto member = threadIdx.x & static_cast<unsigned>(task.team - 1);
    float own = 0.0F;
    if constexpr (STORED) {
        own = __ldg(a.inverse_root + task.row);
    } else {
        const float degree = a.degree(task.row);
        own = rsqrtf(degree);
        const auto first = static_cast<std::uint32_t>(__ldg(a.rows.row_ptr + task.row));
        if (member == 0 && task.begin == first) {  // once, whatever the pieces
            a.y_self[task.row] = kernels::narrowed<T>(1.0F / degree);
        }
    }
    for (std::uint32_t e = task.begin + member; e < task.end; e += static_cast<std::uint32_t>(kRun * task.team)) {
        std::int32_t cols[kRun];
        std::int32_t ids[kRun];
        float w[kRun];
        float factor[kRun];
#pragma unroll
        for (int u = 0; u < kRun; ++u) {
            const std::uint32_t at = e + static_cast<std::uint32_t>(u * task.team);
            cols[u] = at < task.end ? __ldg(a.col_idx + at) : -1;
        }
        load_ids(a, e, task, ids);
        if constexpr (WEIGHTED) load_weights(a, ids, w);
#pragma unroll
        for (int u = 0; u < kRun; ++u) {
            factor[u] = 0.0F;
            if (cols[u] < 0) continue;
            if constexpr (STORED) {
                factor[u] = __ldg(a.inverse_root + cols[u]);
            } else {
                factor[u] = rsqrtf(a.degree(cols[u]));
            }
        }
#pragma unroll
        for (int u = 0; u < kRun; ++u) {
            if (ids[u] >= 0) a.y[ids[u]] = kernels::narrowed<T>((WEIGHTED ? w[u] : 1.0F) * own * factor[u]);
        }
    }
}

}  // namespace gnntune::gcn_norm_binned

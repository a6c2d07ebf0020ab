// spmm.max_binned: y[i, f] = max over edges e of row i of w_e x[col_e, f], argmax[i, f] the edge that it is of
// (kernels/common/largest.hpp says which wins); 0 and -1 for a row without edges.
//
// Layout   row_ptr [n_rows + 1], col_idx [m], edge_id [m] or null, edge_weight [m] or null (caller's order),
//          x [n_cols, k], y and argmax [n_rows, k], row-major, device memory, aligned to VEC elements (argmax to at
//          most 4). x, edge_weight and y are of type T: f32, f16 or bf16; products are fp32, argmax int32 in the
//          caller's order.
// Work     One launch. The first blocks of grid.x have a piece of a very long row each; those behind them belong to
//          bins of rows of like degree (kernels/common/binned_rows.hpp); a team of 2^shift threads owns a row.
//          Team -> groups of `lanes` threads, group -> every n-th run of kRun edges, lane -> a vector of VEC features.
//          grid.y walks the feature tiles.
// Data     kRun independent gathers per lane, ids and weights four at a time where several groups share a row. A lane
//          keeps the largest product of each feature and, with ARGMAX, its edge; without, no edge ids are read.
// Shared   a tile of features per warp, products and then edges, for teams of several warps.
// Atomics  none. The order of kernels/common/largest.hpp is total: the winner does not depend on who meets whom first.
// Needs    lanes a power of two up to 32; grid.y <= 65535.
#pragma once

#include "kernels/common/binned_rows.cuh"
#include "kernels/common/gather_sums.cuh"
#include "kernels/common/largest.hpp"

namespace gnntune::spmm_max_binned {

using kernels::Vec;

inline constexpr int kRun = 8;  ///< edges whose gathers a lane has under way

template <typename T>
struct Arguments {
    kernels::BinnedRowsView rows;
    kernels::WeightedEdges<T> edges;
    const T* x;
    T* y;
    std::int32_t* argmax;
    float* partial;               ///< [slots, k] largest products of pieces
    std::int32_t* partial_edges;  ///< [slots, k]
    std::int32_t k;
    int lanes;
};

/// The largest products of VEC features, and their edges if anybody asks.
template <int VEC, bool ARGMAX>
struct Largest {
    Vec<VEC> value;
    std::int32_t edge[ARGMAX ? VEC : 1];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int j = 0; j < VEC; ++j) {
            value.v[j] = kernels::kNoProduct;
            if constexpr (ARGMAX) edge[j] = kernels::kNoEdge;
        }
    }
    __device__ __forceinline__ void meet(int j, float product, std::int32_t of) {
        if constexpr (ARGMAX) {
            const bool better = kernels::replaces(product, of, value.v[j], edge[j]);
            value.v[j] = better ? product : value.v[j];
            edge[j] = better ? of : edge[j];
        } else {
            value.v[j] = kernels::replaces(product, value.v[j]) ? product : value.v[j];
        }
    }
    /// Meets what the lane `offset` away has; all lanes of the warp call.
    __device__ __forceinline__ void meet_lane(int offset) {
#pragma unroll
        for (int j = 0; j < VEC; ++j) {
            const float other = __shfl_xor_sync(0xffffffffU, value.v[j], offset);
            std::int32_t other_edge = 0;
            if constexpr (ARGMAX) other_edge = __shfl_xor_sync(0xffffffffU, edge[j], offset);
            meet(j, other, other_edge);
        }
    }
};

/// Store of VEC edges, four at a time.
template <int VEC>
__device__ __forceinline__ void store_edges(std::int32_t* p, const std::int32_t (&edges)[VEC]) {
    constexpr int kAtOnce = VEC < 4 ? VEC : 4;
    using Word = typename kernels::WordOf<4 * kAtOnce>::type;
#pragma unroll
    for (int j = 0; j < VEC; j += kAtOnce) {
        kernels::Pack<std::int32_t, kAtOnce> pack;
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) pack.v[i] = edges[j + i];
        __stcs(reinterpret_cast<Word*>(p + j), reinterpret_cast<const Word&>(pack));
    }
}

/// What this group's share of the task's edges has.
template <typename T, int VEC, bool WEIGHTED, bool ARGMAX>
__device__ __forceinline__ Largest<VEC, ARGMAX> walk_edges(const Arguments<T>& a, const kernels::RowTask& task,
                                                           int group, int groups, int f) {
    Largest<VEC, ARGMAX> largest;
    largest.clear();
    const kernels::LaneVectors<1, T> x(a.x, a.k, f, 0);
    const kernels::TeamWalk<kRun> walk(task.begin, task.end, group, groups, a.edges.m, a.edges.ids_aligned);
    for (std::uint32_t e = walk.start; e < task.end; e += walk.stride) {
        const auto run = walk.run(e);
        std::int32_t cols[kRun];
        std::int32_t ids[kRun];
        float w[kRun];
        kernels::Pack<T, VEC> value[kRun][1];
        kernels::load_run(a.edges.col_idx, run, cols);
        if constexpr (WEIGHTED) {
            kernels::load_weights(a.edges, run, ids, w);
        } else if constexpr (ARGMAX) {
            kernels::load_ids(a.edges, run, ids);
        }
        kernels::gather(run, x, cols, value);
#pragma unroll
        for (int u = 0; u < kRun; ++u) {
            if (!run.has(u)) continue;  // nothing is no zero
#pragma unroll
            for (int j = 0; j < VEC; ++j) {
                const float element = kernels::widened(value[u][0].v[j]);
                largest.meet(j, WEIGHTED ? __fmul_rn(w[u], element) : element, ARGMAX ? ids[u] : 0);
            }
        }
    }
    return largest;
}

template <typename T, int VEC, bool WEIGHTED, bool ARGMAX>
__global__ void __launch_bounds__(kernels::kMaxBinThreads) max_kernel(const __grid_constant__ Arguments<T> a) {
    extern __shared__ float shared[];  // [warps][VEC][lanes] products, then as many edges
    const kernels::RowTask task = kernels::row_task(a.rows);
    const int lane = static_cast<int>(threadIdx.x) & (a.lanes - 1);
    const int lanes_shift = 31 - __clz(a.lanes);
    const int group = (static_cast<int>(threadIdx.x) & (task.team - 1)) >> lanes_shift;
    const int f = (static_cast<int>(blockIdx.y) * a.lanes + lane) * VEC;
    Largest<VEC, ARGMAX> largest = walk_edges<T, VEC, WEIGHTED, ARGMAX>(a, task, group, task.team >> lanes_shift, f);

    for (int offset = a.lanes; offset < min(task.team, 32); offset *= 2) largest.meet_lane(offset);
    if (task.team > 32) {  // the same for all threads of a block
        const int warp = static_cast<int>(threadIdx.x) / 32;
        const int warps = static_cast<int>(blockDim.x) / 32;
        auto* edges = reinterpret_cast<std::int32_t*>(shared + warps * VEC * a.lanes);
        if (threadIdx.x % 32 < a.lanes) {
#pragma unroll
            for (int j = 0; j < VEC; ++j) {
                const int at = (warp * VEC + j) * a.lanes + lane;
                shared[at] = largest.value.v[j];
                if constexpr (ARGMAX) edges[at] = largest.edge[j];
            }
        }
        __syncthreads();
        if (group != 0) return;
        for (int other = 1; other < task.team / 32; ++other) {
#pragma unroll
            for (int j = 0; j < VEC; ++j) {
                const int at = ((warp + other) * VEC + j) * a.lanes + lane;
                largest.meet(j, shared[at], ARGMAX ? edges[at] : 0);
            }
        }
    }
    if (task.row < 0 || group != 0 || f >= a.k) return;
    if (task.slot >= 0) {
        const std::int64_t at = static_cast<std::int64_t>(task.slot) * a.k + f;
#pragma unroll
        for (int j = 0; j < VEC; ++j) {
            a.partial[at + j] = largest.value.v[j];
            if constexpr (ARGMAX) a.partial_edges[at + j] = largest.edge[j];
        }
        return;
    }
    if (task.begin == task.end) {
        kernels::zero(largest.value);
        if constexpr (ARGMAX) {
#pragma unroll
            for (int j = 0; j < VEC; ++j) largest.edge[j] = -1;
        }
    }
    const std::int64_t at = static_cast<std::int64_t>(task.row) * a.k + f;
    kernels::store_streaming(a.y + at, largest.value);
    if constexpr (ARGMAX) store_edges<VEC>(a.argmax + at, largest.edge);
}

inline constexpr int kMergeThreads = 128;

/// The pieces of split rows. Block b -> split row b, a tile of blockDim.x features each pass: every blockDim.y-th piece
/// by one line of threads, the lines one after the other.
template <typename T, bool ARGMAX>
__global__ void __launch_bounds__(kMergeThreads)
    merge_kernel(const __grid_constant__ Arguments<T> a, const kernels::SplitRow* __restrict__ split) {
    __shared__ float products[kMergeThreads];
    __shared__ std::int32_t edges[kMergeThreads];
    const kernels::SplitRow r = split[blockIdx.x];
    const int at = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
    for (std::int64_t base = 0; base < a.k; base += blockDim.x) {
        const std::int64_t f = base + threadIdx.x;
        Largest<1, ARGMAX> largest;
        largest.clear();
        for (auto s = static_cast<int>(threadIdx.y); f < a.k && s < r.count; s += static_cast<int>(blockDim.y)) {
            const std::int64_t from = static_cast<std::int64_t>(r.first_slot + s) * a.k + f;
            largest.meet(0, a.partial[from], ARGMAX ? a.partial_edges[from] : 0);
        }
        products[at] = largest.value.v[0];
        if constexpr (ARGMAX) edges[at] = largest.edge[0];
        __syncthreads();
        if (threadIdx.y == 0 && f < a.k) {
            for (unsigned line = 1; line < blockDim.y; ++line) {
                const unsigned other = line * blockDim.x + threadIdx.x;
                largest.meet(0, products[other], ARGMAX ? edges[other] : 0);
            }
            const std::int64_t to = static_cast<std::int64_t>(r.row) * a.k + f;
            a.y[to] = kernels::narrowed<T>(largest.value.v[0]);
            if constexpr (ARGMAX) a.argmax[to] = largest.edge[0];
        }
        __syncthreads();
    }
}

}  // namespace gnntune::spmm_max_binned

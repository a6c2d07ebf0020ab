// spmm.max_binned: y[i, f] = max over edges e of row i of w_e x[col_e, f], argmax[i, f] the edge that it is of
// (kernels/spmm/common/largest.hpp says which wins); 0 and -1 for a row without edges.
//
// Layout   row_ptr [n_rows + 1], col_idx [m], edge_id [m] or null, edge_weight [m] or null (caller's order),
//          x [n_cols, k], y and argmax [n_rows, k], row-major, device memory, aligned to VEC elements (argmax to at
//          most 4). x, edge_weight and y are of type T: f32, f16 or bf16; products are fp32, argmax int32 in the
//          caller's order.
// Work     One launch. The first blocks of grid.x have a piece of a very long row each; those behind them belong to
//          bins of rows of like degree (kernels/common/binned_rows.hpp); a team of 2^shift threads owns a row.
//          Team -> groups of `lanes` threads, group -> every n-th run of 8 / ITEMS edges, lane -> ITEMS vectors of VEC
//          features, every lanes-th of the tile. grid.y walks the feature tiles.
// Data     8 independent gathers per lane, ids and weights four at a time where several groups share a row. A lane
//          keeps the largest product of each feature and, with ARGMAX, the place of its edge among the graph's: a
//          product, a comparison and two selections for each. Edge ids are read for weights in another order,
//          and for the winners when a row is stored.
// Shared   a tile of features per warp, products and then places, for teams of several warps.
// Atomics  none. Largest first, of equals the first place, is a total order: the winner does not depend on who meets
//          whom first.
// Needs    ids that ascend inside a row (core/graph/formats.hpp); lanes a power of two up to 32; grid.y <= 65535.
#pragma once

#include <limits>

#include "kernels/common/binned_rows.cuh"
#include "kernels/common/gather_sums.cuh"
#include "kernels/common/head_groups.cuh"
#include "kernels/spmm/common/largest.hpp"

namespace gnntune::spmm_max_binned {

using kernels::Vec;

/// Edges that a lane of so many vectors takes in at once.
constexpr int run_edges(int items) {
    return 8 / items;
}

/// Registers of a thread: what 8 gathers, the products and their places take, without spills in the loop.
constexpr int max_registers(int vec, int items) {
    return items == 1 ? 64 : vec == 8 ? 96 : 80;
}

template <typename T>
struct Arguments {
    kernels::BinnedRowsView rows;
    kernels::WeightedEdges<T> edges;
    const T* x;
    T* y;
    std::int32_t* argmax;
    float* partial;                ///< [slots, k] largest products of pieces
    std::int32_t* partial_places;  ///< [slots, k]
    std::int32_t k;
    int lanes;

    /// What the caller names the edge at that place.
    __device__ __forceinline__ std::int32_t edge(std::int32_t place) const {
        return edges.edge_id ? __ldg(edges.edge_id + place) : place;
    }
};

/// The larger of two numbers, a NaN if one is: one instruction. +0 is larger than -0.
__device__ __forceinline__ float larger(float a, float b) {
#if __CUDA_ARCH__ >= 800
    float c;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
    return c;
#else
    return a != a ? a : b != b ? b : fmaxf(a, b);
#endif
}

/// The largest products of VEC features, and if anybody asks where in the row's order their edges stand. Those of a row
/// ascend in the caller's order too, so that of equals the first place wins.
template <int VEC, bool ARGMAX>
struct Largest {
    Vec<VEC> value;
    std::int32_t place[ARGMAX ? VEC : 1];

    /// Of nothing yet; `first` is where the edges begin that are to be walked, which has the maximum if no product is
    /// above -infinity, or kNoEdge.
    __device__ __forceinline__ void clear(std::int32_t first) {
#pragma unroll
        for (int j = 0; j < VEC; ++j) {
            value.v[j] = kernels::kNoProduct;
            if constexpr (ARGMAX) place[j] = first;
        }
    }
    /// Meets a product behind all that have been met. A NaN stays, without a place.
    __device__ __forceinline__ void append(int j, float product, std::int32_t at) {
        if constexpr (ARGMAX) {
            if (product > value.v[j]) place[j] = at;
        }
        value.v[j] = larger(value.v[j], product);
    }
    /// With ARGMAX, from here to reveal_nan() a NaN is an infinity at a place below zero, where the first of several is
    /// the lowest: products and places alone decide.
    __device__ __forceinline__ void hide_nan(int j, std::int32_t at) {
        value.v[j] = -kernels::kNoProduct;
        place[j] = at | kNanPlace;
    }
    __device__ __forceinline__ void reveal_nan(int j) {
        if constexpr (ARGMAX) {
            if (place[j] < 0) value.v[j] = __int_as_float(0x7fffffff);
            place[j] &= ~kNanPlace;
        }
    }
    /// Meets what somebody else has found, in any order.
    __device__ __forceinline__ void meet(int j, float other, std::int32_t at) {
        if constexpr (ARGMAX) {
            if ((other > value.v[j]) | ((other == value.v[j]) & (at < place[j]))) place[j] = at;
        }
        value.v[j] = larger(value.v[j], other);
    }
    /// Meets what the lane `offset` away has; all lanes of the warp call.
    __device__ __forceinline__ void meet_lane(int offset) {
#pragma unroll
        for (int j = 0; j < VEC; ++j) {
            const float other = __shfl_xor_sync(0xffffffffU, value.v[j], offset);
            std::int32_t at = 0;
            if constexpr (ARGMAX) at = __shfl_xor_sync(0xffffffffU, place[j], offset);
            meet(j, other, at);
        }
    }

private:
    static constexpr std::int32_t kNanPlace = std::numeric_limits<std::int32_t>::min();
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

/// Looks for the places of those NaNs that a walk has met in one of a lane's vectors: the first of each feature.
template <bool WEIGHTED, int VEC, int RUN, int ITEMS, typename T>
__device__ __forceinline__ void find_nans(const kernels::WeightedEdges<T>& g, const kernels::TeamWalk<RUN>& walk,
                                          const kernels::LaneVectors<ITEMS, T>& x, int item,
                                          Largest<VEC, true>& largest) {
    unsigned wanted = 0;
#pragma unroll
    for (int j = 0; j < VEC; ++j) wanted |= (largest.value.v[j] != largest.value.v[j] ? 1U : 0U) << j;
#pragma unroll 1
    for (std::uint32_t e = walk.start; wanted != 0 && e < walk.end; e += walk.stride) {
        const std::uint32_t end = min(e + RUN, walk.end);
#pragma unroll 1
        for (std::uint32_t at = max(e, walk.begin); wanted != 0 && at < end; ++at) {
            float w = 1.0F;
            if constexpr (WEIGHTED) w = kernels::load_value(g.edge_weight + (g.edge_id ? __ldg(g.edge_id + at) : at));
            const auto value = kernels::load_pack<VEC>(x.at(item, __ldg(g.col_idx + at)));
#pragma unroll
            for (int j = 0; j < VEC; ++j) {
                const float product = w * kernels::widened(value.v[j]);
                if ((wanted >> j & 1U) == 0 || product == product) continue;
                largest.hide_nan(j, static_cast<std::int32_t>(at));
                wanted &= ~(1U << j);
            }
        }
    }
}

/// What this group's share of the task's edges has.
template <bool WEIGHTED, typename T, int VEC, int ITEMS, bool ARGMAX>
__device__ __forceinline__ void walk_edges(const Arguments<T>& a, const kernels::RowTask& task, int group, int groups,
                                           int f, Largest<VEC, ARGMAX> (&largest)[ITEMS]) {
    constexpr int kRun = run_edges(ITEMS);
    const kernels::LaneVectors<ITEMS, T> x(a.x, a.k, f, a.lanes * VEC);
    const kernels::TeamWalk<kRun> walk(task.begin, task.end, group, groups, a.edges.m, a.edges.ids_aligned);
    const std::uint32_t first = max(walk.start, walk.begin);
#pragma unroll
    for (auto& item : largest) item.clear(first < walk.end ? static_cast<std::int32_t>(first) : kernels::kNoEdge);
    for (std::uint32_t e = walk.start; e < task.end; e += walk.stride) {
        const auto run = walk.run(e);
        std::int32_t cols[kRun];
        float w[kRun];
        kernels::Pack<T, VEC> value[kRun][ITEMS];
        kernels::load_run(a.edges.col_idx, run, cols);
        if constexpr (WEIGHTED) {
            std::int32_t ids[kRun];
            kernels::load_weights(a.edges, run, ids, w);
        }
        kernels::gather(run, x, cols, value);
#pragma unroll
        for (int u = 0; u < kRun; ++u) {
            // A branch for each edge, which the lanes of a warp mostly take together: many rows have fewer edges than a
            // run, and what an edge costs here is more than a branch.
            if (!run.has(u)) continue;
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
                for (int j = 0; j < VEC; ++j) {
                    const float x_j = kernels::widened(value[u][i].v[j]);
                    largest[i].append(j, WEIGHTED ? w[u] * x_j : x_j,
                                      static_cast<std::int32_t>(run.first + static_cast<std::uint32_t>(u)));
                }
            }
        }
    }
    if constexpr (ARGMAX) {
        bool nan = false;
#pragma unroll
        for (const auto& item : largest) {
#pragma unroll
            for (int j = 0; j < VEC; ++j) nan |= item.value.v[j] != item.value.v[j];
        }
        if (!nan) return;
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) find_nans<WEIGHTED>(a.edges, walk, x, i, largest[i]);
    }
}

template <typename T, int VEC, int ITEMS, bool WEIGHTED, bool ARGMAX>
__global__ void GNNTUNE_BIN_BOUNDS((max_registers(VEC, ITEMS))) max_kernel(const __grid_constant__ Arguments<T> a) {
    extern __shared__ float shared[];  // [warps][ITEMS VEC][lanes] products, then as many places
    const kernels::RowTask task = kernels::row_task(a.rows);
    const int lane = static_cast<int>(threadIdx.x) & (a.lanes - 1);
    const int lanes_shift = 31 - __clz(a.lanes);
    const int group = (static_cast<int>(threadIdx.x) & (task.team - 1)) >> lanes_shift;
    const int f0 = (static_cast<int>(blockIdx.y) * a.lanes * ITEMS + lane) * VEC;
    Largest<VEC, ARGMAX> largest[ITEMS];
    walk_edges<WEIGHTED>(a, task, group, task.team >> lanes_shift, f0, largest);

    for (int offset = a.lanes; offset < min(task.team, 32); offset *= 2) {
#pragma unroll
        for (auto& item : largest) item.meet_lane(offset);
    }
    if (task.team > 32) {  // the same for all threads of a block
        const int warp = static_cast<int>(threadIdx.x) / 32;
        const int warps = static_cast<int>(blockDim.x) / 32;
        auto* places = reinterpret_cast<std::int32_t*>(shared + warps * ITEMS * VEC * a.lanes);
        if (threadIdx.x % 32 < a.lanes) {
#pragma unroll
            for (int c = 0; c < ITEMS * VEC; ++c) {
                const int at = (warp * ITEMS * VEC + c) * a.lanes + lane;
                shared[at] = largest[c / VEC].value.v[c % VEC];
                if constexpr (ARGMAX) places[at] = largest[c / VEC].place[c % VEC];
            }
        }
        __syncthreads();
        if (group != 0) return;
        for (int other = 1; other < task.team / 32; ++other) {
#pragma unroll
            for (int c = 0; c < ITEMS * VEC; ++c) {
                const int at = ((warp + other) * ITEMS * VEC + c) * a.lanes + lane;
                largest[c / VEC].meet(c % VEC, shared[at], ARGMAX ? places[at] : 0);
            }
        }
    }
    if (task.row < 0 || group != 0) return;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const int f = f0 + i * a.lanes * VEC;
        if (f >= a.k) continue;
        if (task.slot >= 0) {
            const std::int64_t at = static_cast<std::int64_t>(task.slot) * a.k + f;
#pragma unroll
            for (int j = 0; j < VEC; ++j) {
                a.partial[at + j] = largest[i].value.v[j];
                if constexpr (ARGMAX) a.partial_places[at + j] = largest[i].place[j];
            }
            continue;
        }
        std::int32_t edges[VEC];
#pragma unroll
        for (int j = 0; j < VEC; ++j) {
            largest[i].reveal_nan(j);
            if constexpr (ARGMAX) edges[j] = task.begin == task.end ? -1 : a.edge(largest[i].place[j]);
            if (task.begin == task.end) largest[i].value.v[j] = 0.0F;
        }
        const std::int64_t at = static_cast<std::int64_t>(task.row) * a.k + f;
        kernels::store_streaming(a.y + at, largest[i].value);
        if constexpr (ARGMAX) store_edges<VEC>(a.argmax + at, edges);
    }
}

inline constexpr int kMergeThreads = 128;

/// The pieces of split rows. Block b -> split row b, a tile of blockDim.x features each pass: every blockDim.y-th piece
/// by one line of threads, the lines one after the other.
template <typename T, bool ARGMAX>
__global__ void __launch_bounds__(kMergeThreads)
    merge_kernel(const __grid_constant__ Arguments<T> a, const kernels::SplitRow* __restrict__ split) {
    __shared__ float products[kMergeThreads];
    __shared__ std::int32_t places[kMergeThreads];
    const kernels::SplitRow r = split[blockIdx.x];
    const int at = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
    for (std::int64_t base = 0; base < a.k; base += blockDim.x) {
        const std::int64_t f = base + threadIdx.x;
        Largest<1, ARGMAX> largest;
        largest.clear(kernels::kNoEdge);
        for (auto s = static_cast<int>(threadIdx.y); f < a.k && s < r.count; s += static_cast<int>(blockDim.y)) {
            const std::int64_t from = static_cast<std::int64_t>(r.first_slot + s) * a.k + f;
            largest.meet(0, a.partial[from], ARGMAX ? a.partial_places[from] : 0);
        }
        products[at] = largest.value.v[0];
        if constexpr (ARGMAX) places[at] = largest.place[0];
        __syncthreads();
        if (threadIdx.y == 0 && f < a.k) {
            for (unsigned line = 1; line < blockDim.y; ++line) {
                const unsigned other = line * blockDim.x + threadIdx.x;
                largest.meet(0, products[other], ARGMAX ? places[other] : 0);
            }
            largest.reveal_nan(0);
            const std::int64_t to = static_cast<std::int64_t>(r.row) * a.k + f;
            a.y[to] = kernels::narrowed<T>(largest.value.v[0]);
            if constexpr (ARGMAX) a.argmax[to] = a.edge(largest.place[0]);
        }
        __syncthreads();
    }
}

}  // namespace gnntune::spmm_max_binned

// Edges of a row, their weights and the rows of x that they ask for, a run at a time with all of its gathers in flight:
// what the gathering kernels of spmm and gat share, and the sum over them.
#pragma once

#include "kernels/common/edge_runs.cuh"

namespace gnntune::kernels {

/// A graph's edges in the order of its rows; device memory.
template <typename T>
struct WeightedEdges {
    const std::int32_t* col_idx;  ///< [m]
    const std::int32_t* edge_id;  ///< [m] place of an edge in the caller's order, or null: the same
    const T* edge_weight;         ///< [m] in the caller's order, or null
    std::int64_t m;
    bool ids_aligned;      ///< col_idx and edge_id to four elements
    bool weights_aligned;  ///< edge_weight likewise
};

template <typename T, typename Format>
WeightedEdges<T> edges_of(const Format& g, const T* edge_weight) {
    return {g.col_idx,
            g.edge_id,
            edge_weight,
            g.m,
            aligned_to_four(g.col_idx) && aligned_to_four(g.edge_id),
            aligned_to_four(edge_weight)};
}

/// Where this lane's ITEMS vectors of row 0 of x begin, `step` features apart. Lanes beyond k gather the row's
/// first vector, and store nothing: no test of k where rows are gathered.
template <int ITEMS, typename T>
struct LaneVectors {
    const T* x[ITEMS];
    std::uint32_t row_bytes;

    __device__ __forceinline__ LaneVectors(const T* base, std::int32_t k, int f0, int step)
        : row_bytes(static_cast<std::uint32_t>(k) * static_cast<std::uint32_t>(sizeof(T))) {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            x[i] = base + (f0 + i * step < k ? f0 + i * step : 0);
            asm volatile("" : "+l"(x[i]));  // else it is worked out again for every gather
        }
    }
    __device__ __forceinline__ const T* at(int item, std::int32_t row) const {
        return row_of(x[item], row, row_bytes);
    }
};

/// Weights [m, heads] of edges as a lane with ITEMS vectors needs them, each of which lies in one head: of that head.
template <int ITEMS>
struct LaneHeads {
    std::int32_t head[ITEMS];
    std::int32_t heads;

    /// Of a row of `width` features, `k` a head, in which the vectors begin at f0 and then every `step` features. Those
    /// beyond the row have the head of its first, as with LaneVectors.
    __device__ __forceinline__ LaneHeads(std::int32_t heads, std::int32_t k, std::int32_t width, int f0, int step)
        : heads(heads) {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) head[i] = f0 + i * step < width ? (f0 + i * step) / k : 0;
    }
    /// Of vertex or edge `at` in a list of theirs.
    template <typename T>
    __device__ __forceinline__ float weight(const T* list, int item, std::int32_t at) const {
        return load_value(
            row_of(list + head[item], at, static_cast<std::uint32_t>(heads) * static_cast<std::uint32_t>(sizeof(T))));
    }
};

/// Places of a run's edges in the caller's order; of edges that do not belong anything.
template <int RUN, typename T>
__device__ __forceinline__ void load_ids(const WeightedEdges<T>& g, const EdgeRun<RUN>& run, std::int32_t (&ids)[RUN]) {
    if (g.edge_id) {
        load_run(g.edge_id, run, ids);
    } else {
#pragma unroll
        for (int u = 0; u < RUN; ++u) ids[u] = static_cast<std::int32_t>(run.first + static_cast<std::uint32_t>(u));
    }
}

/// load_ids(), and the weights of these edges; of edges that do not belong anything, infinite or not.
template <int RUN, typename T>
__device__ __forceinline__ void load_weights(const WeightedEdges<T>& g, const EdgeRun<RUN>& run,
                                             std::int32_t (&ids)[RUN], float (&w)[RUN]) {
    if (g.edge_id) {
        load_run(g.edge_id, run, ids);
#pragma unroll
        for (int u = 0; u < RUN; ++u) {
            w[u] = 0.0F;
            if (run.has(u)) w[u] = load_value(g.edge_weight + ids[u]);
        }
    } else {
        T stored[RUN];
        load_run(g.edge_weight, run, stored, g.weights_aligned);
#pragma unroll
        for (int u = 0; u < RUN; ++u) {
            ids[u] = static_cast<std::int32_t>(run.first + static_cast<std::uint32_t>(u));
            w[u] = widened(stored[u]);
        }
    }
}

/// This lane's vectors of the rows `cols` of x, RUN * ITEMS loads in flight; zeros for edges that do not belong.
template <int RUN, int VEC, int ITEMS, typename T>
__device__ __forceinline__ void gather(const EdgeRun<RUN>& run, const LaneVectors<ITEMS, T>& x,
                                       const std::int32_t (&cols)[RUN], Pack<T, VEC> (&value)[RUN][ITEMS]) {
#pragma unroll
    for (int u = 0; u < RUN; ++u) {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            zero(value[u][i]);
            if (run.has(u)) value[u][i] = load_pack<VEC>(x.at(i, cols[u]));
        }
    }
}

/// Adds to `acc` what the runs of `walk` have, by weights for each head.
template <int RUN, int VEC, int ITEMS, typename T>
__device__ __forceinline__ void gather_head_sums(const WeightedEdges<T>& g, const TeamWalk<RUN>& walk,
                                                 const LaneVectors<ITEMS, T>& x, const LaneHeads<ITEMS>& heads,
                                                 Vec<VEC> (&acc)[ITEMS]) {
    for (std::uint32_t e = walk.start; e < walk.end; e += walk.stride) {
        const EdgeRun<RUN> run = walk.run(e);
        std::int32_t cols[RUN];
        std::int32_t ids[RUN];
        float w[RUN][ITEMS];
        Pack<T, VEC> value[RUN][ITEMS];
        load_run(g.col_idx, run, cols);
        load_ids(g, run, ids);
        gather(run, x, cols, value);
#pragma unroll
        for (int u = 0; u < RUN; ++u) {
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
                w[u][i] = 0.0F;
                if (run.has(u)) w[u][i] = heads.weight(g.edge_weight, i, ids[u]);
            }
        }
#pragma unroll
        for (int u = 0; u < RUN; ++u) {
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) fma(acc[i], w[u][i], value[u][i]);
        }
    }
}

/// Adds to `acc` what the runs of `walk` have.
template <bool WEIGHTED, int RUN, int VEC, int ITEMS, typename T>
__device__ __forceinline__ void gather_sums(const WeightedEdges<T>& g, const TeamWalk<RUN>& walk,
                                            const LaneVectors<ITEMS, T>& x, Vec<VEC> (&acc)[ITEMS]) {
    for (std::uint32_t e = walk.start; e < walk.end; e += walk.stride) {
        const EdgeRun<RUN> run = walk.run(e);
        std::int32_t cols[RUN];
        float w[RUN];
        Pack<T, VEC> value[RUN][ITEMS];
        load_run(g.col_idx, run, cols);
        if constexpr (WEIGHTED) {
            std::int32_t ids[RUN];
            load_weights(g, run, ids, w);
        }
        gather(run, x, cols, value);
#pragma unroll
        for (int u = 0; u < RUN; ++u) {
            // A neighbour's weight, from the same 16 bytes, may be infinite.
            const float weight = !WEIGHTED ? 1.0F : run.has(u) ? w[u] : 0.0F;
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) fma(acc[i], weight, value[u][i]);
        }
    }
}

}  // namespace gnntune::kernels

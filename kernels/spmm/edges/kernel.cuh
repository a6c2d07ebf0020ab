// spmm.edges: y[i, :] = sum over edges e of row i of w_e x[col_e, :] (+ self_weight[i] x[i, :]), for the mean divided by
//             the number of terms; equal edges per group whatever the degrees.
//
// Layout   row_ptr [n_rows + 1]; row_idx, col_idx [m] sorted by row; edge_id [m] or null; edge_weight [m] or null;
//          self_weight [n_rows] or null; x [n_cols, k], y [n_rows, k], row-major, device memory, x and y aligned to VEC
//          elements. x, weights and y are of type T: f32, f16 or bf16. sums [n_rows, k], fp32: y itself for f32, else
//          workspace.
// Work     grid.x walks chunks of edges, grid.y the feature tiles (slow); block -> groups of `lanes` threads,
//          group -> `chunk` consecutive edges, lane -> ITEMS vectors of VEC features.
// Data     Ids and weights of UNROLL edges come with 16-byte loads (chunks start at multiples of 32 edges), then
//          UNROLL * ITEMS independent gathers per lane. A row's sum stays in registers until the row ends.
//          A row that lies inside one chunk is stored; one that crosses chunks is added with vector reductions, each
//          part by the mean's factor already. start_kernel puts the self loops' terms, or zeros, into exactly those
//          rows, and the empty ones, beforehand. In 16 bits round_kernel stores them afterwards, rounded once.
// Atomics  at most two rows per chunk. A row over three or more chunks is added in no fixed order: not deterministic.
// Needs    chunk a multiple of 32 and of UNROLL; lanes a power of two up to 32; grid.y <= 65535.
#pragma once

#include <type_traits>

#include "kernels/common/self_term.cuh"

namespace gnntune::spmm_edges {

using kernels::Vec;

/// A row needs a start if no chunk stores it whole: it is empty or lies in more than one chunk.
__device__ __forceinline__ bool needs_start(std::int32_t begin, std::int32_t end, std::int32_t chunk) {
    return begin == end || begin / chunk != (end - 1) / chunk;
}

/// What the terms of a row are: which of x, and which share of them the result has.
template <typename T>
struct Terms {
    kernels::SelfTerm<T> self;
    const std::int32_t* row_ptr;
    bool mean;

    __device__ __forceinline__ float factor(std::int32_t row) const {
        if (!mean) return 1.0F;
        return self.mean_factor(static_cast<std::uint32_t>(__ldg(row_ptr + row + 1) - __ldg(row_ptr + row)));
    }
};

// One thread per VEC features of a row.
template <typename T, int VEC>
__global__ void start_kernel(const Terms<T> terms, const T* __restrict__ x, float* __restrict__ sums,
                             std::int32_t n_rows, std::int32_t k, std::int32_t chunk, int lanes) {
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const std::int64_t row = kernels::group_index(lanes);
    if (row >= n_rows || !needs_start(__ldg(terms.row_ptr + row), __ldg(terms.row_ptr + row + 1), chunk)) return;
    const float factor = terms.factor(static_cast<std::int32_t>(row));
    for (int f = lane * VEC; f < k; f += lanes * VEC) {
        Vec<VEC> start;
        kernels::zero(start);
        terms.self.add(row, x + f, k, start);
        kernels::scale(start, factor);
        // Plain stores: the reductions that follow find these lines in L2.
        float* out = sums + row * k + f;
#pragma unroll
        for (int i = 0; i < VEC; ++i) out[i] = start.v[i];
    }
}

// One thread per VEC features of a row: y of the rows that were added up in `sums`.
template <typename T, int VEC>
__global__ void round_kernel(const std::int32_t* __restrict__ row_ptr, const float* __restrict__ sums,
                             T* __restrict__ y, std::int32_t n_rows, std::int32_t k, std::int32_t chunk, int lanes) {
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const std::int64_t row = kernels::group_index(lanes);
    if (row >= n_rows || !needs_start(__ldg(row_ptr + row), __ldg(row_ptr + row + 1), chunk)) return;
    for (int f = lane * VEC; f < k; f += lanes * VEC) {
        Vec<VEC> sum;
#pragma unroll
        for (int i = 0; i < VEC; ++i) sum.v[i] = sums[row * k + f + i];
        kernels::store_streaming(y + row * k + f, sum);
    }
}

template <bool MORE, typename T, int VEC, int ITEMS>
__device__ __forceinline__ void flush(const Terms<T>& terms, const kernels::LaneVectors<ITEMS, T>& mine,
                                      T* __restrict__ y, float* __restrict__ sums, std::int32_t row, std::int32_t k,
                                      int f0, int step, bool shared_row, Vec<VEC> (&acc)[ITEMS]) {
    const std::int64_t out = static_cast<std::int64_t>(row) * k;
    if constexpr (MORE) {
        if (!shared_row) terms.self.add(row, mine, acc);
        const float factor = terms.factor(row);
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) kernels::scale(acc[i], factor);
    }
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        if (f0 + i * step < k) {
            if (shared_row) {
                if constexpr (std::is_same_v<T, float>) {
                    kernels::reduce_add(y + out + f0 + i * step, acc[i]);
                } else {
                    kernels::reduce_add(sums + out + f0 + i * step, acc[i]);
                }
            } else {
                kernels::store_streaming(y + out + f0 + i * step, acc[i]);
            }
        }
        kernels::zero(acc[i]);
    }
}

// MORE: a row's result is another than the sum over its edges.
template <typename T, int VEC, int ITEMS, int UNROLL, bool WEIGHTED, bool MORE>
__global__ void edges_kernel(const __grid_constant__ kernels::WeightedEdges<T> g, const Terms<T> terms,
                             const std::int32_t* __restrict__ row_idx, const T* __restrict__ x, T* __restrict__ y,
                             float* __restrict__ sums, std::int32_t k, std::int32_t chunk, int lanes) {
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const std::int64_t first = kernels::group_index(lanes) * chunk;
    if (first >= g.m) return;
    const auto edges = static_cast<std::uint32_t>(g.m);
    const auto begin = static_cast<std::uint32_t>(first);
    const std::uint32_t end = min(begin + static_cast<std::uint32_t>(chunk), edges);
    const int step = lanes * VEC;
    const int f0 = static_cast<int>(blockIdx.y) * step * ITEMS + lane * VEC;

    Vec<VEC> acc[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) kernels::zero(acc[i]);
    const kernels::LaneVectors<ITEMS, T> mine(x, k, f0, step);

    std::int32_t row = __ldg(row_idx + begin);
    // Whether another chunk adds to the row that is being summed.
    bool shared_row = begin > 0 && __ldg(row_idx + begin - 1) == row;
    for (std::uint32_t e = begin; e < end; e += UNROLL) {
        const kernels::EdgeRun<UNROLL> run(e, e, end, edges, g.ids_aligned);
        std::int32_t rows[UNROLL];
        std::int32_t cols[UNROLL];
        float w[UNROLL];
        kernels::Pack<T, VEC> value[UNROLL][ITEMS];
        kernels::load_run(g.col_idx, run, cols);
        kernels::load_run(row_idx, run, rows);
        if constexpr (WEIGHTED) {
            std::int32_t ids[UNROLL];
            kernels::load_weights(g, run, ids, w);
        }
        kernels::gather(run, mine, cols, value);
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            if (!run.has(u)) break;
            if (rows[u] != row) {
                flush<MORE>(terms, mine, y, sums, row, k, f0, step, shared_row, acc);
                shared_row = false;
                row = rows[u];
            }
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) kernels::fma(acc[i], WEIGHTED ? w[u] : 1.0F, value[u][i]);
        }
    }
    shared_row = shared_row || (end < edges && __ldg(row_idx + end) == row);
    flush<MORE>(terms, mine, y, sums, row, k, f0, step, shared_row, acc);
}

}  // namespace gnntune::spmm_edges

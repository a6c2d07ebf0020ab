// gcn_norm.rows: d_i = 1 + sum of the weights of row i; y[e] = w_e / sqrt(d_row d_col), y_self[i] = 1 / d_i
//
// Layout   row_ptr [n + 1], col_idx [m], edge_id [m] or null, edge_weight [m] in the caller's order or null; y [m] in the
//          caller's order, y_self [n]; weights and results are of type T: f32, f16 or bf16; inverse_root [n] fp32 in the
//          workspace, or null; device memory.
// Work     degrees  group of `lanes` threads -> one row, lane -> every lanes-th edge, sums by shuffles; rows of more than
//                   kGroupEdges edges are left to the whole block, one after the other. Unweighted, a degree is a
//                   difference of row pointers and a thread's work.
//          weights  every warp takes an equal share of the edges, whatever the degrees (core/graph/edge_walk.cuh), an
//                   edge per lane. Without inverse_root it takes both degrees from row_ptr and writes y_self as well, so
//                   that an unweighted graph needs this kernel alone.
// Data     degrees: row_ptr and the weights once, coalesced in CSR order. weights: row_ptr, col_idx and the weights once,
//          one inverse root (or a pair of row pointers) gathered per edge.
// Sums     in double: a row of many equal weights drifts beyond fp32's tolerance otherwise.
// Shared   a double per warp.  Atomics: none; the order of summation depends on `lanes` only: repeats bit for bit.
#pragma once

#include "core/graph/edge_walk.cuh"
#include "kernels/common/elements.cuh"

namespace gnntune::gcn_norm_rows {

inline constexpr int kThreads = 256;
inline constexpr std::int64_t kGroupEdges = 256;  ///< most edges of a row that a group of lanes sums

template <typename T>
struct Arrays {
    const std::int32_t* row_ptr;
    const std::int32_t* col_idx;
    const std::int32_t* edge_id;
    const T* edge_weight;
    float* inverse_root;
    T* y;
    T* y_self;
    std::int32_t n;
    std::int64_t m;

    __device__ __forceinline__ std::int64_t id(std::int64_t e) const { return edge_id ? __ldg(edge_id + e) : e; }
    __device__ __forceinline__ double degree(std::int64_t row) const {  // of an unweighted graph
        return 1.0 + (__ldg(row_ptr + row + 1) - __ldg(row_ptr + row));
    }
    __device__ __forceinline__ void store(std::int64_t row, double degree) const {
        inverse_root[row] = rsqrtf(static_cast<float>(degree));
        y_self[row] = kernels::narrowed<T>(1.0F / static_cast<float>(degree));
    }
    __device__ __forceinline__ float weight(std::int64_t id) const { return kernels::load_value(edge_weight + id); }
};

/// Unweighted: a thread per row.
template <typename T>
__global__ void count_degrees_kernel(Arrays<T> a) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (row < a.n) a.store(row, a.degree(row));
}

__device__ __forceinline__ double sum_lanes(double value, int lanes) {
    for (int offset = lanes / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffU, value, offset);
    return value;
}

/// Weighted: `lanes` threads per row, a power of two up to 32.
template <typename T>
__global__ void sum_degrees_kernel(Arrays<T> a, int lanes) {
    __shared__ double partial[kThreads / 32];
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread & (lanes - 1);
    const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * (kThreads / lanes);
    const std::int64_t row = first_row + thread / lanes;
    const bool here = row < a.n;  // all threads stay for the shuffles and barriers
    const std::int64_t begin = here ? __ldg(a.row_ptr + row) : 0;
    const std::int64_t end = here ? __ldg(a.row_ptr + row + 1) : 0;
    const bool is_long = end - begin > kGroupEdges;
    double sum = 0.0;
    if (!is_long) {
        for (std::int64_t e = begin + lane; e < end; e += lanes) sum += a.weight(a.id(e));
    }
    sum = sum_lanes(sum, lanes);
    if (here && !is_long && lane == 0) a.store(row, 1.0 + sum);

    if (!__syncthreads_or(is_long)) return;
    const std::int64_t last_row = min(first_row + kThreads / lanes, static_cast<std::int64_t>(a.n));
    for (std::int64_t r = first_row; r < last_row; ++r) {
        const std::int64_t from = __ldg(a.row_ptr + r);
        const std::int64_t to = __ldg(a.row_ptr + r + 1);
        if (to - from <= kGroupEdges) continue;  // the same for the whole block
        double share = 0.0;
        for (std::int64_t e = from + thread; e < to; e += kThreads) share += a.weight(a.id(e));
        share = sum_lanes(share, 32);
        if (thread % 32 == 0) partial[thread / 32] = share;
        __syncthreads();
        if (thread == 0) {
            double degree = 1.0;
            for (const double p : partial) degree += p;
            a.store(r, degree);
        }
        __syncthreads();  // `partial` is written again
    }
}

/// Blocks of edge_walk::kThreadsPerBlock threads, any number of them.
template <typename T>
__global__ void __launch_bounds__(edge_walk::kThreadsPerBlock, 8) weights_kernel(Arrays<T> a) {
    const auto inverse_root = [&](std::int32_t vertex) {
        return a.inverse_root ? __ldg(a.inverse_root + vertex) : rsqrtf(static_cast<float>(a.degree(vertex)));
    };
    if (!a.inverse_root) {
        const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
        for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < a.n; i += step) {
            a.y_self[i] = kernels::narrowed<T>(1.0F / static_cast<float>(a.degree(i)));
        }
    }
    edge_walk::for_each_edge(a.row_ptr, a.col_idx, a.n, 0, a.m,
                             [&](std::int64_t e, std::int32_t row, std::int32_t col) {
                                 const std::int64_t id = a.id(e);
                                 const float w = a.edge_weight ? a.weight(id) : 1.0F;
                                 a.y[id] = kernels::narrowed<T>(w * inverse_root(row) * inverse_root(col));
                             });
}

}  // namespace gnntune::gcn_norm_rows

// What surrounds the product y = A x of a graph as a dense array:
//   scatter_weights   A[cell] = sum of the weights of the cell's edges, before it
//   round_values      operands to nearest TF32, before it
//   finish_rows       what a product with every cell gets wrong or leaves out, after it
//
// Layout   x [n_cols, k], y [n_rows, k] row-major; A [n_rows, stride]; cell, edge_id [m] as in format dense_cells;
//          row_ptr, col_idx, csr_edge_id as in format csr.
// Work     scatter_weights: one thread per edge, the first of a cell adds up its duplicates in order.
//          round_values: one thread per number.
//          finish_rows: group of `lanes` threads -> one row; lane -> every lanes-th vector of VEC features.
// Data     scatter_weights: 12 bytes per edge, the weight gathered, one sector written per cell; the array has been
//          zeroed.
//          finish_rows: y read once, written where it changes.
// Repair   0 * infinity is NaN: the product spreads an infinite or NaN feature of x to every row. A vector of results
//          that is not all finite is summed again edge by edge, so that it reaches only rows that have an edge from it.
// Atomics, shared memory: none.
#pragma once

#include <cstdint>

#include "kernels/common/vec.cuh"

namespace gnntune::spmm_dense {

inline constexpr int kThreads = 256;

/// Nearest number of 11 significant bits, ties away from zero; infinities and NaN as they are.
__device__ __forceinline__ float nearest_tf32(float value) {
    const unsigned bits = __float_as_uint(value);
    if ((bits & 0x7f800000U) == 0x7f800000U) return value;
    return __uint_as_float((bits + 0x1000U) & ~0x1fffU);
}

template <bool ROUND>
__global__ void scatter_weights(const float* __restrict__ weight, const std::uint64_t* __restrict__ cell,
                                const std::int32_t* __restrict__ edge_id, std::int64_t m, float* __restrict__ values) {
    const std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
    if (e >= m) return;
    const std::uint64_t here = cell[e];
    if (e > 0 && cell[e - 1] == here) return;
    float sum = __ldg(weight + edge_id[e]);
    for (std::int64_t d = e + 1; d < m && cell[d] == here; ++d) sum += __ldg(weight + edge_id[d]);
    values[here] = ROUND ? nearest_tf32(sum) : sum;
}

static __global__ void round_values(const float* __restrict__ in, std::int64_t n, float* __restrict__ out) {
    const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
    if (i < n) out[i] = nearest_tf32(in[i]);
}

struct Finish {
    const std::int32_t* row_ptr = nullptr;
    const std::int32_t* col_idx = nullptr;
    const std::int32_t* edge_id = nullptr;  ///< null: the caller's order
    const float* weight = nullptr;          ///< null: ones
    const float* self_weight = nullptr;     ///< null: no self loops
    const float* x = nullptr;
    float* y = nullptr;
    std::int64_t n_rows = 0;
    std::int32_t k = 0;
    bool mean = false;
};

template <int VEC>
__global__ void finish_rows(Finish a, int lanes) {
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const std::int64_t row = kernels::group_index(lanes);
    if (row >= a.n_rows) return;
    const std::int32_t begin = a.row_ptr[row];
    const std::int32_t end = a.row_ptr[row + 1];
    const std::int64_t terms = std::int64_t{end} - begin + (a.self_weight ? 1 : 0);
    const float factor = a.mean && terms > 0 ? 1.0F / static_cast<float>(terms) : 1.0F;
    const float self_weight = a.self_weight ? __ldg(a.self_weight + row) : 0.0F;
    float* y = a.y + row * a.k;
    for (int f = lane * VEC; f < a.k; f += lanes * VEC) {
        kernels::Vec<VEC> sum = kernels::load_written<VEC>(y + f);
        bool finite = true;
#pragma unroll
        for (int i = 0; i < VEC; ++i) finite = finite && isfinite(sum.v[i]);
        if (finite && !a.self_weight && !a.mean) continue;
        if (!finite) {
            kernels::zero(sum);
            for (std::int32_t e = begin; e < end; ++e) {
                const float w = a.weight ? __ldg(a.weight + (a.edge_id ? a.edge_id[e] : e)) : 1.0F;
                kernels::fma(sum, w, kernels::load<VEC>(a.x + std::int64_t{a.col_idx[e]} * a.k + f));
            }
        }
        if (a.self_weight) kernels::fma(sum, self_weight, kernels::load<VEC>(a.x + row * a.k + f));
        kernels::scale(sum, factor);
        kernels::store<VEC>(y + f, sum);
    }
}

}  // namespace gnntune::spmm_dense

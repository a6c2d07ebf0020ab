// Sums of the edges outside of blocks: rest[p, :] = sum over edges e of piece p of w_e x[col_e, :], in fp32.
//
// Layout   rest_begin [pieces + 1], rest_col, rest_id [n_rest] as in the format; x [n_cols, k] of type T, rest [pieces,
//          k] fp32, row-major, aligned to VEC elements.
// Work     group of `lanes` threads -> a piece, of one row and up to kRestPieceEdges edges; lane -> VEC features each
//          pass.
// Data     A row of x is gathered for each edge; index, id and weight are read by all lanes at once.
// Atomics  none; edges are added in their order.
#pragma once

#include "kernels/common/elements.cuh"
#include "kernels/common/vec.cuh"

namespace gnntune::spmm_dense_blocks {

inline constexpr int kRestThreads = 128;

template <typename T>
struct RestArguments {
    const std::int32_t* begin;
    const std::int32_t* col;
    const std::int32_t* id;
    const T* edge_weight;  ///< null: all are 1
    const T* x;
    float* rest;
    std::int32_t pieces;
    std::int32_t k;
};

template <typename T, int VEC>
__global__ void __launch_bounds__(kRestThreads)
    rest_kernel(const __grid_constant__ RestArguments<T> a, const int lanes) {
    const std::int64_t piece = kernels::group_index(lanes);
    if (piece >= a.pieces) return;
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const std::int32_t begin = __ldg(a.begin + piece);
    const std::int32_t end = __ldg(a.begin + piece + 1);
    for (int f = lane * VEC; f < a.k; f += lanes * VEC) {
        kernels::Vec<VEC> sum;
        kernels::zero(sum);
#pragma unroll 4
        for (std::int32_t e = begin; e < end; ++e) {
            const auto row = kernels::load_pack<VEC>(a.x + std::int64_t{__ldg(a.col + e)} * a.k + f);
            const float w = a.edge_weight ? kernels::load_value(a.edge_weight + __ldg(a.id + e)) : 1.0F;
            kernels::fma(sum, w, row);
        }
        kernels::store_sums(a.rest + piece * a.k + f, sum);
    }
}

}  // namespace gnntune::spmm_dense_blocks

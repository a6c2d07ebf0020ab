// sddmm.mma: y[e] = act(scale w_e <x_row[row_e, :], x[col_e, :]>) for every edge e, on tensor cores: windows of 16
// rows, a gather for each distinct column of a window, not for each edge.
//
// Layout   SGT tiles of 16 x 8 (core/graph/formats.hpp); edge_weight [m] or null and y [m] in the caller's order; x_row
//          [n_rows, k], x [n_cols, k], row-major, device memory, aligned to VEC elements; x_row, x, edge_weight and y
//          are of type T: f32, f16 or bf16.
// Work     warp -> a piece: up to BLOCKS TC blocks of one window, all features. A of an mma is the window's rows by the
//          features of a step, B those features by the columns of a TC block; the products of a piece are BLOCKS tiles
//          of 16 x 8 cells in registers.
// Data     A dot product adds its features in any order, so fragments of both operands are vectors of their rows as
//          they stand in memory: four lanes load 64 bytes of a row and use them themselves. x_row is loaded once for
//          BLOCKS TC blocks; the warps of a block, which have neighbouring pieces, find it in L1. Every operand of the
//          next step is loaded as soon as that of this step is used.
// Shared   per warp BLOCKS tiles of 16 x 8 sums: lanes that write have consecutive edges of the format, not cells.
// Math     f32: each operand is split in two TF32 numbers, and three products make one (error 2^-21 of the product), or
//          it is rounded to one (single pass). 16 bits: products are exact. A step's products are added on tensor cores
//          (16 features in f32, 32 in 16 bits), the steps in fp32 rounded to nearest, which tensor cores do not do.
// Atomics  none. The order of summation depends on k only: repeats bit for bit.
// Bounds   missing rows and columns are zeros in registers, and so is x_row behind k, where x still has what it had a
//          step before: infinities there have made their own sums infinite or NaN already. An edge whose sum is not
//          finite is computed again by the warp in fp32, before the epilogue, since parts and steps of what is
//          infinite, or nearly, make NaNs. Cells without an edge are computed and dropped; edges that share a cell take
//          the same one.
#pragma once

#include "kernels/formats/sgt/window_pieces.hpp"
#include "kernels/sddmm/common/edge_epilogue.hpp"
#include "kernels/sddmm/common/row_products.cuh"

namespace gnntune::sddmm_mma {

using namespace kernels;  // NOLINT: this header is included by launch_typed.cuh alone

inline constexpr int kThreads = 128;
inline constexpr int kTogether = 4;  ///< TC blocks whose products are interleaved
inline constexpr int kCells = kWindowRows * kBlockColumns;

/// Blocks that an SM shall hold: what lanes load of a step, and their sums, stay in registers.
template <int VEC, int BLOCKS>
constexpr int resident() {
    return BLOCKS == 8 || VEC == 1 ? 4 : 5;
}

template <typename T>
struct Arguments {
    const BlockRange* pieces;
    const std::int32_t* block_ptr;
    const std::int32_t* block_cols;
    const std::uint8_t* tile_position;
    const std::int32_t* edge_id;
    const T* edge_weight;
    const T* x_row;
    const T* x;
    T* y;
    EdgeEpilogue epilogue;
    std::int64_t n_pieces;
    std::int32_t n_rows;
    std::int32_t k;
};

/// Products of the piece's rows and columns: sums[b] are the lane's four cells of TC block b.
template <typename T, bool SINGLE, int VEC, int BLOCKS>
__device__ __forceinline__ void multiply(const Arguments<T>& a, const BlockRange& piece, int lane,
                                         float (&sums)[BLOCKS][4]) {
    using Part = RowSlice<T, VEC>;
    const int g = lane / 4;
    const int count = piece.end - piece.begin;
    const std::int64_t row = static_cast<std::int64_t>(piece.window) * kWindowRows + g;
    const std::int32_t upper_row = row < a.n_rows ? static_cast<std::int32_t>(row) : -1;
    const std::int32_t lower_row = row + 8 < a.n_rows ? static_cast<std::int32_t>(row + 8) : -1;
    std::int32_t column[BLOCKS];
    Part right[BLOCKS];
    Part upper;
    Part lower;
    int f = lane % 4 * VEC;
#pragma unroll
    for (int b = 0; b < BLOCKS; ++b) {
        column[b] =
            b < count ? __ldg(a.block_cols + static_cast<std::int64_t>(piece.begin + b) * kBlockColumns + g) : -1;
    }
    upper.clear();
    lower.clear();
    upper.template load<true>(a.x_row, upper_row, a.k, f);
    lower.template load<true>(a.x_row, lower_row, a.k, f);
#pragma unroll
    for (int b = 0; b < BLOCKS; ++b) {
        right[b].clear();
        right[b].template load<false>(a.x, column[b], a.k, f);
    }
    for (int step = 0; step < a.k; step += Part::kStep) {
        LeftRows<T, SINGLE> left;
        left.set(upper, lower);
        f += Part::kStep;
        upper.template load<true>(a.x_row, upper_row, a.k, f);
        lower.template load<true>(a.x_row, lower_row, a.k, f);
#pragma unroll
        for (int first = 0; first < BLOCKS; first += kTogether) {
            if (first > 0 && first >= count) break;
#pragma unroll
            for (int b = first; b < first + kTogether; ++b) {
                left.multiply(RightRows<T, SINGLE>(right[b]), sums[b]);
                right[b].template load<false>(a.x, column[b], a.k, f);
            }
        }
    }
}

/// The product of cell `cell` of a piece in fp32, in every lane.
template <typename T>
__device__ __noinline__ float multiply_again(const Arguments<T>& a, const BlockRange& piece, int cell, int lane) {
    const std::int64_t row = static_cast<std::int64_t>(piece.window) * kWindowRows + cell % kCells / kBlockColumns;
    const std::int64_t block = piece.begin + cell / kCells;
    const std::int64_t col = __ldg(a.block_cols + block * kBlockColumns + cell % kBlockColumns);
    return warp_dot(a.x_row + row * a.k, a.x + col * a.k, a.k, lane);
}

/// Hands the cells of a piece to its edges.
template <typename T, int BLOCKS>
__device__ __forceinline__ void write_edges(const Arguments<T>& a, const BlockRange& piece, const float* tiles,
                                            int lane) {
    constexpr unsigned kAll = 0xffffffffU;
    constexpr int kAhead = 4;  // edges of a lane whose loads are in flight together
    // Lane b has the first edge of TC block b, those behind the last one where that ends.
    const auto mine = static_cast<std::uint32_t>(
        __ldg(a.block_ptr + (piece.begin + min(lane, static_cast<int>(piece.end - piece.begin)))));
    std::uint32_t first[BLOCKS + 1];
#pragma unroll
    for (int b = 0; b <= BLOCKS; ++b) first[b] = __shfl_sync(kAll, mine, b);
    for (std::uint32_t base = first[0]; base < first[BLOCKS]; base += 32 * kAhead) {
        int cell[kAhead];
        std::int32_t id[kAhead];
        float weight[kAhead];
#pragma unroll
        for (int u = 0; u < kAhead; ++u) {
            const std::uint32_t e = base + static_cast<std::uint32_t>(32 * u + lane);
            const bool here = e < first[BLOCKS];
            id[u] = here ? __ldg(a.edge_id + e) : -1;
            cell[u] = here ? __ldg(a.tile_position + e) : 0;
#pragma unroll
            for (int b = 1; b < BLOCKS; ++b) cell[u] += e >= first[b] ? kCells : 0;
        }
#pragma unroll
        for (int u = 0; u < kAhead; ++u) {
            weight[u] = a.edge_weight && id[u] >= 0 ? load_value(a.edge_weight + id[u]) : 1.0F;
        }
#pragma unroll
        for (int u = 0; u < kAhead; ++u) {
            float value = tiles[cell[u]];
            unsigned again = __ballot_sync(kAll, id[u] >= 0 && !isfinite(value));
            while (again != 0) {
                const int owner = __ffs(static_cast<int>(again)) - 1;
                again &= again - 1;
                const float sum = multiply_again(a, piece, __shfl_sync(kAll, cell[u], owner), lane);
                if (lane == owner) value = sum;
            }
            if (id[u] >= 0) a.y[id[u]] = narrowed<T>(a.epilogue(weight[u] * value));
        }
    }
}

template <typename T, bool SINGLE, int VEC, int BLOCKS>
__global__ void __launch_bounds__(kThreads, resident<VEC, BLOCKS>())
    mma_kernel(const __grid_constant__ Arguments<T> a) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800  // TF32, bf16; the record refuses older devices
    static_assert(BLOCKS % kTogether == 0 && BLOCKS < 32, "lane BLOCKS has the end of the piece");
    __shared__ float2 shared[kThreads / 32][BLOCKS * kCells / 2];
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const std::int64_t at = std::int64_t{blockIdx.x} * (kThreads / 32) + threadIdx.x / 32;
    if (at >= a.n_pieces) return;
    const BlockRange piece = a.pieces[at];
    float sums[BLOCKS][4] = {};
    multiply<T, SINGLE, VEC>(a, piece, lane, sums);
    // Of each tile the lane has cells 2t and 2t + 1 of rows g and g + 8: float2 number `lane` of the upper half, and of
    // the lower.
    float2* tiles = shared[threadIdx.x / 32];
#pragma unroll
    for (int b = 0; b < BLOCKS; ++b) {
        tiles[b * (kCells / 2) + lane] = make_float2(sums[b][0], sums[b][1]);
        tiles[b * (kCells / 2) + kCells / 4 + lane] = make_float2(sums[b][2], sums[b][3]);
    }
    __syncwarp();
    write_edges<T, BLOCKS>(a, piece, reinterpret_cast<const float*>(tiles), lane);
#endif
}

}  // namespace gnntune::sddmm_mma

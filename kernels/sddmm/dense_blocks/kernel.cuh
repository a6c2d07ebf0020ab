// sddmm.dense_blocks: y[e] = w_e <x_row[row_e, :], x[col_e, :]> for every edge e, blocks of 32 x 32 cells on tensor
// cores. Edges outside of blocks: kernels/common/edge_dots.cuh.
//
// Layout   Dense blocks (kernels/formats/dense_blocks/dense_blocks.hpp) and block_row [n_blocks], the row / 32 of each;
//          edge_weight [m] or null and y [m] in the caller's order; x_row [n_rows, k], x [n_cols, k], row-major, device
//          memory, aligned to VEC elements; x_row, x, edge_weight and y are of type T: f32, f16 or bf16.
// Work     warp -> ROWS rows of one block, all of its 32 columns, all features: ROWS / 16 x 4 tiles of 16 x 8 cells in
//          registers. No warp waits for another. Blocks stand in the order of block rows, so the warps of a thread
//          block as a rule share rows of x_row, and find them in L1.
// Data     Rows of both operands are contiguous. Fragments are vectors of them as they stand in memory
//          (kernels/common/row_products.cuh): four lanes load 64 bytes of a row. Every operand of the next step is
//          loaded as soon as that of this step is used. Masks come by cp.async meanwhile.
// Shared   per warp the masks of its rows, and its cells row by row: lane c then has cell c of a row, counts bits of
//          the mask to find the edge, and neighbouring lanes write neighbouring edges.
// Math     Sums of a step, 16 features in f32 and 32 in 16 bits, on tensor cores, the steps in fp32 rounded to nearest.
// Atomics  none. The order of summation depends on k only: repeats bit for bit.
// Bounds   Where a block reaches behind the last row or column, the last one is loaded instead: those cells have no
//          bit. x_row is zero behind k, where x still has what it had a step before: infinities there have made their
//          own sums infinite or NaN already. Where a warp's sums are not all finite, those of edges are computed again
//          in fp32, since parts and steps of what is infinite, or nearly, make NaNs. Cells without an edge are dropped.
#pragma once

#include "kernels/common/async_copy.cuh"
#include "kernels/common/row_products.cuh"
#include "kernels/formats/dense_blocks/dense_blocks.hpp"

namespace gnntune::sddmm_dense_blocks {

using namespace kernels;  // NOLINT: this header is included by launch_typed.cuh alone
using formats::DenseBlockRow;
using formats::kDenseBlockSize;

inline constexpr int kThreads = 128;
inline constexpr unsigned kAll = 0xffffffffU;
inline constexpr int kRightTiles = kDenseBlockSize / 8;
inline constexpr int kSumsLd = kDenseBlockSize + 8;  ///< no bank conflicts, by tiles and by rows
inline constexpr int kRowsAtOnce = 8;                ///< rows of a block whose edges are written together

/// Thread blocks that an SM shall hold: what lanes load of a step, and their sums, stay in registers.
template <int ROWS>
constexpr int resident() {
    return ROWS == 32 ? 4 : 5;
}

template <typename T>
struct Arguments {
    const std::int32_t* block_row;
    const std::int32_t* block_col;
    const DenseBlockRow* block_rows;
    const std::int32_t* edge_id;
    const T* edge_weight;
    const T* x_row;
    const T* x;
    T* y;
    std::int32_t n_blocks;
    std::int32_t n_rows;
    std::int32_t n_cols;
    std::int32_t k;
};

/// Where a warp's cells begin. Both are rows of the operands that there are, but for the second half of the last block
/// row.
struct Corner {
    std::uint32_t row;
    std::uint32_t col;
};

/// Products of the warp's rows and columns: sums[i][j] are the lane's four cells of rows 16 i and columns 8 j on.
template <typename T, int VEC, int ROWS>
__device__ __forceinline__ void multiply(const Arguments<T>& a, const Corner& corner, int lane,
                                         float (&sums)[ROWS / 16][kRightTiles][4]) {
    using Part = RowSlice<T, VEC>;
    const auto g = static_cast<std::uint32_t>(lane / 4);
    // As unsigned numbers, since the last block may reach behind 2^31.
    const auto clamped = [g](std::uint32_t first, int tile, std::int32_t n) {
        return static_cast<std::int32_t>(
            min(first + static_cast<std::uint32_t>(8 * tile) + g, static_cast<std::uint32_t>(n) - 1U));
    };
    std::int32_t left_row[ROWS / 8];
    std::int32_t right_row[kRightTiles];
    Part left[ROWS / 8];
    Part right[kRightTiles];
    int f = lane % 4 * VEC;
#pragma unroll
    for (int i = 0; i < ROWS / 8; ++i) {
        left_row[i] = clamped(corner.row, i, a.n_rows);
        left[i].clear();
        left[i].template load<true>(a.x_row, left_row[i], a.k, f);
    }
#pragma unroll
    for (int j = 0; j < kRightTiles; ++j) {
        right_row[j] = clamped(corner.col, j, a.n_cols);
        right[j].clear();
        right[j].template load<false>(a.x, right_row[j], a.k, f);
    }
#pragma unroll 1
    for (int step = 0; step < a.k; step += Part::kStep) {
        LeftRows<T, false> rows[ROWS / 16];
#pragma unroll
        for (int i = 0; i < ROWS / 16; ++i) rows[i].set(left[2 * i], left[2 * i + 1]);
        f += Part::kStep;
#pragma unroll
        for (int i = 0; i < ROWS / 8; ++i) left[i].template load<true>(a.x_row, left_row[i], a.k, f);
#pragma unroll
        for (int j = 0; j < kRightTiles; ++j) {
            const RightRows<T, false> columns(right[j]);
            right[j].template load<false>(a.x, right_row[j], a.k, f);
#pragma unroll
            for (int i = 0; i < ROWS / 16; ++i) rows[i].multiply(columns, sums[i][j]);
        }
    }
}

/// Computes the edges among the warp's cells whose sums are not finite again; lane c has column c.
template <typename T, int ROWS>
__device__ __noinline__ void multiply_again(const Arguments<T>& a, Corner corner, const DenseBlockRow* rows,
                                            float* cells, int lane) {
    for (int r = 0; r < ROWS; ++r) {
        float& mine = cells[r * kSumsLd + lane];
        unsigned again = __ballot_sync(kAll, (rows[r].mask >> lane & 1U) != 0 && !isfinite(mine));
        for (; again != 0; again &= again - 1) {
            const int c = __ffs(static_cast<int>(again)) - 1;
            const float sum = warp_dot(a.x_row + (std::int64_t{corner.row} + r) * a.k,
                                       a.x + (std::int64_t{corner.col} + c) * a.k, a.k, lane);
            if (lane == c) mine = sum;
        }
    }
}

/// Hands the cells to their edges; lane c has column c.
template <typename T, int ROWS>
__device__ __forceinline__ void write_edges(const Arguments<T>& a, const DenseBlockRow* rows, const float* cells,
                                            int lane) {
    const std::uint32_t below = (1U << lane) - 1U;
#pragma unroll 1
    for (int r = 0; r < ROWS; r += kRowsAtOnce) {
        std::int32_t id[kRowsAtOnce];
        float value[kRowsAtOnce];
#pragma unroll
        for (int i = 0; i < kRowsAtOnce; ++i) {
            const DenseBlockRow row = rows[r + i];
            id[i] = (row.mask >> lane & 1U) != 0 ? row.first + __popc(row.mask & below) : -1;
            value[i] = cells[(r + i) * kSumsLd + lane];
        }
        // Ids first, then weights, so that their loads do not wait for one another.
        if (a.edge_id) {
#pragma unroll
            for (int i = 0; i < kRowsAtOnce; ++i) {
                if (id[i] >= 0) id[i] = __ldg(a.edge_id + id[i]);
            }
        }
        if (a.edge_weight) {
            float weight[kRowsAtOnce];
#pragma unroll
            for (int i = 0; i < kRowsAtOnce; ++i) {
                weight[i] = id[i] >= 0 ? load_value(a.edge_weight + id[i]) : 0.0F;
            }
#pragma unroll
            for (int i = 0; i < kRowsAtOnce; ++i) value[i] *= weight[i];
        }
#pragma unroll
        for (int i = 0; i < kRowsAtOnce; ++i) {
            if (id[i] >= 0) a.y[id[i]] = narrowed<T>(value[i]);
        }
    }
}

template <typename T, int VEC, int ROWS>
__global__ void __launch_bounds__(kThreads, resident<ROWS>())
    dense_blocks_kernel(const __grid_constant__ Arguments<T> a) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800  // TF32, bf16, cp.async; the record refuses older devices
    static_assert(ROWS % 16 == 0 && ROWS % kRowsAtOnce == 0 && kDenseBlockSize % ROWS == 0, "a warp has whole tiles");
    constexpr int kWarps = kThreads / 32;
    __shared__ alignas(16) float all_cells[kWarps][ROWS * kSumsLd];
    __shared__ DenseBlockRow all_rows[kWarps][ROWS];
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const std::int64_t part = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
    const std::int64_t block = part / (kDenseBlockSize / ROWS);
    if (block >= a.n_blocks) return;
    const int first = static_cast<int>(part % (kDenseBlockSize / ROWS)) * ROWS;
    float* cells = all_cells[threadIdx.x / 32];
    DenseBlockRow* rows = all_rows[threadIdx.x / 32];
    if (lane < ROWS) copy_async<8>(rows + lane, a.block_rows + block * kDenseBlockSize + first + lane, true);
    commit_copies();
    const Corner corner{
        static_cast<std::uint32_t>(__ldg(a.block_row + block)) * kDenseBlockSize + static_cast<std::uint32_t>(first),
        static_cast<std::uint32_t>(__ldg(a.block_col + block)) * kDenseBlockSize};

    float sums[ROWS / 16][kRightTiles][4] = {};
    multiply<T, VEC, ROWS>(a, corner, lane, sums);

    // Of each tile the lane has cells 2t and 2t + 1 of rows g and g + 8.
    bool finite = true;
    float* mine = cells + lane / 4 * kSumsLd + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < ROWS / 16; ++i) {
#pragma unroll
        for (int j = 0; j < kRightTiles; ++j) {
            const float(&sum)[4] = sums[i][j];
#pragma unroll
            for (int c = 0; c < 4; ++c) finite = finite && isfinite(sum[c]);
            float* upper = mine + 16 * i * kSumsLd + 8 * j;
            *reinterpret_cast<float2*>(upper) = make_float2(sum[0], sum[1]);
            *reinterpret_cast<float2*>(upper + 8 * kSumsLd) = make_float2(sum[2], sum[3]);
        }
    }
    wait_copies<0>();
    __syncwarp();
    if (__any_sync(kAll, !finite)) multiply_again<T, ROWS>(a, corner, rows, cells, lane);
    write_edges<T, ROWS>(a, rows, cells, lane);
#endif
}

}  // namespace gnntune::sddmm_dense_blocks

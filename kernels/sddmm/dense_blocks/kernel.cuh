// sddmm.dense_blocks: y[e] = act(scale w_e <x_row[row_e, :], x[col_e, :]>) for every edge e, blocks of 32 x 32 cells on
// tensor cores. Edges outside of blocks: kernels/sddmm/common/edge_dots.cuh.
//
// Layout   Dense blocks (kernels/formats/dense_blocks/dense_blocks.hpp), and places [n_blocks] of them all;
//          edge_weight [m] or null and y [m] in the caller's order; x_row [n_rows, k], x [n_cols, k], row-major, device
//          memory, aligned to VEC elements; x_row, x, edge_weight and y are of type T: f32, f16 or bf16.
// Work     warp -> a block, all features: 2 x 4 tiles of 16 x 8 cells in registers. No warp waits for another.
//          Neighbours among the places share rows of either operand, and the warps of a thread block find them in L1.
// Data     Rows of both operands are contiguous. Fragments are vectors of them as they stand in memory
//          (kernels/sddmm/common/row_products.cuh): four lanes have 64 bytes of a row. Each lane copies what it will multiply
//          itself to shared memory by cp.async, STAGES steps ahead, and waits for its own copies only.
// Shared   per warp STAGES steps of 64 slices of rows, a place of 16 bytes for each lane and slice. In the end the
//          masks of the block's rows and its cells row by row: lane c then has cell c of a row, counts bits of the mask
//          to find the edge, and neighbouring lanes write neighbouring edges.
// Math     Sums of a step, 16 features in f32 and 32 in 16 bits, on tensor cores, the steps in fp32 rounded to nearest.
// Atomics  none. The order of summation depends on k only: repeats bit for bit.
// Bounds   Where a block reaches behind the last row or column, the last one is loaded instead: those cells have no
//          bit. Both operands are zero behind k. Where a block's sums are not all finite, those of edges are computed
//          again in fp32, before the epilogue, since parts and steps of what is infinite, or nearly, make NaNs. Cells
//          without an edge are dropped.
#pragma once

#include "kernels/common/async_copy.cuh"
#include "kernels/sddmm/common/edge_epilogue.hpp"
#include "kernels/sddmm/common/row_products.cuh"
#include "kernels/sddmm/dense_blocks/plan.hpp"

namespace gnntune::sddmm_dense_blocks {

using namespace kernels;  // NOLINT: this header is included by launch_typed.cuh alone
using formats::DenseBlockRow;
using formats::kDenseBlockSize;

inline constexpr int kThreads = 256;
inline constexpr int kResident = 2;  ///< thread blocks that an SM shall hold: up to 128 registers
inline constexpr unsigned kAll = 0xffffffffU;
inline constexpr int kSlices = kDenseBlockSize / 8;  ///< of a lane in a step, for each operand
inline constexpr int kLeftTiles = kDenseBlockSize / 16;
inline constexpr int kSumsLd = kDenseBlockSize + 8;  ///< no bank conflicts, by tiles and by rows
inline constexpr int kRowsAtOnce = 8;                ///< rows of a block whose edges are written together

/// What a warp has in shared memory: stages, where the cells lie in the end, and the masks.
template <int STAGES>
struct WarpMemory {
    static constexpr int kStage = 2 * kSlices * 32 * 16;  ///< bytes
    static constexpr int kCells = kDenseBlockSize * kSumsLd * static_cast<int>(sizeof(float));
    static constexpr int kMasks = kDenseBlockSize * static_cast<int>(sizeof(DenseBlockRow));
    static constexpr int kBytes = STAGES * kStage + kMasks;
    static_assert(kCells <= STAGES * kStage, "cells fit into stages");
};

template <typename T>
struct Arguments {
    const BlockPlace* places;
    const DenseBlockRow* block_rows;
    const std::int32_t* edge_id;
    const T* edge_weight;
    const T* x_row;
    const T* x;
    T* y;
    EdgeEpilogue epilogue;
    std::int32_t n_blocks;
    std::int32_t n_rows;
    std::int32_t n_cols;
    std::int32_t k;
};

/// The block's first row of each operand.
struct Corner {
    std::uint32_t row;
    std::uint32_t col;
};

/// The rows of an operand that the lane has slices of: 8 i + lane / 4 for slice i, the last one for those behind it.
template <typename T, int VEC>
struct Rows {
    const T* first;  ///< of the block's first row, the lane's next feature
    std::uint32_t offset[kSlices];

    __device__ __forceinline__ Rows(const T* x, std::uint32_t row, std::int32_t n, std::int32_t k, int lane)
        : first(x + std::int64_t{row} * k + lane % 4 * VEC) {
        const std::uint32_t last = static_cast<std::uint32_t>(n) - 1U - row;
#pragma unroll
        for (int i = 0; i < kSlices; ++i) {
            offset[i] = min(static_cast<std::uint32_t>(8 * i + lane / 4), last) * static_cast<std::uint32_t>(k);
        }
    }
    /// Starts the copy of slice i to `place`; there are `left` features from the next one on, or none.
    __device__ __forceinline__ void copy(int i, T* place, int left) const {
        constexpr int kBytes = VEC * static_cast<int>(sizeof(T));
        const T* from = first + offset[i];
        if constexpr (kBytes >= 4) {
#pragma unroll
            for (int j = 0; j < 16 / kBytes; ++j) {
                copy_async<kBytes, true>(place + VEC * j, from + 4 * VEC * j, 4 * VEC * j < left);
            }
        } else {  // there are no asynchronous copies of two bytes
            Pack<T, 8> slice;
            zero(slice);
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                if (4 * j < left) slice.v[j] = load_pack<1>(from + 4 * j).v[0];
            }
            *reinterpret_cast<uint4*>(place) = reinterpret_cast<const uint4&>(slice);
        }
    }
};

/// Products of the block's rows and columns: sums[i][j] are the lane's four cells of rows 16 i and columns 8 j on.
/// `stages` are the warp's; nobody uses them any more when it returns.
template <typename T, int VEC, int STAGES>
__device__ __forceinline__ void multiply(const Arguments<T>& a, const Corner& corner, unsigned char* stages, int lane,
                                         float (&sums)[kLeftTiles][kSlices][4]) {
    constexpr int kElements = 16 / static_cast<int>(sizeof(T));
    using Slice = RowSlice<T, kElements>;
    constexpr int kPlace = 32 * kElements;  // from a slice to the next
    constexpr int kStage = WarpMemory<STAGES>::kStage / static_cast<int>(sizeof(T));
    const auto slice_at = [](const T* place) {
        const uint4 word = *reinterpret_cast<const uint4*>(place);
        return reinterpret_cast<const Slice&>(word);
    };
    Rows<T, VEC> left(a.x_row, corner.row, a.n_rows, a.k, lane);
    Rows<T, VEC> right(a.x, corner.col, a.n_cols, a.k, lane);
    T* const begin = reinterpret_cast<T*>(stages) + lane * kElements;
    int stage = 0;                    // where the next one begins, in elements
    int more = a.k - lane % 4 * VEC;  // features from the lane's next one on
    // Slices whose copies are written out: one where they pass registers, which would not hold more.
    constexpr int kAtOnce = VEC * static_cast<int>(sizeof(T)) < 4 ? 1 : kSlices;
    // Where a step has been, or nothing yet, comes the one that is STAGES later; zeros behind the last one.
    const auto copy_step = [&] {
        T* place = begin + stage;
#pragma unroll(kAtOnce)
        for (int i = 0; i < kSlices; ++i) {
            left.copy(i, place + i * kPlace, more);
            right.copy(i, place + (kSlices + i) * kPlace, more);
        }
        commit_copies();
        left.first += Slice::kStep;
        right.first += Slice::kStep;
        more -= Slice::kStep;
        stage = STAGES == 2 ? stage ^ kStage : stage == (STAGES - 1) * kStage ? 0 : stage + kStage;
    };
#pragma unroll
    for (int s = 0; s < STAGES; ++s) copy_step();
#pragma unroll 1
    for (int step = 0; step < a.k; step += Slice::kStep) {
        wait_copies<STAGES - 1>();
        const T* place = begin + stage;
        LeftRows<T, false> rows[kLeftTiles];
#pragma unroll
        for (int i = 0; i < kLeftTiles; ++i) {
            rows[i].set(slice_at(place + 2 * i * kPlace), slice_at(place + (2 * i + 1) * kPlace));
        }
#pragma unroll
        for (int j = 0; j < kSlices; ++j) {
            const RightRows<T, false> columns(slice_at(place + (kSlices + j) * kPlace));
#pragma unroll
            for (int i = 0; i < kLeftTiles; ++i) rows[i].multiply(columns, sums[i][j]);
        }
        copy_step();
    }
    wait_copies<0>();
    __syncwarp();
}

/// Computes the block's edges whose sums are not finite again; lane c has column c.
template <typename T>
__device__ __noinline__ void multiply_again(const Arguments<T>& a, Corner corner, const DenseBlockRow* rows,
                                            float* cells, int lane) {
    for (int r = 0; r < kDenseBlockSize; ++r) {
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
template <typename T>
__device__ __forceinline__ void write_edges(const Arguments<T>& a, const DenseBlockRow* rows, const float* cells,
                                            int lane) {
    const std::uint32_t below = (1U << lane) - 1U;
#pragma unroll 1
    for (int r = 0; r < kDenseBlockSize; r += kRowsAtOnce) {
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
        if (!a.epilogue.plain()) {
#pragma unroll
            for (int i = 0; i < kRowsAtOnce; ++i) value[i] = a.epilogue(value[i]);
        }
#pragma unroll
        for (int i = 0; i < kRowsAtOnce; ++i) {
            if (id[i] >= 0) a.y[id[i]] = narrowed<T>(value[i]);
        }
    }
}

template <typename T, int VEC, int STAGES>
__global__ void __launch_bounds__(kThreads, kResident) dense_blocks_kernel(const __grid_constant__ Arguments<T> a) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800  // TF32, bf16, cp.async; the record refuses older devices
    using Memory = WarpMemory<STAGES>;
    static_assert(kDenseBlockSize == 32 && kDenseBlockSize % kRowsAtOnce == 0, "a lane for each column");
    constexpr int kWarps = kThreads / 32;
    extern __shared__ uint4 shared[];
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const std::int64_t at = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
    if (at >= a.n_blocks) return;
    unsigned char* mine = reinterpret_cast<unsigned char*>(shared) + threadIdx.x / 32 * Memory::kBytes;
    const BlockPlace place = a.places[at];
    const Corner corner{static_cast<std::uint32_t>(place.row) * kDenseBlockSize,
                        static_cast<std::uint32_t>(place.col) * kDenseBlockSize};
    auto* rows = reinterpret_cast<DenseBlockRow*>(mine + Memory::kBytes - Memory::kMasks);
    copy_async<8>(rows + lane, a.block_rows + std::int64_t{place.block} * kDenseBlockSize + lane, true);

    float sums[kLeftTiles][kSlices][4] = {};
    multiply<T, VEC, STAGES>(a, corner, mine, lane, sums);

    // Of each tile the lane has cells 2t and 2t + 1 of rows g and g + 8.
    float* cells = reinterpret_cast<float*>(mine);
    bool finite = true;
#pragma unroll
    for (int i = 0; i < kLeftTiles; ++i) {
#pragma unroll
        for (int j = 0; j < kSlices; ++j) {
            const float(&sum)[4] = sums[i][j];
#pragma unroll
            for (int c = 0; c < 4; ++c) finite = finite && isfinite(sum[c]);
            float* upper = cells + (16 * i + lane / 4) * kSumsLd + 8 * j + lane % 4 * 2;
            *reinterpret_cast<float2*>(upper) = make_float2(sum[0], sum[1]);
            *reinterpret_cast<float2*>(upper + 8 * kSumsLd) = make_float2(sum[2], sum[3]);
        }
    }
    __syncwarp();
    if (__any_sync(kAll, !finite)) multiply_again(a, corner, rows, cells, lane);
    write_edges(a, rows, cells, lane);
#endif
}

}  // namespace gnntune::sddmm_dense_blocks

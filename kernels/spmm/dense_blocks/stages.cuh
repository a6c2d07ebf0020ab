// What the warps of a thread block of spmm.dense_blocks share: arguments, the shape of a stage, and the warps that fill
// stages, one with rows of x and two with the cells of blocks.
#pragma once

#include "kernels/common/async_copy.cuh"
#include "kernels/common/merge_rows.cuh"
#include "kernels/common/self_term.cuh"
#include "kernels/common/tensor_cores.cuh"
#include "kernels/spmm/common/bulk_copy.cuh"
#include "kernels/spmm/dense_blocks/plan.hpp"

namespace gnntune::spmm_dense_blocks {

using namespace kernels;  // NOLINT: these headers are included by launch_typed.cuh alone
using formats::DenseBlockRow;
using formats::kDenseBlockSize;

inline constexpr int kStages = 3;
inline constexpr int kExpanders = 2;
inline constexpr int kExpanderRows = kDenseBlockSize / kExpanders;
inline constexpr int kWarpFeatures = 32;  ///< of a warp that multiplies

template <typename T>
struct Arguments {
    const BlockPiece* pieces;
    const std::int32_t* block_col;
    const DenseBlockRow* block_rows;
    const std::int32_t* edge_id;   ///< null: positions are the caller's edges
    const std::int32_t* rest_ptr;  ///< first of the row's sums in `rest`
    Mean mean;
    SelfTerm<T> self;
    const T* edge_weight;  ///< null: all are 1
    const T* x;
    T* y;
    float* partial;     ///< [slots, k]
    const float* rest;  ///< [rest pieces, k]; null: there is no rest
    std::int32_t n_rows;
    std::int32_t n_cols;
    std::int32_t k;
    int copy;    ///< bytes to which all rows of x are aligned: 16 by bulk copies, else 8, 4 or 2
    bool fours;  ///< rows of y, and of x where self loops are added, are aligned to four elements

    __device__ __forceinline__ std::int32_t id(std::int32_t position) const {
        return edge_id ? __ldg(edge_id + position) : position;
    }
};

/// A stage: 32 rows of x, a tile of features each, and the cells of a block as the fragments of B. Rows are padded so
/// that reading fragments of A has no bank conflicts. A fragment's numbers lie together for each lane: in f32 {high,
/// low} of row t and of row t + 4, without weights the high ones alone; in 16 bits rows 2t, 2t + 1, 2t + 8 and 2t + 9.
/// The fragments of the next columns begin half the banks further, or as many as they have, for the expanders' sake.
template <typename T, int WARPS, bool WEIGHTED>
struct Stage {
    static constexpr bool kWide = sizeof(T) == 4;
    static constexpr int kTile = kWarpFeatures * WARPS;
    static constexpr int kLd = kTile + 8;
    static constexpr int kSteps = kWide ? 4 : 2;                     ///< mmas along the columns of a block
    static constexpr int kNumbers = kWide ? (WEIGHTED ? 4 : 2) : 4;  ///< of a lane in a fragment
    static constexpr int kStep = 4 * 32 * kNumbers + 4 * kNumbers;   ///< numbers from step to step
    static constexpr int kRows = kDenseBlockSize * kLd;              ///< numbers of the rows of x
    static constexpr int kElements = kRows + kSteps * kStep;
    static constexpr std::size_t kBytes = kElements * sizeof(T);
    static constexpr int kThreads = 32 * (WARPS + 1 + kExpanders);
    static_assert(kBytes % 16 == 0 && kRows * sizeof(T) % 16 == 0 && kLd * sizeof(T) % 16 == 0, "vectors are aligned");

    /// Where the cell of column `c` and row 0 stands among the cells; that of row r, 4 r kNumbers further.
    static __device__ __forceinline__ int cell(int c) {
        if constexpr (kWide) return c / 8 * kStep + c % 4 * kNumbers + c % 8 / 4 * (kNumbers / 2);
        return c / 16 * kStep + c % 8 / 2 * kNumbers + c % 16 / 8 * 2 + c % 2;
    }
};

/// Full when rows and cells of a block are there, empty when all have multiplied them. Every lane arrives by itself:
/// one for its warp was no faster, and racecheck does not see through it.
struct Barriers {
    std::uint64_t full[kStages];
    std::uint64_t empty[kStages];
};

/// Which stage is next, and the parity of its use.
struct Ring {
    int stage = 0;
    unsigned parity = 0;

    __device__ __forceinline__ void next() {
        stage = stage + 1 == kStages ? 0 : stage + 1;
        if (stage == 0) parity ^= 1U;
    }
};

/// Copies `width` features of `rows` rows from `from` on, BYTES at a time, and arrives for every lane. Copies of two
/// bytes pass registers.
template <int BYTES, int LD, typename T>
__device__ __forceinline__ void copy_rows(T* to, const T* from, std::int32_t k, int rows, int width, int lane,
                                          std::uint64_t* full) {
    constexpr int kElements = BYTES / static_cast<int>(sizeof(T));
    for (int f = lane * kElements; f < width; f += 32 * kElements) {
#pragma unroll 8
        for (int r = 0; r < rows; ++r) {
            const T* source = from + static_cast<std::int64_t>(r) * k + f;
            if constexpr (BYTES >= 4) {
                copy_async<BYTES>(to + r * LD + f, source, true);
            } else {
                to[r * LD + f] = load_pack<1>(source).v[0];
            }
        }
    }
    if constexpr (BYTES >= 4) {
        arrive_after_copies(full);
    } else {
        arrive(full);
    }
}

/// The same by bulk copies of `bytes` for each row, which one lane starts. Announces them.
template <int LD, typename T>
__device__ __forceinline__ void copy_rows_bulk(T* to, const T* from, std::int32_t k, int rows, unsigned bytes,
                                               std::uint64_t* full) {
    if (elect_lane()) {
        arrive_expecting(full, static_cast<unsigned>(rows) * bytes);
#pragma unroll 8
        for (int r = 0; r < rows; ++r) copy_bulk(to + r * LD, from + static_cast<std::int64_t>(r) * k, bytes, full);
    }
    __syncwarp();
}

/// The producer: rows of x of each block of the piece.
template <typename T, int WARPS, bool WEIGHTED>
__device__ __forceinline__ void produce(const Arguments<T>& a, const BlockPiece& piece, int f0, T* stages,
                                        Barriers& barriers, int lane) {
    using Shape = Stage<T, WARPS, WEIGHTED>;
    const int width = min(Shape::kTile, a.k - f0);
    Ring ring;
    std::int32_t column = piece.begin < piece.end ? __ldg(a.block_col + piece.begin) : 0;
    for (std::int32_t b = piece.begin; b < piece.end; ++b, ring.next()) {
        const std::int32_t first = column * kDenseBlockSize;
        const int rows = min(kDenseBlockSize, a.n_cols - first);
        if (b + 1 < piece.end) column = __ldg(a.block_col + b + 1);
        T* to = stages + ring.stage * Shape::kElements;
        const T* from = a.x + static_cast<std::int64_t>(first) * a.k + f0;
        std::uint64_t* full = &barriers.full[ring.stage];
        wait_phase(&barriers.empty[ring.stage], ring.parity ^ 1U);
        if (a.copy == 16) {
            const unsigned bytes = static_cast<unsigned>(width) * sizeof(T);
            copy_rows_bulk<Shape::kLd>(to, from, a.k, rows, bytes, full);
        } else if (a.copy == 8) {
            copy_rows<8, Shape::kLd>(to, from, a.k, rows, width, lane, full);
        } else if (sizeof(T) == 4 || a.copy == 4) {
            copy_rows<4, Shape::kLd>(to, from, a.k, rows, width, lane, full);
        } else {
            copy_rows<sizeof(T), Shape::kLd>(to, from, a.k, rows, width, lane, full);
        }
    }
}

/// Values of column `lane` in the expander's rows, whose masks the lanes hold: weights, 1 without them, 0 where there
/// is no edge. Ids first, then weights, so that their loads do not wait for one another.
template <typename T, bool WEIGHTED>
__device__ __forceinline__ void load_cells(const Arguments<T>& a, const DenseBlockRow& mine, int lane,
                                           T (&value)[kExpanderRows]) {
    std::int32_t id[kExpanderRows];
#pragma unroll
    for (int i = 0; i < kExpanderRows; ++i) {
        const std::uint32_t mask = __shfl_sync(0xffffffffU, mine.mask, i);
        const bool here = (mask >> lane & 1U) != 0;
        if constexpr (WEIGHTED) {
            const std::int32_t first = __shfl_sync(0xffffffffU, mine.first, i);
            id[i] = here ? first + __popc(mask & ((1U << lane) - 1U)) : -1;
        } else {
            value[i] = narrowed<T>(here ? 1.0F : 0.0F);
        }
    }
    if constexpr (WEIGHTED) {
        if (a.edge_id) {
#pragma unroll
            for (int i = 0; i < kExpanderRows; ++i) {
                if (id[i] >= 0) id[i] = __ldg(a.edge_id + id[i]);
            }
        }
#pragma unroll
        for (int i = 0; i < kExpanderRows; ++i) {
            value[i] = narrowed<T>(0.0F);
            if (id[i] >= 0) value[i] = load_pack<1>(a.edge_weight + id[i]).v[0];
        }
    }
}

/// An expander: the cells of its rows of each block of the piece. Weights are one block ahead, masks two.
template <typename T, int WARPS, bool WEIGHTED>
__device__ __forceinline__ void expand(const Arguments<T>& a, const BlockPiece& piece, T* stages, Barriers& barriers,
                                       int expander, int lane) {
    using Shape = Stage<T, WARPS, WEIGHTED>;
    const auto load_masks = [&](std::int32_t b) -> DenseBlockRow {
        if (b >= piece.end) return {0, 0};
        const int2 row =
            __ldg(reinterpret_cast<const int2*>(a.block_rows) + static_cast<std::int64_t>(b) * kDenseBlockSize +
                  expander * kExpanderRows + lane % kExpanderRows);
        return {static_cast<std::uint32_t>(row.x), row.y};
    };
    T value[kExpanderRows];
    T ahead[kExpanderRows];
    load_cells<T, WEIGHTED>(a, load_masks(piece.begin), lane, value);
    DenseBlockRow masks = load_masks(piece.begin + 1);
    const int at = Shape::kRows + Shape::cell(lane) + expander * kExpanderRows * 4 * Shape::kNumbers;
    Ring ring;
    // Twice, so that `ahead` becomes `value` by another name: a move would wait for its load.
#pragma unroll 2
    for (std::int32_t b = piece.begin; b < piece.end; ++b, ring.next()) {
        load_cells<T, WEIGHTED>(a, masks, lane, ahead);
        masks = load_masks(b + 2);
        wait_phase(&barriers.empty[ring.stage], ring.parity ^ 1U);
        T* to = stages + ring.stage * Shape::kElements + at;
#pragma unroll
        for (int i = 0; i < kExpanderRows; ++i) {
            if constexpr (Shape::kWide && WEIGHTED) {
                const Split parts = split<false>(value[i]);
                *reinterpret_cast<uint2*>(to + i * 4 * Shape::kNumbers) = make_uint2(parts.high, parts.low);
            } else {
                to[i * 4 * Shape::kNumbers] = value[i];
            }
            value[i] = ahead[i];
        }
        arrive(&barriers.full[ring.stage]);
    }
}

}  // namespace gnntune::spmm_dense_blocks

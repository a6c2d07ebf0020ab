// spmm.mma: y[i, :] = sum over edges e of row i of w_e x[col_e, :] (+ self_weight[i] x[i, :]), for the mean divided by the
// number of terms, on tensor cores: windows of 16 rows, a gather for each distinct column of a window, not for each edge.
//
// Layout   SGT tiles of 16 x 8 (core/graph/formats.hpp) and their cells (kernels/spmm/mma/plan.hpp); edge_weight [m] in
//          the caller's order, or null; self_weight [n_rows] or null; x [n_cols, k], y [n_rows, k], row-major, device
//          memory, aligned to VEC elements; x, weights and y are of type T: f32, f16 or bf16.
// Work     warp -> a piece: TC blocks of one window, and TILES tiles of features; grid.y walks the others. The operands
//          are swapped: A of an mma is 16 features by the columns of a step, B those columns by 8 rows of the window. A
//          step is a TC block in f32 (m16n8k8), two in 16 bits (m16n8k16).
// Data     Rows of x are copied to shared memory (cp.async), kStages steps deep, each warp for itself: lanes that read
//          a fragment of A straight from memory would touch four lines with every eight of them. Which features are
//          "rows" of A is of no account, so a lane's vector of VEC features serves VEC mmas (f32; VEC / 2 in 16 bits),
//          and its sums are vectors of y. Cells are a bit mask: a lane counts bits to find its edges.
// Shared   per warp kStages stages of kSlots rows of a tile, 32 bytes apart: fragments are read without bank conflicts
//          (but for tiles of 16 elements of 16 bits, read in two goes).
// Math     f32: each operand is split in two TF32 numbers, and three products make one (error 2^-21 of the product), or
//          it is rounded to one (single pass). 16 bits: products are exact. A step's products are added on tensor
//          cores, the steps in fp32 rounded to nearest, which tensor cores do not do.
//          Self loops are added to a row's sum where it is written.
// Atomics  none. The order of summation depends on the params and the graph only.
// Bounds   missing columns and features behind k are zeros in registers. Empty cells multiply: a piece whose sums are
//          not all finite is done again edge by edge, so that infinities reach only rows that have them. So is, from
//          the start, a piece in which several edges share a cell.
#pragma once

#include "kernels/common/async_copy.cuh"
#include "kernels/common/merge_rows.cuh"
#include "kernels/common/self_term.cuh"
#include "kernels/formats/sgt/window_warps.hpp"
#include "kernels/spmm/mma/plan.hpp"
#include "kernels/spmm/mma/products.cuh"

namespace gnntune::spmm_mma {

inline constexpr int kThreads = 64;
inline constexpr int kStages = 3;

template <typename T>
struct Arguments {
    const WindowPiece* pieces;
    const BlockCells* cells;
    const std::int32_t* block_ptr;
    const std::int32_t* block_cols;
    const std::uint8_t* tile_position;
    Mean mean;
    SelfTerm<T> self;
    const std::int32_t* edge_id;
    const T* edge_weight;
    const T* x;
    T* y;
    float* partial;  ///< [slots, k]
    std::int64_t n_pieces;
    std::int32_t n_rows;
    std::int32_t k;

    __device__ __forceinline__ float weight(std::int32_t e) const {
        return edge_weight ? widened(load_pack<1>(edge_weight + __ldg(edge_id + e)).v[0]) : 1.0F;
    }
};

/// Cells of columns 2t and 2t + 1 of a TC block; none from block `end` on.
template <typename T>
__device__ __forceinline__ BlockCells load_cells(const Arguments<T>& a, std::int32_t block, std::int32_t end, int t) {
    if (block >= end) return {0, 0};
    const int2 pair =
        __ldg(reinterpret_cast<const int2*>(a.cells) + static_cast<std::int64_t>(block) * (kBlockColumns / 2) + t);
    return {static_cast<std::uint32_t>(pair.x), pair.y};
}

/// id[c][h]: the edge from column 2t + c to row 8 h + g, in the caller's order where there are weights; -1: there is
/// none. Without branches that lanes part at.
template <typename T>
__device__ __forceinline__ void load_ids(const Arguments<T>& a, const BlockCells& cells, int g,
                                         std::int32_t (&id)[2][2]) {
#pragma unroll
    for (int c = 0; c < 2; ++c) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int bit = kWindowRows * c + 8 * h + g;
            const bool here = (cells.mask >> bit & 1U) != 0;
            id[c][h] = here ? 0 : -1;
            if (a.edge_weight && here)
                id[c][h] = __ldg(a.edge_id + cells.first + __popc(cells.mask & ((1U << bit) - 1U)));
        }
    }
}
template <typename T>
__device__ __forceinline__ void load_weights(const Arguments<T>& a, const std::int32_t (&id)[2][2], float (&w)[2][2]) {
#pragma unroll
    for (int c = 0; c < 2; ++c) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            w[c][h] = id[c][h] >= 0 ? 1.0F : 0.0F;
            if (a.edge_weight && id[c][h] >= 0) w[c][h] = load_value(a.edge_weight + id[c][h]);
        }
    }
}

/// Shape of a warp's stages. Slot t of a TC block has its column 2t, slot 4 + t column 2t + 1: a step's slots are the
/// columns of A in f32; in 16 bits slots t, 4 + t, 8 + t and 12 + t are A's columns 2t, 2t + 1, 2t + 8 and 2t + 9.
template <typename T, int VEC, int TILES, int COPY>
struct Stages {
    static constexpr int kBlocks = sizeof(T) == 4 ? 1 : 2;  ///< TC blocks of a step
    static constexpr int kSlots = kBlocks * kBlockColumns;
    static constexpr int kTile = (sizeof(T) == 4 ? 16 : 8) * VEC;  ///< features of a tile
    static constexpr int kLd = (kTile * TILES * static_cast<int>(sizeof(T)) + 32) / static_cast<int>(sizeof(T));
    static constexpr int kElements = kStages * kSlots * kLd;  ///< of a warp
    static constexpr int kCopyElements = COPY / static_cast<int>(sizeof(T));
    static constexpr int kRowCopies = kTile * TILES / kCopyElements;
    static constexpr int kCopies = (kSlots * kRowCopies + 31) / 32;  ///< of a lane

    /// Column in slot `lane`, for lanes below kSlots; -1: none.
    static __device__ __forceinline__ std::int32_t column(const Arguments<T>& a, std::int32_t block, std::int32_t end,
                                                          int lane) {
        const std::int32_t mine = block + lane / kBlockColumns;
        if (lane >= kSlots || mine >= end) return -1;
        return __ldg(a.block_cols + static_cast<std::int64_t>(mine) * kBlockColumns + lane % 4 * 2 +
                     lane % kBlockColumns / 4);
    }

    /// Starts the copy of a step's rows, whose columns the lanes hold, to `stage`.
    static __device__ __forceinline__ void copy(const Arguments<T>& a, T* stage, std::int32_t column, int f0,
                                                int lane) {
        static_assert(32 % kRowCopies == 0, "a lane copies the same features of every row");
        const int f = lane % kRowCopies * kCopyElements;
        const bool inside = f0 + f < a.k;
#pragma unroll
        for (int i = 0; i < kCopies; ++i) {
            const int slot = i * (32 / kRowCopies) + lane / kRowCopies;
            const std::int32_t row = __shfl_sync(0xffffffffU, column, slot);
            const bool here = row >= 0 && inside;
            const T* from = here ? a.x + static_cast<std::int64_t>(row) * a.k + f0 + f : a.x;
            if (slot < kSlots) copy_async<COPY>(stage + slot * kLd + f, from, here);
        }
    }
};

/// Sums of a piece. Rows of x are kStages - 1 steps ahead, their columns one more; weights are one step ahead, ids of
/// their edges two, cells three.
template <typename T, bool SINGLE, int VEC, int TILES, int COPY, int MMAS>
__device__ __forceinline__ void walk(const Arguments<T>& a, const WindowPiece& piece, T* stages, int f0, int lane,
                                     Sums<MMAS, TILES>& sums) {
    using Shape = Stages<T, VEC, TILES, COPY>;
    constexpr int kStep = Shape::kBlocks;
    const int g = lane / 4;
    const int t = lane % 4;
    std::int32_t ahead = piece.begin;  // block whose rows are copied next
    std::int32_t column = Shape::column(a, ahead, piece.end, lane);
    float w[kStep][2][2];
    std::int32_t ids[kStep][2][2];
    BlockCells cells[kStep];
#pragma unroll
    for (int b = 0; b < kStep; ++b) cells[b] = load_cells(a, piece.begin + b, piece.end, t);
    int stage = 0;
    const auto advance = [&] {
        Shape::copy(a, stages + stage * Shape::kSlots * Shape::kLd, column, f0, lane);
        commit_copies();
        stage = stage + 1 == kStages ? 0 : stage + 1;
        ahead += kStep;
        column = Shape::column(a, ahead, piece.end, lane);
    };
#pragma unroll
    for (int s = 0; s < kStages - 1; ++s) advance();
#pragma unroll
    for (int b = 0; b < kStep; ++b) {
        load_ids(a, cells[b], g, ids[b]);
        load_weights(a, ids[b], w[b]);
        load_ids(a, load_cells(a, piece.begin + kStep + b, piece.end, t), g, ids[b]);
        cells[b] = load_cells(a, piece.begin + 2 * kStep + b, piece.end, t);
    }
    int reading = 0;
    for (std::int32_t block = piece.begin; block < piece.end; block += kStep) {
        wait_copies<kStages - 2>();
        __syncwarp();
        advance();  // into the stage that was read last
        float next[kStep][2][2];
#pragma unroll
        for (int b = 0; b < kStep; ++b) {
            load_weights(a, ids[b], next[b]);
            load_ids(a, cells[b], g, ids[b]);
            cells[b] = load_cells(a, block + 3 * kStep + b, piece.end, t);
        }
        multiply<SINGLE, VEC, TILES, Shape::kLd>(stages + reading * Shape::kSlots * Shape::kLd, w, g, t, sums);
        reading = reading + 1 == kStages ? 0 : reading + 1;
#pragma unroll
        for (int b = 0; b < kStep; ++b) {
#pragma unroll
            for (int i = 0; i < 4; ++i) w[b][i / 2][i % 2] = next[b][i / 2][i % 2];
        }
    }
    wait_copies<0>();
}

/// Where row `r` of the window puts its sums, and what they are multiplied with; null: there is no such row.
template <typename T>
struct Target {
    T* y = nullptr;
    float* partial = nullptr;
    float factor = 1.0F;

    __device__ __forceinline__ Target(const Arguments<T>& a, const WindowPiece& piece, int r) {
        const std::int64_t row = static_cast<std::int64_t>(piece.window) * kWindowRows + r;
        if (row >= a.n_rows) return;
        if (piece.first_slot >= 0) {
            partial = a.partial + (static_cast<std::int64_t>(piece.first_slot) + r * piece.count + piece.index) * a.k;
            return;
        }
        y = a.y + row * a.k;
        factor = a.mean.factor(static_cast<std::int32_t>(row));
    }
    template <int N>
    __device__ __forceinline__ void store(int f, Vec<N> sum) const {
        if (partial) store_sums(partial + f, sum);
        if (!y) return;
        scale(sum, factor);
        store_streaming(y + f, sum);
    }
};

/// Adds the self loop of row `r` of the window, features f to f + N - 1: the window's first piece does.
template <typename T, int N>
__device__ __forceinline__ void add_own(const Arguments<T>& a, const WindowPiece& piece, int r, int f, Vec<N>& sum) {
    const std::int64_t row = static_cast<std::int64_t>(piece.window) * kWindowRows + r;
    if (piece.index == 0 && row < a.n_rows) a.self.add(row, a.x + f, a.k, sum);
}

/// The same sums edge by edge, for features [f0, f_end).
template <typename T>
__device__ __noinline__ void walk_edges(const Arguments<T>& a, const WindowPiece& piece, int f0, int f_end, int lane) {
    for (int f = f0 + lane; f < f_end; f += 32) {
        float sums[kWindowRows] = {};
        for (std::int32_t block = piece.begin; block < piece.end; ++block) {
            const std::int32_t end = __ldg(a.block_ptr + block + 1);
            for (std::int32_t e = __ldg(a.block_ptr + block); e < end; ++e) {
                const int position = a.tile_position[e];
                const std::int64_t col =
                    __ldg(a.block_cols + static_cast<std::int64_t>(block) * kBlockColumns + position % kBlockColumns);
                const float w = a.weight(e);
                const float x = load_value(a.x + col * a.k + f);
#pragma unroll
                for (int r = 0; r < kWindowRows; ++r) {
                    if (position / kBlockColumns == r) sums[r] = fmaf(w, x, sums[r]);
                }
            }
        }
#pragma unroll
        for (int r = 0; r < kWindowRows; ++r) {
            Vec<1> sum{{sums[r]}};
            add_own(a, piece, r, f, sum);
            Target<T>(a, piece, r).store(f, sum);
        }
    }
}

template <typename T, bool SINGLE, int VEC, int TILES, int COPY>
__global__ void __launch_bounds__(kThreads, TILES == 2 ? 7 : 10) mma_kernel(const __grid_constant__ Arguments<T> a) {
#if !defined(__CUDA_ARCH__) || \
    __CUDA_ARCH__ >= 800  // asynchronous copies, TF32, bf16; the record refuses older devices
    using Shape = Stages<T, VEC, TILES, COPY>;
    extern __shared__ float4 shared[];
    constexpr bool kWide = sizeof(T) == 4;
    constexpr int kMmas = kWide ? VEC : VEC / 2;
    constexpr int kTile = Shape::kTile;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int g = lane / 4;
    const int t = lane % 4;
    const std::int64_t at = std::int64_t{blockIdx.x} * (kThreads / 32) + threadIdx.x / 32;
    if (at >= a.n_pieces) return;
    const WindowPiece piece = a.pieces[at];
    const int f0 = static_cast<int>(blockIdx.y) * kTile * TILES;
    Sums<kMmas, TILES> sums{};
    if (piece.multiple == 0) {
        T* stages = reinterpret_cast<T*>(shared) + threadIdx.x / 32 * Shape::kElements;
        walk<T, SINGLE, VEC, TILES, COPY>(a, piece, stages, f0, lane, sums);
    }
    bool finite = piece.multiple == 0;
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
#pragma unroll
        for (int q = 0; q < kMmas; ++q) {
#pragma unroll
            for (int j = 0; j < 8; ++j) finite = finite && isfinite(sums.acc[i][q][j / 4][j % 4]);
        }
    }
    if (__any_sync(0xffffffffU, !finite)) {
        walk_edges(a, piece, f0, min(a.k, f0 + kTile * TILES), lane);
        return;
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        const int r = j / 2 * 8 + 2 * t + j % 2;
        const Target<T> target(a, piece, r);
#pragma unroll
        for (int i = 0; i < TILES; ++i) {
            if constexpr (kWide) {
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    const int f = f0 + (16 * i + 8 * h + g) * VEC;
                    if (f >= a.k) continue;
                    Vec<VEC> sum;
#pragma unroll
                    for (int q = 0; q < VEC; ++q) sum.v[q] = sums.acc[i][q][j / 2][2 * h + j % 2];
                    if (a.self.weight) add_own(a, piece, r, f, sum);
                    target.store(f, sum);
                }
            } else {
                const int f = f0 + (8 * i + g) * VEC;
                if (f >= a.k) continue;
                Vec<VEC> sum;
#pragma unroll
                for (int q = 0; q < VEC; ++q) {
                    sum.v[q] = sums.acc[i][q % kMmas][j / 2][q / kMmas * 2 + j % 2];
                }
                if (a.self.weight) add_own(a, piece, r, f, sum);
                target.store(f, sum);
            }
        }
    }
#endif
}

}  // namespace gnntune::spmm_mma

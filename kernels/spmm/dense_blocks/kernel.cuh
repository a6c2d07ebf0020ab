// spmm.dense_blocks: y[i, :] = sum over edges e of row i of w_e x[col_e, :] (+ self_weight[i] x[i, :]), for the mean divided
//                    by the number of terms; blocks of 32 x 32 cells on tensor cores.
//
// Layout   Dense blocks and the rest (kernels/formats/dense_blocks/dense_blocks.hpp); edge_weight [m] in the caller's
//          order, or null; x [n_cols, k], y [n_rows, k], row-major, device memory, aligned to elements; x, weights
//          and y are of type T: f32, f16 or bf16; self_weight [n_rows] or null.
// Work     thread block -> a piece: blocks of one block row, and a tile of 32 WARPS features; grid.y walks the others.
//          Its warps: WARPS multiply, 32 features by 32 rows each; one brings rows of x; two bring cells. They meet at
//          barriers in shared memory, kStages blocks deep; nobody else waits.
// Data     A block's 32 rows of x are copied once for the thread block, a bulk copy each, where rows are aligned to 16
//          bytes, else by cp.async or element by element. A row of a block is a bit mask: lane c of an expander counts
//          bits to find the weight of column c, and puts it where a fragment of B has it.
// Shared   kStages stages (stages.cuh), the barriers; in the end a transposed tile of sums for each warp.
// Math     f32: each operand is split in two TF32 numbers, and three products make one (error 2^-21 of the product),
//          two where there are no weights. 16 bits: products are exact. A block's products are added on tensor cores,
//          the blocks in fp32 rounded to nearest, which tensor cores do not do. Sums of the rest are added then, self
//          loops last; the result is rounded once.
// Atomics  none. The order of summation depends on the params and the graph only.
// Bounds   Where a tile reaches behind k or the last column, stages are zeroed first; what a row behind the last column
//          holds later is another block's. Empty cells multiply: 32 features of a piece whose sums are not all finite
//          are done again edge by edge, so that infinities reach only rows that have them.
#pragma once

#include "kernels/spmm/dense_blocks/products.cuh"
#include "kernels/spmm/dense_blocks/stages.cuh"

namespace gnntune::spmm_dense_blocks {

inline constexpr int kSumsLd = kWarpFeatures + 4;  ///< of a warp's tile of sums, by rows of the graph

/// The sums of blocks [begin, end) edge by edge, of feature `f` of each lane.
template <typename T>
__device__ __noinline__ void walk_edges(const Arguments<T>& a, std::int32_t begin, std::int32_t end, int f, int lane,
                                        float* tile) {
    for (int r = 0; r < kDenseBlockSize; ++r) {
        float sum = 0.0F;
        for (std::int32_t b = begin; f < a.k && b < end; ++b) {
            DenseBlockRow row = a.block_rows[static_cast<std::int64_t>(b) * kDenseBlockSize + r];
            const std::int64_t first = std::int64_t{a.block_col[b]} * kDenseBlockSize;
            for (; row.mask != 0; row.mask &= row.mask - 1, ++row.first) {
                const std::int64_t col = first + __ffs(static_cast<int>(row.mask)) - 1;
                const float w = a.edge_weight ? load_value(a.edge_weight + a.id(row.first)) : 1.0F;
                sum = fmaf(w, load_value(a.x + col * a.k + f), sum);
            }
        }
        tile[r * kSumsLd + lane] = sum;
    }
}

/// Rows whose sums of the rest are loaded together.
inline constexpr int kRowsAtOnce = 8;

/// Adds what the rest has of the block row's first `rows` rows to a warp's tile of sums; lane -> feature `f`.
template <typename T>
__device__ __forceinline__ void add_rest(const Arguments<T>& a, std::int64_t first_row, int rows, int f, int lane,
                                         float* tile) {
    std::int32_t begin = 0;  // of row `lane`
    std::int32_t behind = 0;
    if (lane < rows) {
        begin = __ldg(a.rest_ptr + first_row + lane);
        behind = __ldg(a.rest_ptr + first_row + lane + 1);
    }
    unsigned with_rest = __ballot_sync(0xffffffffU, begin < behind);
    while (with_rest != 0) {
        int row[kRowsAtOnce];
        std::int32_t next[kRowsAtOnce];
        std::int32_t end[kRowsAtOnce];
        float sum[kRowsAtOnce];
#pragma unroll
        for (int i = 0; i < kRowsAtOnce; ++i) {
            row[i] = with_rest != 0 ? __ffs(static_cast<int>(with_rest)) - 1 : -1;
            with_rest &= with_rest - 1;  // of 0 it stays 0
            next[i] = __shfl_sync(0xffffffffU, begin, max(row[i], 0));
            end[i] = __shfl_sync(0xffffffffU, behind, max(row[i], 0));
            if (row[i] < 0 || f >= a.k) end[i] = next[i];
            sum[i] = row[i] < 0 ? 0.0F : tile[row[i] * kSumsLd + lane];
        }
        for (bool more = true; more;) {
            float rest[kRowsAtOnce];
#pragma unroll
            for (int i = 0; i < kRowsAtOnce; ++i) {
                rest[i] = next[i] < end[i] ? a.rest[static_cast<std::int64_t>(next[i]) * a.k + f] : 0.0F;
            }
            more = false;
#pragma unroll
            for (int i = 0; i < kRowsAtOnce; ++i) {
                sum[i] += rest[i];
                ++next[i];
                more = more || next[i] < end[i];
            }
        }
#pragma unroll
        for (int i = 0; i < kRowsAtOnce; ++i) {
            if (row[i] >= 0) tile[row[i] * kSumsLd + lane] = sum[i];
        }
    }
    __syncwarp();
}

/// Puts a warp's tile of sums of features from f0 on to y, or to the workspace, VEC at a time.
template <int VEC, typename T>
__device__ __forceinline__ void write_tile(const Arguments<T>& a, const BlockPiece& piece, int f0, int lane,
                                           const float* tile) {
    constexpr int kLanes = kWarpFeatures / VEC;  // of a row
    const std::int64_t first_row = std::int64_t{piece.block_row} * kDenseBlockSize;
    const int rows = static_cast<int>(min(std::int64_t{kDenseBlockSize}, a.n_rows - first_row));
    const int f = f0 + lane % kLanes * VEC;
#pragma unroll 4
    for (int r = lane / kLanes; r < rows; r += 32 / kLanes) {
        if (f >= a.k) continue;
        Vec<VEC> sum;
        if constexpr (VEC == 4) {
            const float4 four = *reinterpret_cast<const float4*>(tile + r * kSumsLd + f - f0);
            sum = {{four.x, four.y, four.z, four.w}};
        } else {
            sum = {{tile[r * kSumsLd + f - f0]}};
        }
        const auto row = static_cast<std::int32_t>(first_row + r);
        if (a.self.weight && piece.index == 0) a.self.add(row, a.x + f, a.k, sum);
        if (piece.first_slot >= 0) {
            const std::int64_t slot = std::int64_t{piece.first_slot} + r * piece.count + piece.index;
            store_sums(a.partial + slot * a.k + f, sum);
            continue;
        }
        scale(sum, a.mean.factor(row));
        store_streaming(a.y + std::int64_t{row} * a.k + f, sum);
    }
}

/// A warp that multiplies: features f0 to f0 + 31, number `warp` of the tile's.
template <typename T, int WARPS, bool WEIGHTED>
__device__ __forceinline__ void consume(const Arguments<T>& a, const BlockPiece& piece, int f0, T* stages,
                                        Barriers& barriers, int warp, int lane) {
    using Shape = Stage<T, WARPS, WEIGHTED>;
    Sums sums{};
    Ring ring;
    for (std::int32_t b = piece.begin; b < piece.end; ++b, ring.next()) {
        const T* stage = stages + ring.stage * Shape::kElements;
        wait_phase(&barriers.full[ring.stage], ring.parity);
        if (f0 < a.k) {
            multiply<Shape, WEIGHTED>(stage + warp * kWarpFeatures, stage + Shape::kRows, lane, sums);
        }
        arrive(&barriers.empty[ring.stage]);
    }
    // All blocks have been multiplied by all: the stages are free.
    asm volatile("bar.sync 1, %0;" ::"n"(32 * WARPS) : "memory");
    if (f0 >= a.k) return;
    static_assert(WARPS * kDenseBlockSize * kSumsLd * sizeof(float) <= kStages * Shape::kBytes, "sums fit into stages");
    float* tile = reinterpret_cast<float*>(stages) + warp * kDenseBlockSize * kSumsLd;
    bool finite = true;
#pragma unroll
    for (int i = 0; i < 32; ++i) finite = finite && isfinite(sums.acc[i / 16][i / 4 % 4][i % 4]);
    if (__any_sync(0xffffffffU, !finite)) {
        walk_edges(a, piece.begin, piece.end, f0 + lane, lane, tile);
    } else {
        const int g = lane / 4;
        const int t = lane % 4;
#pragma unroll
        for (int i = 0; i < 32; ++i) {
            const int q = i / 16;
            const int n = i / 4 % 4;
            tile[row_of(n, i % 4, t) * kSumsLd + feature_of<T>(q, i % 4, g)] = sums.acc[q][n][i % 4];
        }
    }
    __syncwarp();
    if (a.rest && piece.index == 0) {
        const std::int64_t first_row = std::int64_t{piece.block_row} * kDenseBlockSize;
        const int rows = static_cast<int>(min(std::int64_t{kDenseBlockSize}, a.n_rows - first_row));
        add_rest(a, first_row, rows, f0 + lane, lane, tile);
    }
    if (a.fours) {
        write_tile<4>(a, piece, f0, lane, tile);
    } else {
        write_tile<1>(a, piece, f0, lane, tile);
    }
}

template <typename T, int WARPS, bool WEIGHTED>
__global__ void __launch_bounds__(Stage<T, WARPS, WEIGHTED>::kThreads, WARPS == 4 ? 2 : 3)
    dense_blocks_kernel(const __grid_constant__ Arguments<T> a) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900  // bulk copies; the record refuses older devices
    using Shape = Stage<T, WARPS, WEIGHTED>;
    extern __shared__ uint4 shared[];
    T* stages = reinterpret_cast<T*>(shared);
    Barriers& barriers = *reinterpret_cast<Barriers*>(stages + kStages * Shape::kElements);
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const BlockPiece piece = a.pieces[blockIdx.x];
    const int f0 = static_cast<int>(blockIdx.y) * Shape::kTile;
    // The last block of a row has the highest column.
    const bool whole = f0 + Shape::kTile <= a.k && (a.n_cols % kDenseBlockSize == 0 || piece.begin == piece.end ||
                                                    a.block_col[piece.end - 1] < a.n_cols / kDenseBlockSize);
    if (!whole) {
        for (unsigned i = threadIdx.x; i < kStages * Shape::kBytes / sizeof(uint4); i += Shape::kThreads) {
            shared[i] = make_uint4(0, 0, 0, 0);
        }
    }
    if (threadIdx.x == 0) {
        for (int s = 0; s < kStages; ++s) {
            start_barrier(&barriers.full[s], (a.copy == 16 ? 1 : 32) + 32 * kExpanders);
            start_barrier(&barriers.empty[s], 32 * WARPS);
        }
    }
    publish_barriers();
    __syncthreads();
    if (warp < WARPS) {
        consume<T, WARPS, WEIGHTED>(a, piece, f0 + warp * kWarpFeatures, stages, barriers, warp, lane);
    } else if (warp == WARPS) {
        produce<T, WARPS, WEIGHTED>(a, piece, f0, stages, barriers, lane);
    } else {
        expand<T, WARPS, WEIGHTED>(a, piece, stages, barriers, warp - WARPS - 1, lane);
    }
#endif
}

}  // namespace gnntune::spmm_dense_blocks

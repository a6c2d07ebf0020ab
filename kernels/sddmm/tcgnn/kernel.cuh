// sddmm.tcgnn: y[e] = act(scale w_e <x_row[row_e, :], x[col_e, :]>) for every edge e, on tensor cores (TF32 m16n16k8,
// fp32 sums)
//
// Layout   SGT tiles 16 x 8: window_ptr [windows + 1], block_ptr [blocks + 1], block_cols [blocks, 8], tile_position
//          [m], edge_id [m]; edge_weight [m] or null (caller's order); x_row [n_rows, k], x [n_cols, k], y [m],
//          row-major, device memory, x_row and x aligned to 4 VEC bytes.
// Work     block -> window of 16 rows; warp -> every warps-th pair of neighbouring TC blocks, which is a 16 x 16 tile
//          of results; features in steps of 16 TILES, those of a segment one after the other, segments outside.
// Data     The window's rows of x_row are copied to shared memory once per segment, for all warps. The 16 rows of x of
//          the warp's next step are copied (cp.async, two stages) while it multiplies the current one. A row of x is
//          read once per tile, however many edges it has there. A finished tile goes to the stage that it no longer
//          needs, from where each edge takes its cell; duplicates take the same one. The last segment's sum goes
//          through the epilogue.
// Shared   per block: x_row [16, segment + 4]; per warp: two stages [16, kLd]. Both strides spread a fragment's loads
//          over all banks.
// Sync     the warps run freely between the __syncthreads around the copy of x_row.
// Atomics  none. An edge belongs to one warp, in every segment the same lane, which adds to its own result: repeats bit
//          for bit.
// Bounds   rows behind n_rows, features behind k and missing columns are zeros in shared memory.
#pragma once

#include "kernels/formats/sgt/window_tiles.cuh"
#include "kernels/sddmm/common/edge_epilogue.hpp"

namespace gnntune::sddmm_tcgnn {

using kernels::kBlockColumns;
using kernels::kMaxWindowWarps;
using kernels::kWindowRows;
using kernels::SgtTiles;

inline constexpr int kMaxSegment = 256;  ///< features of x_row in shared memory at a time

/// Floats between rows of x_row in shared memory, and between rows of a stage.
constexpr int padded_ld(int features) {
    return features + 4;
}

/// Hands the results of a pair of TC blocks to its edges: `add` to those of earlier segments, `last` finishes them. One
/// warp.
__device__ __forceinline__ void write_edges(const SgtTiles& t, std::int64_t block, bool has_second, const float* cells,
                                            int ld, bool add, bool last, const kernels::EdgeEpilogue& epilogue,
                                            float* __restrict__ y, int lane) {
    const auto begin = static_cast<std::uint32_t>(t.block_ptr[block]);
    const auto middle = static_cast<std::uint32_t>(t.block_ptr[block + 1]);
    const auto end = has_second ? static_cast<std::uint32_t>(t.block_ptr[block + 2]) : middle;
    for (std::uint32_t e = begin + static_cast<std::uint32_t>(lane); e < end; e += 32) {
        const int position = t.tile_position[e];
        const std::int32_t id = t.edge_id[e];
        const int col = position % kBlockColumns + (e < middle ? 0 : kBlockColumns);
        float value = cells[position / kBlockColumns * ld + col];
        if (add) value += y[id];
        if (last) {
            // Once, of the whole product: parts of either sign times an infinite weight would make no number.
            if (t.edge_weight) value *= __ldg(t.edge_weight + id);
            value = epilogue(value);
        }
        y[id] = value;
    }
}

/// `segment` is a multiple of 16 TILES. grid.x = windows; segments cover k.
template <int TILES, int VEC>
__global__ void __launch_bounds__(kMaxWindowWarps * 32)
    window_kernel(SgtTiles t, const float* __restrict__ x_row, const float* __restrict__ x, float* __restrict__ y,
                  kernels::EdgeEpilogue epilogue, std::int32_t n_rows, std::int32_t k, int segment) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800  // TF32; the record refuses older devices
    namespace wmma = nvcuda::wmma;
    constexpr int kStep = 16 * TILES;
    constexpr int kLd = padded_ld(kStep);
    constexpr int kStage = kWindowRows * kLd;
    extern __shared__ __align__(128) float shared[];

    const std::int32_t first = t.window_ptr[blockIdx.x];
    const auto count = static_cast<std::uint32_t>(t.window_ptr[blockIdx.x + 1] - first);
    if (count == 0) return;
    const std::uint32_t pairs = (count + 1) / 2;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto warp = threadIdx.x / 32;
    const auto warps = blockDim.x / 32;
    const int row_ld = padded_ld(segment);
    float* stages = shared + kWindowRows * row_ld + warp * 2 * kStage;
    const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * kWindowRows;

    // Both TC blocks' columns lie one after the other.
    const auto cols_of = [&](std::uint32_t pair) {
        const std::int64_t at = (std::int64_t{first} + 2 * std::int64_t{pair}) * kBlockColumns + lane;
        const bool here =
            pair < pairs && lane < kWindowRows && 2 * pair + static_cast<unsigned>(lane / kBlockColumns) < count;
        return here ? __ldg(t.block_cols + at) : -1;
    };

    for (std::int32_t begin = 0; begin < k; begin += segment) {
        const std::int32_t end = k - begin < segment ? k : begin + segment;
        const int steps = (end - begin + kStep - 1) / kStep;
        if (begin > 0) __syncthreads();  // x_row of the last segment is no longer needed
        for (int i = static_cast<int>(threadIdx.x); i < kWindowRows * steps * kStep / VEC;
             i += static_cast<int>(blockDim.x)) {
            const int row = i / (steps * kStep / VEC);
            const int c = i % (steps * kStep / VEC) * VEC;
            const bool here = first_row + row < n_rows && begin + c < end;
            kernels::copy_async<4 * VEC>(shared + row * row_ld + c,
                                         here ? x_row + (first_row + row) * k + begin + c : x_row, here);
        }
        kernels::commit_copies();

        const auto gather = [&](int stage, std::int32_t col_of_lane, int step) {
            kernels::gather_rows_async<kWindowRows, kStep, kLd, VEC>(stages + stage * kStage, x, col_of_lane,
                                                                     begin + step * kStep, end, k, lane);
        };
        int stage = 0;
        std::int32_t col = cols_of(warp);
        if (warp < pairs) gather(0, col, 0);
        kernels::commit_copies();
        kernels::wait_copies<1>();
        __syncthreads();

        for (std::uint32_t pair = warp; pair < pairs; pair += warps) {
            const std::int32_t next_col = cols_of(pair + warps);
            wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
            wmma::fill_fragment(sum, 0.0F);
            for (int step = 0; step < steps; ++step) {
                if (step + 1 < steps) {
                    gather(stage ^ 1, col, step + 1);
                } else if (pair + warps < pairs) {
                    gather(stage ^ 1, next_col, 0);
                }
                kernels::commit_copies();
                kernels::wait_copies<1>();
                __syncwarp();
                const float* rows = shared + step * kStep;
                const float* cols = stages + stage * kStage;
#pragma unroll
                for (int f = 0; f < kStep; f += 8) {
                    if (begin + step * kStep + f >= end) break;
                    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> left;
                    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> right;
                    wmma::load_matrix_sync(left, rows + f, static_cast<unsigned>(row_ld));
                    wmma::load_matrix_sync(right, cols + f, kLd);
                    kernels::round_to_tf32(left);
                    kernels::round_to_tf32(right);
                    wmma::mma_sync(sum, left, right, sum);
                }
                __syncwarp();  // the stage is written again
                stage ^= 1;
            }
            float* cells = stages + (stage ^ 1) * kStage;
            wmma::store_matrix_sync(cells, sum, kLd, wmma::mem_row_major);
            __syncwarp();
            write_edges(t, std::int64_t{first} + 2 * std::int64_t{pair}, 2 * pair + 1 < count, cells, kLd, begin > 0,
                        end == k, epilogue, y, lane);
            __syncwarp();
            col = next_col;
        }
        kernels::wait_copies<0>();
    }
#endif
}

}  // namespace gnntune::sddmm_tcgnn

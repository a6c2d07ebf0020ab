// spmm.tcgnn: y[i, :] = sum over edges e of row i of w_e x[col_e, :], on tensor cores (TF32 m16n16k8, fp32 sums)
//
// Layout   SGT tiles: window_ptr [windows + 1], block_ptr [blocks + 1], block_cols [blocks, 8], tile_position [m],
//          edge_id [m]; edge_weight [m] or null (caller's order); x [n_cols, k], y [n_rows, k], row-major, device
//          memory, x and y aligned to 4 VEC bytes.
// Work     block (w, f) -> window w of 16 rows, features [16 TILES f, 16 TILES (f + 1)); warp -> every warps-th TC
//          block of the window, all TILES feature tiles; TILES accumulators of 16 x 16 stay in its registers. The
//          warps' sums meet once, at the end.
// Data     The rows of x of the warp's next TC block are copied to shared memory (cp.async, two stages) while it works
//          on the current one: expands its edges into a dense 16 x 8 tile, rounds both operands, multiplies. Columns of
//          the next but one are read ahead. Each row of x is read once per TC block, however many edges it has there.
// Shared   per warp: A [16, kTileLd], and two stages [8, kLd] of x, whose place its sums [16, kLd] take at the end.
//          Both strides spread a fragment's loads over all banks.
// Sync     the warps run freely; one __syncthreads before the sums are added.
// Atomics  none. Duplicates of an edge are neighbours: the lane of the first adds them up in order. Sums of the warps
//          are added in the order of the warps. Repeats bit for bit.
// Bounds   features behind k and missing columns are zeros in shared memory; y is written inside n_rows and k only.
// Limit    a tile's empty cells multiply: an infinite or NaN feature makes its column NaN in all 16 rows of the window.
#pragma once

#include "kernels/common/vec.cuh"
#include "kernels/formats/sgt/window_tiles.cuh"

namespace gnntune::spmm_tcgnn {

using kernels::kBlockColumns;
using kernels::kMaxWindowWarps;
using kernels::kWindowRows;
using kernels::SgtTiles;

inline constexpr int kTileLd = 12;  ///< floats between rows of A

/// Floats between rows of a stage.
constexpr int stage_ld(int tiles) {
    return 16 * tiles + 8;
}
/// Floats of shared memory of one warp.
constexpr int warp_floats(int tiles) {
    return kWindowRows * kTileLd + 2 * kBlockColumns * stage_ld(tiles);
}

/// The edges [begin, end) of a TC block as a dense tile. One warp; the caller synchronises it before and after.
__device__ __forceinline__ void expand_tile(const SgtTiles& t, std::uint32_t begin, std::uint32_t end, float* a,
                                            int lane) {
    for (int i = lane; i < kWindowRows * kTileLd / 4; i += 32)
        reinterpret_cast<float4*>(a)[i] = make_float4(0, 0, 0, 0);
    __syncwarp();
    for (std::uint32_t e = begin + static_cast<std::uint32_t>(lane); e < end; e += 32) {
        const int position = t.tile_position[e];
        float w = t.edge_weight ? __ldg(t.edge_weight + t.edge_id[e]) : 1.0F;
        if (e > begin && t.tile_position[e - 1] == position) continue;  // the first of them adds it
        for (std::uint32_t d = e + 1; d < end && t.tile_position[d] == position; ++d) {
            w += t.edge_weight ? __ldg(t.edge_weight + t.edge_id[d]) : 1.0F;
        }
        a[position / kBlockColumns * kTileLd + position % kBlockColumns] = w;
    }
}

template <int TILES, int VEC>
__global__ void __launch_bounds__(kMaxWindowWarps * 32)
    window_kernel(SgtTiles t, const float* __restrict__ x, float* __restrict__ y, std::int32_t n_rows, std::int32_t k) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800  // TF32; the record refuses older devices
    namespace wmma = nvcuda::wmma;
    constexpr int kColumns = 16 * TILES;
    constexpr int kLd = stage_ld(TILES);
    extern __shared__ __align__(128) float shared[];

    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto warp = threadIdx.x / 32;
    const auto warps = blockDim.x / 32;
    float* a = shared + warp * warp_floats(TILES);
    float* stages = a + kWindowRows * kTileLd;
    const std::int32_t f0 = static_cast<std::int32_t>(blockIdx.y) * kColumns;

    const std::int32_t first = t.window_ptr[blockIdx.x];
    const auto count = static_cast<std::uint32_t>(t.window_ptr[blockIdx.x + 1] - first);
    const std::int32_t* cols = t.block_cols + static_cast<std::int64_t>(first) * kBlockColumns;
    const auto cols_of = [&](std::uint32_t b) {
        const bool here = b < count && lane < kBlockColumns;
        return here ? __ldg(cols + static_cast<std::int64_t>(b) * kBlockColumns + lane) : -1;
    };
    const auto gather = [&](int stage, std::int32_t col_of_lane) {
        float* target = stages + stage * kBlockColumns * kLd;
        kernels::gather_rows_async<kBlockColumns, kColumns, kLd, VEC>(target, x, col_of_lane, f0, k, k, lane);
    };

    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum[TILES];
#pragma unroll
    for (int i = 0; i < TILES; ++i) wmma::fill_fragment(sum[i], 0.0F);

    int stage = 0;
    if (warp < count) gather(0, cols_of(warp));
    kernels::commit_copies();
    std::int32_t next_col = cols_of(warp + warps);
    for (std::uint32_t b = warp; b < count; b += warps) {
        if (b + warps < count) gather(stage ^ 1, next_col);
        kernels::commit_copies();
        next_col = cols_of(b + 2 * warps);
        const std::int32_t* edges = t.block_ptr + first + b;
        expand_tile(t, static_cast<std::uint32_t>(__ldg(edges)), static_cast<std::uint32_t>(__ldg(edges + 1)), a, lane);
        kernels::wait_copies<1>();
        __syncwarp();

        wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> left;
        wmma::load_matrix_sync(left, a, kTileLd);
        kernels::round_to_tf32(left);
#pragma unroll
        for (int i = 0; i < TILES; ++i) {
            wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> right;
            wmma::load_matrix_sync(right, stages + stage * kBlockColumns * kLd + 16 * i, kLd);
            kernels::round_to_tf32(right);
            wmma::mma_sync(sum[i], left, right, sum[i]);
        }
        __syncwarp();  // A and this stage are written again
        stage ^= 1;
    }
    kernels::wait_copies<0>();

    const auto active = count < warps ? count : warps;  // warps that had a TC block
    if (warp < active) {
#pragma unroll
        for (int i = 0; i < TILES; ++i) wmma::store_matrix_sync(stages + 16 * i, sum[i], kLd, wmma::mem_row_major);
    }
    __syncthreads();
    const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * kWindowRows;
    const float* sums = shared + kWindowRows * kTileLd;
    for (auto i = threadIdx.x; i < kWindowRows * kColumns / VEC; i += blockDim.x) {
        const auto row = i / (kColumns / VEC);
        const auto c = i % (kColumns / VEC) * VEC;
        const std::int32_t f = f0 + static_cast<std::int32_t>(c);
        if (first_row + row >= n_rows || f >= k) continue;
        kernels::Vec<VEC> total;
        kernels::zero(total);
        for (unsigned w = 0; w < active; ++w) {
            const float* part = sums + w * warp_floats(TILES) + row * kLd + c;
#pragma unroll
            for (int j = 0; j < VEC; ++j) total.v[j] += part[j];
        }
        kernels::store_streaming(y + (first_row + row) * k + f, total);
    }
#endif
}

}  // namespace gnntune::spmm_tcgnn

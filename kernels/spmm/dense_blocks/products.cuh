// A block of spmm.dense_blocks on tensor cores: 32 features by 32 columns of x times 32 columns by 32 rows of the
// graph.
#pragma once

#include "kernels/spmm/dense_blocks/stages.cuh"

namespace gnntune::spmm_dense_blocks {

/// Sums of a lane: [q][n] are those of mma q along the features and rows 8 n to 8 n + 7.
struct Sums {
    float acc[2][4][4];
};

/// Feature and row, of the warp's 32 x 32, of number i of mma q and rows 8 n on.
template <typename T>
__device__ __forceinline__ int feature_of(int q, int i, int g) {
    return sizeof(T) == 4 ? (8 * (i / 2) + g) * 2 + q : 16 * q + 8 * (i / 2) + g;
}
__device__ __forceinline__ int row_of(int n, int i, int t) {
    return 8 * n + 2 * t + i % 2;
}

__device__ __forceinline__ void add_up(Sums& sums, const Sums& block) {
#pragma unroll
    for (int q = 0; q < 2; ++q) {
#pragma unroll
        for (int n = 0; n < 4; ++n) {
#pragma unroll
            for (int i = 0; i < 4; ++i) sums.acc[q][n][i] += block.acc[q][n][i];
        }
    }
}

/// In f32: three products of TF32 numbers, two where all weights are 1, whose low part is 0. `x` is the warp's first
/// feature of column 0, `cells` the fragments.
template <typename Shape, bool WEIGHTED>
__device__ __forceinline__ void multiply(const float* x, const float* cells, int lane, Sums& sums) {
    const int g = lane / 4;
    const int t = lane % 4;
    Sums block{};
#pragma unroll
    for (int step = 0; step < Shape::kSteps; ++step) {
        std::uint32_t high[2][4];
        std::uint32_t low[2][4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            // Number j of a: column t or t + 4 by feature row g or g + 8.
            const Vec<2> pair = load_written<2>(x + (8 * step + j / 2 * 4 + t) * Shape::kLd + (8 * (j % 2) + g) * 2);
#pragma unroll
            for (int q = 0; q < 2; ++q) {
                const Split parts = split<false>(pair.v[q]);
                high[q][j] = parts.high;
                low[q][j] = parts.low;
            }
        }
#pragma unroll
        for (int n = 0; n < 4; ++n) {
            const float* from = cells + step * Shape::kStep + (32 * n + lane) * Shape::kNumbers;
            if constexpr (WEIGHTED) {
                const uint4 b = *reinterpret_cast<const uint4*>(from);
                const std::uint32_t b_high[2] = {b.x, b.z};
                const std::uint32_t b_low[2] = {b.y, b.w};
#pragma unroll
                for (int q = 0; q < 2; ++q) {
                    mma_tf32(block.acc[q][n], low[q], b_high, block.acc[q][n]);
                    mma_tf32(block.acc[q][n], high[q], b_low, block.acc[q][n]);
                    mma_tf32(block.acc[q][n], high[q], b_high, block.acc[q][n]);
                }
            } else {
                const uint2 b = *reinterpret_cast<const uint2*>(from);
                const std::uint32_t ones[2] = {b.x, b.y};
#pragma unroll
                for (int q = 0; q < 2; ++q) {
                    mma_tf32(block.acc[q][n], low[q], ones, block.acc[q][n]);
                    mma_tf32(block.acc[q][n], high[q], ones, block.acc[q][n]);
                }
            }
        }
    }
    add_up(sums, block);
}

/// Fragment of a, 16 features by 16 columns, from columns that lie in rows: lane l gives the address of a row of 8
/// features, l % 8 of matrix l / 8.
__device__ __forceinline__ void load_transposed(const void* row, std::uint32_t (&a)[4]) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(shared_address(row))
                 : "memory");
}

/// In 16 bits: products are exact.
template <typename Shape, bool, typename T>
__device__ __forceinline__ void multiply(const T* x, const T* cells, int lane, Sums& sums) {
    Sums block{};
#pragma unroll
    for (int step = 0; step < Shape::kSteps; ++step) {
        std::uint32_t a[2][4];
#pragma unroll
        for (int q = 0; q < 2; ++q) {
            load_transposed(x + (16 * step + lane / 16 * 8 + lane % 8) * Shape::kLd + 16 * q + lane / 8 % 2 * 8, a[q]);
        }
#pragma unroll
        for (int n = 0; n < 4; ++n) {
            const uint2 b =
                *reinterpret_cast<const uint2*>(cells + step * Shape::kStep + (32 * n + lane) * Shape::kNumbers);
            const std::uint32_t pairs[2] = {b.x, b.y};
#pragma unroll
            for (int q = 0; q < 2; ++q) mma_16<T>(block.acc[q][n], a[q], pairs, block.acc[q][n]);
        }
    }
    add_up(sums, block);
}

}  // namespace gnntune::spmm_dense_blocks

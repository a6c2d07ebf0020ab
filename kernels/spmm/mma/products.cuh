// A step of spmm.mma on tensor cores: from rows of x in shared memory and the weights of a lane's cells to its sums.
#pragma once

#include <cstdint>

#include "kernels/common/elements.cuh"
#include "kernels/common/tensor_cores.cuh"

namespace gnntune::spmm_mma {

using namespace kernels;  // NOLINT: this header and kernel.cuh are included by launch_typed.cuh alone

/// Sums of a lane. acc[.][q][n] has those of mma q and rows 8 n to 8 n + 7: of row 8 n + 2 t and 8 n + 2 t + 1, first
/// for a feature of the lane's first vector, then of its second.
template <int VECTORS, int TILES>
struct Sums {
    float acc[TILES][VECTORS][2][4];
};

__device__ __forceinline__ void add_up(float (&acc)[4], const float (&d)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) acc[i] += d[i];
}

/// Multiplies a step in f32: lane g, t has features 8 VEC h + VEC g + q of both of its columns, for h = 0 and 1.
template <bool SINGLE, int VEC, int TILES, int LD>
__device__ __forceinline__ void multiply(const float* stage, const float (&w)[1][2][2], int g, int t,
                                         Sums<VEC, TILES>& sums) {
    std::uint32_t high[2][2];
    std::uint32_t low[2][2];
#pragma unroll
    for (int n = 0; n < 2; ++n) {
#pragma unroll
        for (int c = 0; c < 2; ++c) {
            const Split s = split<SINGLE>(w[0][c][n]);
            high[n][c] = s.high;
            low[n][c] = s.low;
        }
    }
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
        Vec<VEC> value[2][2];
#pragma unroll
        for (int c = 0; c < 2; ++c) {
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                value[c][h] = load_written<VEC>(stage + (4 * c + t) * LD + (16 * i + 8 * h + g) * VEC);
            }
        }
#pragma unroll
        for (int q = 0; q < VEC; ++q) {
            std::uint32_t x_high[4];
            std::uint32_t x_low[4];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const Split s = split<SINGLE>(value[j / 2][j % 2].v[q]);
                x_high[j] = s.high;
                x_low[j] = s.low;
            }
#pragma unroll
            for (int n = 0; n < 2; ++n) {
                float d[4] = {0.0F, 0.0F, 0.0F, 0.0F};
                if constexpr (!SINGLE) {
                    mma_tf32(d, x_low, high[n], d);
                    mma_tf32(d, x_high, low[n], d);
                }
                mma_tf32(d, x_high, high[n], d);
                add_up(sums.acc[i][q][n], d);
            }
        }
    }
}

/// Multiplies a step in 16 bits: lane g, t has features VEC g + q of its four columns; those from VEC / 2 on are rows 8
/// to 15 of A.
template <bool, int VEC, int TILES, int LD, typename T>
__device__ __forceinline__ void multiply(const T* stage, const float (&w)[2][2][2], int g, int t,
                                         Sums<VEC / 2, TILES>& sums) {
    std::uint32_t rows[2][2];
#pragma unroll
    for (int n = 0; n < 2; ++n) {
#pragma unroll
        for (int b = 0; b < 2; ++b) {
            const Pack<T, 2> pair{{narrowed<T>(w[b][0][n]), narrowed<T>(w[b][1][n])}};
            rows[n][b] = reinterpret_cast<const std::uint32_t&>(pair);
        }
    }
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
        Pack<T, VEC> value[2][2];
#pragma unroll
        for (int b = 0; b < 2; ++b) {
#pragma unroll
            for (int c = 0; c < 2; ++c) {
                value[b][c] =
                    *reinterpret_cast<const Pack<T, VEC>*>(stage + (8 * b + 4 * c + t) * LD + (8 * i + g) * VEC);
            }
        }
#pragma unroll
        for (int q = 0; q < VEC / 2; ++q) {
            std::uint32_t x[4];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const int f = q + j % 2 * (VEC / 2);
                const Pack<T, 2> pair{{value[j / 2][0].v[f], value[j / 2][1].v[f]}};
                x[j] = reinterpret_cast<const std::uint32_t&>(pair);
            }
#pragma unroll
            for (int n = 0; n < 2; ++n) {
                float d[4] = {0.0F, 0.0F, 0.0F, 0.0F};
                mma_16<T>(d, x, rows[n], d);
                add_up(sums.acc[i][q][n], d);
            }
        }
    }
}

}  // namespace gnntune::spmm_mma

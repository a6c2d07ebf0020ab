// What the tensor-core kernels over SGT tiles share: gathering rows of features into shared memory, rounding to TF32.
#pragma once

#include <mma.h>

#include "core/graph/formats.hpp"
#include "kernels/common/async_copy.cuh"
#include "kernels/formats/sgt/window_warps.hpp"

namespace gnntune::kernels {

/// The arrays of an SgtFormat, and the weights of a run in the caller's order or null.
struct SgtTiles {
    SgtTiles(const SgtFormat& g, const float* weight)
        : window_ptr(g.window_ptr),
          block_ptr(g.block_ptr),
          block_cols(g.block_cols),
          tile_position(g.tile_position),
          edge_id(g.edge_id),
          edge_weight(weight) {}

    const std::int32_t* __restrict__ window_ptr;
    const std::int32_t* __restrict__ block_ptr;
    const std::int32_t* __restrict__ block_cols;
    const std::uint8_t* __restrict__ tile_position;
    const std::int32_t* __restrict__ edge_id;
    const float* __restrict__ edge_weight;
};

/// One warp starts the copy of ROWS rows of x, COLUMNS features from f0 on, to `stage` [ROWS, LD] in shared memory.
/// Lane r holds the id of row r, -1 for none; those rows, and features from f_end on, become zeros. VEC divides f0,
/// COLUMNS and f_end; x is aligned to 4 VEC bytes, and so are its rows. All lanes must call.
template <int ROWS, int COLUMNS, int LD, int VEC>
__device__ __forceinline__ void gather_rows_async(float* stage, const float* __restrict__ x, std::int32_t row_of_lane,
                                                  std::int32_t f0, std::int32_t f_end, std::int32_t k, int lane) {
    constexpr int kVectors = COLUMNS / VEC;
    static_assert(ROWS * kVectors % 32 == 0, "every lane takes part in every step");
    static_assert(LD % 4 == 0, "rows of the stage start at multiples of 16 bytes");
#pragma unroll
    for (int base = 0; base < ROWS * kVectors; base += 32) {
        const int i = base + lane;
        const int row = i / kVectors;
        const int c = i % kVectors * VEC;
        const std::int32_t source = __shfl_sync(0xffffffffU, row_of_lane, row);
        const bool here = source >= 0 && f0 + c < f_end;
        const float* from = here ? x + static_cast<std::int64_t>(source) * k + f0 + c : x;
        copy_async<4 * VEC>(stage + row * LD + c, from, here);
    }
}

/// Operands are rounded to nearest: the tensor cores would cut the low bits off.
template <typename Fragment>
__device__ __forceinline__ void round_to_tf32(Fragment& fragment) {
#pragma unroll
    for (int i = 0; i < fragment.num_elements; ++i) fragment.x[i] = nvcuda::wmma::__float_to_tf32(fragment.x[i]);
}

}  // namespace gnntune::kernels

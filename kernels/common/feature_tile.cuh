// Tiles of feature vectors that a group of lanes holds in registers, and dot products with them, for kernels that use a
// gathered row twice, for a dot product and for a weighted sum, or two rows that lie in the same place.
//
// A tile has lanes ITEMS VEC features; lane l holds the vectors f0 + i lanes VEC, f0 = tile begin + l VEC. Rows that
// are wider than a tile are covered by several blocks (grid.y): each sums its own tile, and multiplies all the others
// again, from global memory, for the dot product. Rows are of type T: f32, f16 or bf16; sums are fp32.
#pragma once

#include "kernels/common/attention.cuh"
#include "kernels/common/row_dots.cuh"

namespace gnntune::kernels {

template <typename T, int VEC, int ITEMS>
__device__ __forceinline__ float dot_all(const Pack<T, VEC> (&a)[ITEMS], const Pack<T, VEC> (&b)[ITEMS]) {
    float sum = 0.0F;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) sum = dot(sum, a[i], b[i]);
    return sum;
}

/// This lane's part of the tile of `row`; zeros beyond k, and everywhere if not `here`.
template <typename T, int VEC, int ITEMS>
__device__ __forceinline__ void load_tile(const Team& t, const T* __restrict__ row, bool here, int f0, std::int32_t k,
                                          Pack<T, VEC> (&out)[ITEMS]) {
    const int step = t.lanes * VEC;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        zero(out[i]);
        if (here && f0 + i * step < k) out[i] = load_pack<VEC>(row + f0 + i * step);
    }
}

/// Calls use(f) for every vector of the row that this lane owns outside its tile.
template <int VEC, int ITEMS, typename Use>
__device__ __forceinline__ void outside_tile(const Team& t, int f0, std::int32_t k, Use use) {
    const int step = t.lanes * VEC;
    if (step * ITEMS >= k) return;
    const int own = f0 - t.lane * VEC;
    for (int begin = 0; begin < k; begin += step) {
        const int f = begin + t.lane * VEC;
        if (f < k && (begin < own || begin >= own + step * ITEMS)) use(f);
    }
}

/// <a, b> over the whole rows, in every lane of the group. `tile_a` and `tile_b` are the tiles that are loaded already.
template <typename T, int VEC, int ITEMS>
__device__ __forceinline__ float full_dot(const Team& t, const T* __restrict__ a, const Pack<T, VEC> (&tile_a)[ITEMS],
                                          const T* __restrict__ b, const Pack<T, VEC> (&tile_b)[ITEMS], int f0,
                                          std::int32_t k) {
    float sum = dot_all(tile_a, tile_b);
    outside_tile<VEC, ITEMS>(t, f0, k, [&](int f) { sum = dot(sum, load_pack<VEC>(a + f), load_pack<VEC>(b + f)); });
    return lanes_sum(t, sum);
}

}  // namespace gnntune::kernels

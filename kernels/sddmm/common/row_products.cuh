// Dot products of rows of two matrices on tensor cores, a step of features at a time: what a lane loads of a row, and
// tiles of 16 x 8 products.
//
// A dot product adds its features in any order, so the fragments of both operands are vectors of rows as they stand in
// memory. With g = lane / 4: the left operand of a tile is 16 rows, of which the lane has rows g and g + 8; the right
// one 8 rows, of which it has row g. f32: each number is split in two of TF32, and three products make one, or it is
// rounded to one (SINGLE). 16 bits: products are exact. The products of a step are added on tensor cores, which round
// towards zero, the steps in fp32 rounded to nearest.
#pragma once

#include "kernels/common/elements.cuh"
#include "kernels/common/group_reduce.cuh"
#include "kernels/common/tensor_cores.cuh"

namespace gnntune::kernels {

/// 16 bytes of a row: features f to f + VEC - 1 and the same 4 VEC, 8 VEC, .. on. The four lanes of a group together
/// have kStep features in a row. Which of them meet in which mma is of no account, as long as it is the same in both
/// operands: elements are factors of the mmas as they were loaded.
template <typename T, int VEC>
struct RowSlice {
    static constexpr int kElements = 16 / static_cast<int>(sizeof(T));
    static constexpr int kStep = 4 * kElements;

    Pack<T, VEC> part[kElements / VEC];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (Pack<T, VEC>& p : part) zero(p);
    }
    /// Loads what there is of row `row` of x, which is nothing where it is negative, and keeps the rest as it was, or
    /// makes zeros of what is behind k. The address is one product and sum: `f` is the same in all rows of a lane.
    template <bool CLEAR>
    __device__ __forceinline__ void load(const T* x, std::int32_t row, std::int32_t k, int f) {
        const auto row_bytes = static_cast<std::uint32_t>(k) * static_cast<std::uint32_t>(sizeof(T));
        const auto* from = reinterpret_cast<const T*>(reinterpret_cast<const unsigned char*>(x + f) +
                                                      std::uint64_t{static_cast<std::uint32_t>(row)} * row_bytes);
#pragma unroll
        for (int j = 0; j < kElements / VEC; ++j) {
            if (CLEAR && f + 4 * VEC * j >= k) zero(part[j]);
            if (row >= 0 && f + 4 * VEC * j < k) part[j] = load_pack<VEC>(from + 4 * VEC * j);
        }
    }
    __device__ __forceinline__ T element(int i) const {
        return part[i / VEC].v[i % VEC];
    }
    /// Elements 2 i and 2 i + 1, of 16 bits each.
    __device__ __forceinline__ std::uint32_t pair(int i) const {
        const Pack<T, 2> pair{{element(2 * i), element(2 * i + 1)}};
        return reinterpret_cast<const std::uint32_t&>(pair);
    }
};

/// 8 rows in a step as the right operand of its two mmas, in f32 of two numbers each.
template <typename T, bool SINGLE>
struct RightRows {
    std::uint32_t b[2][2];

    template <int VEC>
    __device__ __forceinline__ explicit RightRows(const RowSlice<T, VEC>& row) {
#pragma unroll
        for (int i = 0; i < 4; ++i) b[i / 2][i % 2] = row.pair(i);
    }
};
template <bool SINGLE>
struct RightRows<float, SINGLE> {
    std::uint32_t high[2][2];
    std::uint32_t low[2][2];

    template <int VEC>
    __device__ __forceinline__ explicit RightRows(const RowSlice<float, VEC>& row) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const Split s = split<SINGLE>(row.element(i));
            high[i / 2][i % 2] = s.high;
            low[i / 2][i % 2] = s.low;
        }
    }
};

/// Rows g and g + 8 in a step as the left operand of its two mmas.
template <typename T, bool SINGLE>
struct LeftRows {
    std::uint32_t a[2][4];

    template <int VEC>
    __device__ __forceinline__ void set(const RowSlice<T, VEC>& upper, const RowSlice<T, VEC>& lower) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            a[i / 2][i % 2 * 2] = upper.pair(i);
            a[i / 2][i % 2 * 2 + 1] = lower.pair(i);
        }
    }
    /// sum += products of these rows with those of the other operand.
    __device__ __forceinline__ void multiply(const RightRows<T, SINGLE>& right, float (&sum)[4]) const {
        float d[4] = {0.0F, 0.0F, 0.0F, 0.0F};
#pragma unroll
        for (int q = 0; q < 2; ++q) mma_16<T>(d, a[q], right.b[q], d);
        add_up(sum, d);
    }
};
template <bool SINGLE>
struct LeftRows<float, SINGLE> {
    std::uint32_t high[2][4];
    std::uint32_t low[2][4];

    template <int VEC>
    __device__ __forceinline__ void set(const RowSlice<float, VEC>& upper, const RowSlice<float, VEC>& lower) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const Split up = split<SINGLE>(upper.element(i));
            const Split down = split<SINGLE>(lower.element(i));
            high[i / 2][i % 2 * 2] = up.high;
            high[i / 2][i % 2 * 2 + 1] = down.high;
            low[i / 2][i % 2 * 2] = up.low;
            low[i / 2][i % 2 * 2 + 1] = down.low;
        }
    }
    __device__ __forceinline__ void multiply(const RightRows<float, SINGLE>& right, float (&sum)[4]) const {
        float d[4] = {0.0F, 0.0F, 0.0F, 0.0F};
        if constexpr (!SINGLE) {  // small ones first: what is cut off is a part of the sum so far
#pragma unroll
            for (int q = 0; q < 2; ++q) {
                mma_tf32(d, low[q], right.high[q], d);
                mma_tf32(d, high[q], right.low[q], d);
            }
        }
#pragma unroll
        for (int q = 0; q < 2; ++q) mma_tf32(d, high[q], right.high[q], d);
        add_up(sum, d);
    }
};

/// <left, right> of k features in fp32 by a whole warp, in every lane. For the few that need it: small, not fast.
template <typename T>
__device__ __forceinline__ float warp_dot(const T* left, const T* right, std::int32_t k, int lane) {
    float sum = 0.0F;
#pragma unroll 1
    for (std::int32_t f = lane; f < k; f += 32) sum = fmaf(load_value(left + f), load_value(right + f), sum);
    return warp_sum(sum);
}

}  // namespace gnntune::kernels

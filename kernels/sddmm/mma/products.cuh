// A step of sddmm.mma on tensor cores: what a lane loads of the rows of both operands, and their products.
#pragma once

#include "kernels/common/elements.cuh"
#include "kernels/common/tensor_cores.cuh"

namespace gnntune::sddmm_mma {

using namespace kernels;  // NOLINT: this header and kernel.cuh are included by launch_typed.cuh alone

/// 16 bytes of a row: features f to f + VEC - 1 and the same 4 VEC, 8 VEC, .. on. The four lanes of a group together
/// have kStep features in a row. Which of them meet in which mma is of no account, as long as it is the same in both
/// operands: elements are factors of the mmas as they were loaded.
template <typename T, int VEC>
struct Slice {
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

/// Rows g and g + 8 of the window in a step as the left operand of its two mmas.
template <typename T, bool SINGLE>
struct Rows {
    std::uint32_t a[2][4];

    template <int VEC>
    __device__ __forceinline__ Rows(const Slice<T, VEC>& upper, const Slice<T, VEC>& lower) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            a[i / 2][i % 2 * 2] = upper.pair(i);
            a[i / 2][i % 2 * 2 + 1] = lower.pair(i);
        }
    }
    /// sum += products of the rows with the columns of a TC block, of which the lane has column g.
    template <int VEC>
    __device__ __forceinline__ void multiply(const Slice<T, VEC>& column, float (&sum)[4]) const {
        float d[4] = {0.0F, 0.0F, 0.0F, 0.0F};
#pragma unroll
        for (int q = 0; q < 2; ++q) {
            const std::uint32_t b[2] = {column.pair(2 * q), column.pair(2 * q + 1)};
            mma_16<T>(d, a[q], b, d);
        }
        add_up(sum, d);
    }
};
template <bool SINGLE>
struct Rows<float, SINGLE> {
    std::uint32_t high[2][4];
    std::uint32_t low[2][4];

    template <int VEC>
    __device__ __forceinline__ Rows(const Slice<float, VEC>& upper, const Slice<float, VEC>& lower) {
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
    template <int VEC>
    __device__ __forceinline__ void multiply(const Slice<float, VEC>& column, float (&sum)[4]) const {
        std::uint32_t column_high[2][2];
        std::uint32_t column_low[2][2];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const Split s = split<SINGLE>(column.element(i));
            column_high[i / 2][i % 2] = s.high;
            column_low[i / 2][i % 2] = s.low;
        }
        float d[4] = {0.0F, 0.0F, 0.0F, 0.0F};
        if constexpr (!SINGLE) {  // small ones first: what is cut off is a part of the sum so far
#pragma unroll
            for (int q = 0; q < 2; ++q) {
                mma_tf32(d, low[q], column_high[q], d);
                mma_tf32(d, high[q], column_low[q], d);
            }
        }
#pragma unroll
        for (int q = 0; q < 2; ++q) mma_tf32(d, high[q], column_high[q], d);
        add_up(sum, d);
    }
};

}  // namespace gnntune::sddmm_mma

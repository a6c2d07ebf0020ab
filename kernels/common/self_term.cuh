// What a self loop adds to its row, for kernels that gather: weight[i] x[i, :] more, and one term more in the mean.
#pragma once

#include "kernels/common/gather_sums.cuh"

namespace gnntune::kernels {

template <typename T>
struct SelfTerm {
    const T* weight;  ///< [n], or [n, heads], device memory; null: there are no self loops

    /// What the sum of a row of `edges` edges is multiplied with to become its mean; 1 for no term, whose sum is 0.
    __device__ __forceinline__ float mean_factor(std::uint32_t edges) const {
        return 1.0F / static_cast<float>(max(1U, edges + (weight ? 1U : 0U)));
    }
    /// acc += weight[row] x[row, f .. f + VEC), where there are self loops; `x` points to element f of row 0.
    template <int VEC>
    __device__ __forceinline__ void add(std::int64_t row, const T* x, std::int32_t k, Vec<VEC>& acc) const {
        if (weight) fma(acc, load_value(weight + row), load_pack<VEC>(x + row * k));
    }
    /// The same for all vectors of a lane.
    template <int VEC, int ITEMS>
    __device__ __forceinline__ void add(std::int32_t row, const LaneVectors<ITEMS, T>& x,
                                        Vec<VEC> (&acc)[ITEMS]) const {
        if (!weight) return;
        const float w = load_value(weight + row);
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) fma(acc[i], w, load_pack<VEC>(x.at(i, row)));
    }
    /// The same by weights [n, heads].
    template <int VEC, int ITEMS>
    __device__ __forceinline__ void add(std::int32_t row, const LaneVectors<ITEMS, T>& x, const LaneHeads<ITEMS>& heads,
                                        Vec<VEC> (&acc)[ITEMS]) const {
        if (!weight) return;
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) fma(acc[i], heads.weight(weight, i, row), load_pack<VEC>(x.at(i, row)));
    }
};

}  // namespace gnntune::kernels

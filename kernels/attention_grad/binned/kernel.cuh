// attention_grad.binned: gradients of dot-product attention with three gathers per edge. With q = x_row[i, h],
// k' = key[j, h], x = x[j, h], g = grad_y[i, h], alpha = exp(s <q, k'> - lse[i, h]), D = <g, y[i, h]>, and f = 1, or with
// dropout 1 / (1 - p) where the edge is kept and else 0:
//   row dots   terms[i, h] = (lse[i, h], D)
//   columns    weight[id, h] = w = s alpha (f <g, x> - D)
//              grad_key[j, h] = sum over the column of w q,  grad_x[j, h] = sum of f alpha g
//   rows       grad_x_row[i, h] = sum over the row of w k'
//
// Layout   edge_id of both formats, or null, leads to the caller's order, in which weight [m, heads] stands. x, key,
//          their gradients [n_cols, heads, k]; x_row, grad_y, y_saved, grad_x_row [n_rows, heads, k]; lse_saved
//          [n_rows, heads]; row-major, device memory, aligned to 16 bytes. All are of type T: f32, f16 or bf16, but
//          lse_saved; that, terms, weight and sums are fp32.
// Work, shared memory, atomics: those of kernels/common/gather_pass.cuh, whose Edges these are.
// Data     Columns gather two rows, for two dot products and two sums, and 8 bytes of terms per edge and head, and write 4;
//          rows gather one, with 4 bytes in order.
#pragma once

#include "kernels/attention_grad/binned/launch.hpp"
#include "kernels/common/attention.cuh"
#include "kernels/common/dropout.cuh"
#include "kernels/common/gather_pass.cuh"
#include "kernels/common/row_dots.cuh"

namespace gnntune::attention_grad_binned {

using namespace kernels;  // NOLINT: this header is included by launch_typed.cu alone

/// Takes D of row and head u, and stores it with the log-sum-exp.
struct StoreTerms {
    const float* lse;
    RowTerms* terms;

    __device__ __forceinline__ void operator()(std::int64_t u, float inner) const {
        *reinterpret_cast<float2*>(terms + u) = make_float2(__ldg(lse + u), inner);
    }
};

/// Neither needs anything of its vertex, nor changes its sums.
template <typename T>
struct PlainSums {
    static constexpr bool kOwnLate = false;
    static constexpr bool kSquare = false;
    static constexpr bool kOwnSum = false;
    struct Vertex {};
    template <int VEC, int ITEMS, int OWN>
    __device__ __forceinline__ Vertex vertex(const GatherPass<T>&, std::int64_t, const HeadPlace&,
                                             const Vec<VEC> (&)[OWN][ITEMS]) const {
        return {};
    }
    template <int VEC, int ITEMS, int OWN, int N>
    __device__ __forceinline__ void complete(const GatherPass<T>&, std::int64_t, const HeadPlace&, const Vertex&,
                                             const Vec<VEC> (&)[OWN][ITEMS], LaneSums<VEC, N>&) const {}
};

/// Own key and x; gathered x_row and grad_y.
template <typename T, bool DROPOUT>
struct ColumnEdges : PlainSums<T> {
    static constexpr int kGathered = 2;
    static constexpr int kOwn = 2;
    static constexpr int kSums = 2;
    static constexpr bool kZeroDrops = DROPOUT;
    static constexpr bool kShortRuns = true;
    static constexpr bool kLongRuns = !DROPOUT && sizeof(T) == 4;  // else registers
    struct Term {
        std::int32_t id;  ///< in the caller's order
        float lse;
        float inner;
        float factor;  ///< of dropout, after ready()
    };

    const std::int32_t* edge_id;
    const RowTerms* terms;
    float* weight;
    Dropout dropout;
    float scale;
    std::int32_t heads;

    __device__ __forceinline__ Term load(std::int32_t id, std::int32_t row, int head) const {
        const float2 t = __ldg(reinterpret_cast<const float2*>(terms + unit_of(row, heads, head)));
        return {id, t.x, t.y, 1.0F};
    }
    __device__ __forceinline__ void ready(Term& t, int head) const {
        if constexpr (DROPOUT) t.factor = dropout.factor(t.id, head);
    }
    __device__ __forceinline__ void weigh(const Term& t, const typename PlainSums<T>::Vertex&, int head,
                                          const float (&products)[2], bool writes, float (&weights)[2], float&) const {
        const float alpha = logit_weight(scale * products[0], t.lse);
        // What is dropped may be infinite.
        const float product = !DROPOUT ? products[1] : t.factor != 0.0F ? t.factor * products[1] : 0.0F;
        weights[0] = scale * alpha * (product - t.inner);
        weights[1] = DROPOUT ? t.factor * alpha : alpha;
        if (writes) weight[unit_of(t.id, heads, head)] = weights[0];
    }
};

/// Gathered key.
template <typename T>
struct RowEdges : PlainSums<T> {
    static constexpr int kGathered = 1;
    static constexpr int kOwn = 0;
    static constexpr int kSums = 1;
    static constexpr bool kZeroDrops = false;
    static constexpr bool kShortRuns = false;
    static constexpr bool kLongRuns = true;
    using Term = float;

    const std::int32_t* edge_id;
    const float* weight;
    std::int32_t heads;

    __device__ __forceinline__ Term load(std::int32_t id, std::int32_t, int head) const {
        return __ldg(weight + unit_of(id, heads, head));
    }
    __device__ __forceinline__ void ready(Term&, int) const {}
    __device__ __forceinline__ void weigh(Term t, const typename PlainSums<T>::Vertex&, int, const float (&)[2], bool,
                                          float (&weights)[1], float&) const {
        weights[0] = t;
    }
};

}  // namespace gnntune::attention_grad_binned

// agnn_grad.binned: gradients of agnn with three gathers per edge and one pass of dot products. With u = x_row[i, h],
// x = x[j, h], g = grad_y[i, h], c = cos(u, x), alpha = exp(beta c - lse[i, h]), D = <g, y[i, h]>,
// de = alpha (<g, x> - D) and w = beta de / (|u| |x|):
//   rows       weights[id, h] = (w, alpha)
//              grad_x_row[i, h] = sum over the row of w x - beta (sum of de c) u / |u|^2
//              block_beta = sum of de c over the rows of a block
//   columns    S = sum over the column of w u,  grad_x[j, h] = S - <S, x> x / |x|^2 + sum of alpha g
//   heads      grad_beta[h] = sum of block_beta
//
// Layout   edge_id of both formats, or null, leads to the caller's order, in which weights [m, heads] stand. x, grad_x
//          [n_cols, heads, k]; x_row, grad_y, y_saved, grad_x_row [n_rows, heads, k]; lse_saved [n_rows, heads]; beta and
//          grad_beta [heads]; row-major, device memory, aligned to 16 bytes. All are of type T: f32, f16 or bf16, but
//          lse_saved; that, weights and sums are fp32.
// Work, shared memory, atomics: those of kernels/common/gather_pass.cuh, whose Edges these are.
// Data     Rows gather one row of features, for three dot products and a sum, and write 8 bytes per edge and head; columns
//          gather two, with 8 bytes, and form no products. The part along the own vector is taken out once for each
//          vertex or piece: <S, x> is the columns' sum of beta de c |x|.
#pragma once

#include "kernels/agnn_grad/binned/launch.hpp"
#include "kernels/common/attention.cuh"
#include "kernels/common/gather_pass.cuh"
#include "kernels/common/row_dots.cuh"

namespace gnntune::agnn_grad_binned {

using namespace kernels;  // NOLINT: this header is included by launch_typed.cu alone

/// Own x_row and grad_y; gathered x.
template <typename T>
struct RowEdges {
    static constexpr int kGathered = 1;
    static constexpr int kOwn = 2;
    static constexpr bool kOwnLate = false;
    static constexpr int kSums = 1;
    static constexpr bool kSquare = true;
    static constexpr bool kOwnSum = true;
    static constexpr bool kZeroDrops = false;
    static constexpr bool kShortRuns = true;
    static constexpr bool kLongRuns = true;
    struct Vertex {
        float inverse;  ///< 1 / |u|
        float inner;    ///< D
        float lse;
        float beta;
    };
    struct Term {
        std::int32_t id;  ///< in the caller's order
    };

    const std::int32_t* edge_id;
    const T* y;
    const T* beta;
    const float* lse;
    EdgeWeights* weights;
    std::int32_t heads;

    template <int VEC, int ITEMS>
    __device__ __forceinline__ Vertex vertex(const GatherPass<T>& a, std::int64_t unit, const HeadPlace& place,
                                             const Vec<VEC> (&own)[2][ITEMS]) const {
        Vertex v{};
        Vec<VEC> result[ITEMS];
        load_own(a, y, unit, place, result);
        v.inverse = inverse_norm(head_dot(own[0], own[0], a.head_lanes));
        v.inner = head_dot(own[1], result, a.head_lanes);
        if (!place.inside) return v;
        v.lse = __ldg(lse + unit);
        v.beta = load_value(beta + place.head);
        return v;
    }
    __device__ __forceinline__ Term load(std::int32_t id, std::int32_t, int) const { return {id}; }
    __device__ __forceinline__ void ready(Term&, int) const {}
    __device__ __forceinline__ void weigh(const Term& t, const Vertex& v, int head, const float (&products)[3],
                                          bool writes, float (&weight)[1], float& beta_sum) const {
        const float both = v.inverse * inverse_norm(products[2]);
        const float cosine = products[0] * both;
        const float alpha = logit_weight(v.beta * cosine, v.lse);
        const float de = alpha * (products[1] - v.inner);
        weight[0] = v.beta * de * both;
        if (!writes) return;
        *reinterpret_cast<float2*>(weights + unit_of(t.id, heads, head)) = make_float2(weight[0], alpha);
        beta_sum = fmaf(de, cosine, beta_sum);
    }
    template <int VEC, int ITEMS>
    __device__ __forceinline__ void complete(const GatherPass<T>&, std::int64_t, const HeadPlace&, const Vertex& v,
                                             const Vec<VEC> (&own)[2][ITEMS], LaneSums<VEC, ITEMS>& r) const {
        const float along = -v.beta * r.own * v.inverse * v.inverse;
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) fma(r.x[i], along, own[0][i]);
    }
};

/// Gathered x_row and grad_y, whose sums become one. The pass has x in own[0].
template <typename T>
struct ColumnEdges {
    static constexpr int kGathered = 2;
    static constexpr int kOwn = 0;
    static constexpr bool kOwnLate = true;
    static constexpr int kSums = 1;
    static constexpr bool kSquare = false;
    static constexpr bool kOwnSum = false;
    static constexpr bool kZeroDrops = false;
    static constexpr bool kShortRuns = true;
    static constexpr bool kLongRuns = false;
    struct Vertex {};
    using Term = float2;  ///< EdgeWeights

    const std::int32_t* edge_id;
    const EdgeWeights* weights;
    std::int32_t heads;

    template <int VEC, int ITEMS>
    __device__ __forceinline__ Vertex vertex(const GatherPass<T>&, std::int64_t, const HeadPlace&,
                                             const Vec<VEC> (&)[1][ITEMS]) const {
        return {};
    }
    __device__ __forceinline__ Term load(std::int32_t id, std::int32_t, int head) const {
        return __ldg(reinterpret_cast<const float2*>(weights + unit_of(id, heads, head)));
    }
    __device__ __forceinline__ void ready(Term&, int) const {}
    __device__ __forceinline__ void weigh(const Term& t, const Vertex&, int, const float (&)[2], bool,
                                          float (&weight)[2], float&) const {
        weight[0] = t.x;
        weight[1] = t.y;
    }
    template <int VEC, int ITEMS>
    __device__ __forceinline__ void complete(const GatherPass<T>& a, std::int64_t unit, const HeadPlace& place,
                                             const Vertex&, const Vec<VEC> (&)[1][ITEMS],
                                             LaneSums<VEC, 2 * ITEMS>& r) const {
        Vec<VEC> x[ITEMS];
        Vec<VEC> sum[ITEMS];
        load_own(a, a.own[0], unit, place, x);
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) sum[i] = r.x[i];
        const float inverse = inverse_norm(head_dot(x, x, a.head_lanes));
        const float along = -head_dot(sum, x, a.head_lanes) * inverse * inverse;
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            fma(r.x[i], along, x[i]);
            fma(r.x[i], 1.0F, r.x[ITEMS + i]);
        }
    }
};

}  // namespace gnntune::agnn_grad_binned

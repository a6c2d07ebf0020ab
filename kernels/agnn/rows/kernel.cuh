// agnn.rows: y[i, h, :] = sum over edges e of row i of alpha_e x[col_e, h, :], alpha the softmax over the row of
// beta[h] cos(x_row[i, h, :], x[col_e, h, :]); lse[i, h] = log of the sum of exp of these logits.
//
// Layout   row_ptr [n_rows + 1], col_idx [m]; x [n_cols, heads, k], x_row and y [n_rows, heads, k], row-major,
//          aligned to VEC elements; beta [heads], lse [n_rows, heads] or null; inverse_norm [n_cols, heads] of x, or
//          null. x, x_row, beta and y are of type T: f32, f16 or bf16; the others and sums are fp32.
// Work     kernels/common/attend.cuh: teams for rows, blocks for pieces of long rows.
// Data     The row operand stays in registers. A gathered row of x is loaded once, multiplied with it, and, when its
//          logit is known, added to the accumulators from the same registers. Without inverse_norm it gives its own
//          norm as well; with it, 4 bytes are read per edge and head. Where k is wider than a tile, the features
//          outside it are read again by every tile, for the dot product only.
// Shared, atomics: those of the pass.
#pragma once

#include "kernels/common/attend.cuh"

namespace gnntune::agnn_rows {

using kernels::Pack;
using kernels::Team;

/// Logits of cosine attention: the Source of attend.cuh.
template <typename T>
struct Cosines {
    using Element = T;
    const T* x;
    const T* x_row;
    const T* beta;
    const float* inverse_norm;

    template <int VEC, int ITEMS>
    struct Row {
        const Cosines& from;
        const T* target;
        Pack<T, VEC> own[ITEMS];
        float factor;
        int f0;
        std::int32_t k;

        __device__ __forceinline__ Row(const Cosines& source, const Team& t, std::int64_t unit, int head, int first,
                                       std::int32_t width)
            : from(source), target(source.x_row + unit * width), f0(first), k(width) {
            kernels::load_tile(t, target, true, f0, k, own);
            const float square = kernels::full_dot(t, target, own, target, own, f0, k);
            factor = kernels::widened(from.beta[head]) * kernels::inverse_norm(square);
        }

        template <int N>
        __device__ __forceinline__ void take(const Team& t, const std::int64_t (&vector)[N],
                                             Pack<T, VEC> (&value)[N][ITEMS], float (&logit)[N]) const {
            const T* source[N];
            float inverse[N];
            float cosine[N];
#pragma unroll
            for (int u = 0; u < N; ++u) {
                source[u] = nullptr;
                inverse[u] = 0.0F;
                if (vector[u] >= 0) {
                    source[u] = from.x + vector[u] * k;
                    if (from.inverse_norm) inverse[u] = __ldg(from.inverse_norm + vector[u]);
                }
                kernels::load_tile(t, source[u], source[u] != nullptr, f0, k, value[u]);
            }
#pragma unroll
            for (int u = 0; u < N; ++u) {
                cosine[u] = kernels::dot_all(own, value[u]);
                if (!from.inverse_norm) inverse[u] = kernels::dot_all(value[u], value[u]);
            }
            kernels::outside_tile<VEC, ITEMS>(t, f0, k, [&](int f) {
                const Pack<T, VEC> left = kernels::load_pack<VEC>(target + f);
#pragma unroll
                for (int u = 0; u < N; ++u) {
                    if (!source[u]) continue;
                    const Pack<T, VEC> right = kernels::load_pack<VEC>(source[u] + f);
                    cosine[u] = kernels::dot(cosine[u], left, right);
                    if (!from.inverse_norm) inverse[u] = kernels::dot(inverse[u], right, right);
                }
            });
#pragma unroll
            for (int u = 0; u < N; ++u) {
                cosine[u] = kernels::lanes_sum(t, cosine[u]);
                if (!from.inverse_norm) inverse[u] = kernels::inverse_norm(kernels::lanes_sum(t, inverse[u]));
                logit[u] = source[u] ? factor * inverse[u] * cosine[u] : kernels::minus_infinity();
            }
        }
    };
};

}  // namespace gnntune::agnn_rows

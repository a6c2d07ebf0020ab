// agnn.rows: y[i, h, :] = sum over edges e of row i of alpha_e x[col_e, h, :], alpha the softmax over the row of
// beta[h] cos(x_row[i, h, :], x[col_e, h, :]); lse[i, h] = log of the sum of exp of these logits.
//
// Layout   row_ptr [n_rows + 1], col_idx [m]; x [n_cols, heads, k], x_row and y [n_rows, heads, k], row-major,
//          aligned to 4 VEC bytes; beta [heads], lse [n_rows, heads] or null; inverse_norm [n_cols, heads] of x, or
//          null.
// Work     kernels/common/attend.cuh: teams for rows, blocks for pieces of long rows.
// Data     The row operand stays in registers. A gathered row of x is loaded once, multiplied with it, and, when its
//          logit is known, added to the accumulators from the same registers. Without inverse_norm it gives its own
//          norm as well; with it, 4 bytes are read per edge and head. Where k is wider than a tile, the features
//          outside it are read again by every tile, for the dot product only.
// Shared, atomics: those of the pass.
#pragma once

#include "kernels/common/attend.cuh"

namespace gnntune::agnn_rows {

using kernels::Team;
using kernels::Vec;

/// Logits of cosine attention: the Source of attend.cuh.
struct Cosines {
    const float* x;
    const float* x_row;
    const float* beta;
    const float* inverse_norm;

    template <int VEC, int ITEMS>
    struct Row {
        const Cosines& from;
        const float* target;
        Vec<VEC> own[ITEMS];
        float factor;
        int f0;
        std::int32_t k;

        __device__ __forceinline__ Row(const Cosines& source, const Team& t, std::int64_t unit, int head, int first,
                                       std::int32_t width)
            : from(source), target(source.x_row + unit * width), f0(first), k(width) {
            kernels::load_tile(t, target, true, f0, k, own);
            factor = from.beta[head] * kernels::inverse_norm(kernels::full_dot(t, target, own, target, own, f0, k));
        }

        template <int N>
        __device__ __forceinline__ void take(const Team& t, const std::int64_t (&vector)[N],
                                             Vec<VEC> (&value)[N][ITEMS], float (&logit)[N]) const {
            const float* source[N];
            float inverse[N];
            float cosine[N];
#pragma unroll
            for (int u = 0; u < N; ++u) {
                const bool here = vector[u] >= 0;
                source[u] = here ? from.x + vector[u] * k : nullptr;
                inverse[u] = here && from.inverse_norm ? __ldg(from.inverse_norm + vector[u]) : 0.0F;
                kernels::load_tile(t, source[u], here, f0, k, value[u]);
            }
#pragma unroll
            for (int u = 0; u < N; ++u) {
                cosine[u] = kernels::dot_all(own, value[u]);
                if (!from.inverse_norm) inverse[u] = kernels::dot_all(value[u], value[u]);
            }
            kernels::outside_tile<VEC, ITEMS>(t, f0, k, [&](int f) {
                const Vec<VEC> left = kernels::load<VEC>(target + f);
#pragma unroll
                for (int u = 0; u < N; ++u) {
                    if (!source[u]) continue;
                    const Vec<VEC> right = kernels::load<VEC>(source[u] + f);
                    cosine[u] = kernels::dot(left, right, cosine[u]);
                    if (!from.inverse_norm) inverse[u] = kernels::dot(right, right, inverse[u]);
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

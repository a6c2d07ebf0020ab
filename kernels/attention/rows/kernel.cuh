// attention.rows: y[i, h, :] = sum over edges e of row i of alpha_e x[col_e, h, :], alpha the softmax over the row of
// s <x_row[i, h, :], key[col_e, h, :]>; lse[i, h] = log of the sum of exp of these logits.
//
// Layout   row_ptr [n_rows + 1], col_idx [m]; x and key [n_cols, heads, k], x_row and y [n_rows, heads, k], row-major,
//          aligned to VEC elements, of type T: f32, f16 or bf16; lse [n_rows, heads] or null; that and sums are fp32.
// Work     kernels/common/attend.cuh: teams for rows, blocks for pieces of long rows.
// Data     The query stays in registers. For each edge a tile of key and a tile of x are asked for together, so that
//          the dot product, its sum over the lanes and the softmax wait for the same latency as the values that they
//          weigh. Where k is wider than a tile, the rest of key is read by every tile, and of x only the own tile.
// Shared, atomics: those of the pass.
#pragma once

#include "kernels/common/attend.cuh"

namespace gnntune::attention_rows {

using kernels::Pack;
using kernels::Team;

/// Logits of dot-product attention: the Source of attend.cuh.
template <typename T>
struct Products {
    using Element = T;
    const T* x;
    const T* x_row;
    const T* key;
    float scale;

    template <int VEC, int ITEMS>
    struct Row {
        const Products& from;
        const T* query;
        Pack<T, VEC> own[ITEMS];
        int f0;
        std::int32_t k;

        __device__ __forceinline__ Row(const Products& source, const Team& t, std::int64_t unit, int, int first,
                                       std::int32_t width)
            : from(source), query(source.x_row + unit * width), f0(first), k(width) {
            kernels::load_tile(t, query, true, f0, k, own);
        }

        template <int N>
        __device__ __forceinline__ void take(const Team& t, const std::int64_t (&vector)[N],
                                             Pack<T, VEC> (&value)[N][ITEMS], float (&logit)[N]) const {
            Pack<T, VEC> key[N][ITEMS];
            const T* source[N];
#pragma unroll
            for (int u = 0; u < N; ++u) {
                source[u] = nullptr;
                const T* values = nullptr;
                if (vector[u] >= 0) {
                    source[u] = from.key + vector[u] * k;
                    values = from.x + vector[u] * k;
                }
                kernels::load_tile(t, source[u], source[u] != nullptr, f0, k, key[u]);
                kernels::load_tile(t, values, values != nullptr, f0, k, value[u]);
            }
#pragma unroll
            for (int u = 0; u < N; ++u) logit[u] = kernels::dot_all(own, key[u]);
            kernels::outside_tile<VEC, ITEMS>(t, f0, k, [&](int f) {
                const Pack<T, VEC> left = kernels::load_pack<VEC>(query + f);
#pragma unroll
                for (int u = 0; u < N; ++u) {
                    if (source[u]) logit[u] = kernels::dot(logit[u], left, kernels::load_pack<VEC>(source[u] + f));
                }
            });
#pragma unroll
            for (int u = 0; u < N; ++u) {
                logit[u] = kernels::lanes_sum(t, logit[u]);
                logit[u] = source[u] ? from.scale * logit[u] : kernels::minus_infinity();
            }
        }
    };
};

}  // namespace gnntune::attention_rows

// Logits of dot-product attention: the Source of kernels/common/attend.cuh and kernels/common/binned_attend.cuh.
//
// Layout   x and key [n_cols, heads, k], x_row [n_rows, heads, k], row-major, aligned to VEC elements, of type T: f32,
//          f16 or bf16; sums are fp32.
// Data     The query stays in registers. For each edge a tile of key and a tile of x are asked for together, so that
//          the dot product, its sum over the lanes and the softmax wait for the same latency as the values they weigh.
//          Where k is wider than a tile, the rest of key is read by every tile, and of x only the own tile.
#pragma once

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/dropout.cuh"
#include "kernels/common/feature_tile.cuh"

namespace gnntune::kernels {

template <typename T, bool DROPOUT>
struct Products {
    using Element = T;
    static constexpr bool kDropout = DROPOUT;
    const T* x;
    const T* x_row;
    const T* key;
    float scale;
    EdgeDropout<DROPOUT> dropout;

    __device__ __forceinline__ float kept(std::uint32_t edge, int head) const { return dropout.factor(edge, head); }

    template <int VEC, int ITEMS, bool WHOLE = false>
    struct Row {
        static constexpr int kSums = 1;

        const Products& from;
        const T* query;
        Pack<T, VEC> own[ITEMS];
        int f0;
        std::int32_t k;

        __device__ __forceinline__ Row(const Products& source, const Team& t, std::int64_t unit, int, int first,
                                       std::int32_t width)
            : from(source), query(source.x_row + unit * width), f0(first), k(width) {
            load_tile(t, query, true, f0, k, own);
        }

        template <int N>
        __device__ __forceinline__ void gather(const Team& t, const std::int64_t (&vector)[N],
                                               Pack<T, VEC> (&value)[N][ITEMS], float (&part)[kSums][N]) const {
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
                load_tile(t, source[u], source[u] != nullptr, f0, k, key[u]);
                load_tile(t, values, values != nullptr, f0, k, value[u]);
            }
#pragma unroll
            for (int u = 0; u < N; ++u) part[0][u] = dot_all(own, key[u]);
            if constexpr (!WHOLE) {
                outside_tile<VEC, ITEMS>(t, f0, k, [&](int f) {
                    const Pack<T, VEC> left = load_pack<VEC>(query + f);
#pragma unroll
                    for (int u = 0; u < N; ++u) {
                        if (source[u]) part[0][u] = dot(part[0][u], left, load_pack<VEC>(source[u] + f));
                    }
                });
            }
        }

        __device__ __forceinline__ float logit(const float (&sum)[kSums]) const {
            return from.scale * sum[0];
        }
    };
};

/// The Source of a run on the CSR `g`.
template <typename T, bool DROPOUT>
Products<T, DROPOUT> products_of(const Operands& o, const CsrFormat& g, std::int32_t k) {
    return {elements_of<T>(o.x), elements_of<T>(o.x_row), elements_of<T>(o.key), logit_scale(o, k),
            edge_dropout<DROPOUT>(o, g.edge_id)};
}

}  // namespace gnntune::kernels

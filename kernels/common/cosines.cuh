// Logits of cosine attention: the Source of kernels/common/attend.cuh and kernels/common/binned_attend.cuh.
//
// Layout   x [n_cols, heads, k], x_row [n_rows, heads, k], row-major, aligned to VEC elements; beta [heads];
// inverse_norm
//          [n_cols, heads] of x, or null. x, x_row and beta are of type T: f32, f16 or bf16; inverse_norm and sums are
//          fp32.
// Data     The row operand stays in registers. A gathered row of x is loaded once, multiplied with it, and, when its
//          logit is known, added to the accumulators from the same registers. Without inverse_norm it gives its own
//          norm as well; with it, 4 bytes are read per edge and head. Where k is wider than a tile, the features
//          outside it are read again by every tile, for the dot product only.
#pragma once

#include "kernels/common/feature_tile.cuh"

namespace gnntune::kernels {

template <typename T>
struct Cosines {
    using Element = T;
    const T* x;
    const T* x_row;
    const T* beta;
    const float* inverse_norm;

    template <int VEC, int ITEMS>
    struct Row {
        static constexpr int kSums = 2;  // of products with the target, and of squares

        const Cosines& from;
        const T* target;
        Pack<T, VEC> own[ITEMS];
        float factor;
        int f0;
        std::int32_t k;

        __device__ __forceinline__ Row(const Cosines& source, const Team& t, std::int64_t unit, int head, int first,
                                       std::int32_t width)
            : from(source), target(source.x_row + unit * width), f0(first), k(width) {
            load_tile(t, target, true, f0, k, own);
            const float square = full_dot(t, target, own, target, own, f0, k);
            factor = widened(from.beta[head]) * kernels::inverse_norm(square);
        }

        __device__ __forceinline__ int sums() const { return from.inverse_norm ? 1 : 2; }

        template <int N>
        __device__ __forceinline__ void gather(const Team& t, const std::int64_t (&vector)[N],
                                               Pack<T, VEC> (&value)[N][ITEMS], float (&part)[kSums][N]) const {
            const T* source[N];
            float inverse[N];
#pragma unroll
            for (int u = 0; u < N; ++u) {
                source[u] = nullptr;
                inverse[u] = 0.0F;
                if (vector[u] >= 0) {
                    source[u] = from.x + vector[u] * k;
                    if (from.inverse_norm) inverse[u] = __ldg(from.inverse_norm + vector[u]);
                }
                load_tile(t, source[u], source[u] != nullptr, f0, k, value[u]);
            }
#pragma unroll
            for (int u = 0; u < N; ++u) {
                part[0][u] = dot_all(own, value[u]);
                part[1][u] = from.inverse_norm ? 0.0F : dot_all(value[u], value[u]);
            }
            outside_tile<VEC, ITEMS>(t, f0, k, [&](int f) {
                const Pack<T, VEC> left = load_pack<VEC>(target + f);
#pragma unroll
                for (int u = 0; u < N; ++u) {
                    if (!source[u]) continue;
                    const Pack<T, VEC> right = load_pack<VEC>(source[u] + f);
                    part[0][u] = dot(part[0][u], left, right);
                    if (!from.inverse_norm) part[1][u] = dot(part[1][u], right, right);
                }
            });
            if (!from.inverse_norm) return;
                // Here, where every lane has it: whoever has the sum may have that of another edge's lanes.
#pragma unroll
            for (int u = 0; u < N; ++u) part[0][u] *= inverse[u];
        }

        __device__ __forceinline__ float logit(const float (&sum)[kSums]) const {
            return factor * (from.inverse_norm ? 1.0F : kernels::inverse_norm(sum[1])) * sum[0];
        }
    };
};

}  // namespace gnntune::kernels

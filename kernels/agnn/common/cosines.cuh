// Logits of cosine attention: the Source of kernels/common/attend.cuh and kernels/common/binned_attend.cuh.
//
// Layout   x [n_cols, heads, k] and x_row [n_rows, heads, k], row-major, aligned to VEC elements, and beta [heads], of
//          type T: f32, f16 or bf16; inverse_norm [n_cols, heads] of x, where it is STORED; that and sums are fp32.
// Data     The row operand stays in registers. A gathered row of x is loaded once, multiplied with it, and, when its
//          logit is known, added to the accumulators from the same registers. Without inverse_norm it gives its own
//          norm as well; with it, 4 bytes are read per edge and head. Where k is wider than a tile, the features
//          outside it are read again by every tile, for the dot product only.
#pragma once

#include "core/registry/variant.hpp"
#include "kernels/common/cosine_params.hpp"
#include "kernels/common/feature_tile.cuh"

namespace gnntune::kernels {

/// STORED: inverse_norm has the norms of x; it is not used otherwise.
template <typename T, bool STORED>
struct Cosines {
    using Element = T;
    static constexpr bool kDropout = false;
    const T* x;
    const T* x_row;
    const T* beta;
    const float* inverse_norm;

    __device__ __forceinline__ float kept(std::uint32_t, int) const { return 1.0F; }

    template <int VEC, int ITEMS, bool WHOLE = false>
    struct Row {
        static constexpr int kSums = STORED ? 1 : 2;  // of products with the target, and of squares

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
            const float square = WHOLE ? lanes_sum(t, dot_all(own, own)) : full_dot(t, target, own, target, own, f0, k);
            factor = widened(from.beta[head]) * kernels::inverse_norm(square);
        }

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
                    if constexpr (STORED) inverse[u] = __ldg(from.inverse_norm + vector[u]);
                }
                load_tile(t, source[u], source[u] != nullptr, f0, k, value[u]);
            }
#pragma unroll
            for (int u = 0; u < N; ++u) {
                part[0][u] = dot_all(own, value[u]);
                if constexpr (!STORED) part[1][u] = dot_all(value[u], value[u]);
            }
            if constexpr (!WHOLE) {
                outside_tile<VEC, ITEMS>(t, f0, k, [&](int f) {
                    const Pack<T, VEC> left = load_pack<VEC>(target + f);
#pragma unroll
                    for (int u = 0; u < N; ++u) {
                        if (!source[u]) continue;
                        const Pack<T, VEC> right = load_pack<VEC>(source[u] + f);
                        part[0][u] = dot(part[0][u], left, right);
                        if constexpr (!STORED) part[1][u] = dot(part[1][u], right, right);
                    }
                });
            }
            if (!from.inverse_norm) return;
                // Here, where every lane has it: whoever has the sum may have that of another edge's lanes.
#pragma unroll
            for (int u = 0; u < N; ++u) part[0][u] *= inverse[u];
        }

        __device__ __forceinline__ float logit(const float (&sum)[kSums]) const {
            if constexpr (STORED) {
                return factor * sum[0];
            } else {
                return factor * kernels::inverse_norm(sum[1]) * sum[0];
            }
        }
    };
};

/// Calls launch(cosines) with the Source of a run of a plan, after it has enqueued the norms of x where they are
/// stored.
template <typename T, typename Rows, typename Launch>
void with_cosines(const CosinePlan<Rows>& p, const Operands& o, WorkspaceCutter& space, cudaStream_t stream,
                  const Launch& launch) {
    const T* x = elements_of<T>(o.x);
    const T* x_row = elements_of<T>(o.x_row);
    const T* beta = elements_of<T>(o.beta);
    float* norms = p.take_norms(space);
    if (!p.stored_norms) return launch(Cosines<T, false>{x, x_row, beta, nullptr});
    // Without any edge nobody asks for norms, and x may be a null pointer.
    const CsrFormat& g = *p.rows.csr;
    if (g.m > 0) row_inverse_norms(x, norms, std::int64_t{g.n_cols} * p.rows.heads, p.rows.k, stream);
    launch(Cosines<T, true>{x, x_row, beta, norms});
}

}  // namespace gnntune::kernels

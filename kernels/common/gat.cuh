// Logits and dropout of gat, as every kernel of gat and gat_grad computes them.
#pragma once

#include <cstdint>

#include "core/common/philox.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/attention.cuh"

namespace gnntune::kernels {

/// The scores and numbers of a run; by value to kernels.
struct GatScores {
    const float* row;  ///< [n_rows, heads]
    const float* col;  ///< [n_cols, heads]
    std::uint64_t seed;
    float slope;
    float dropout;
    float keep_scale;  ///< 1 / (1 - dropout)
    std::int32_t heads;

    /// Whether dropout keeps edge `id` (caller's order).
    __device__ __forceinline__ bool keeps(std::int64_t id, int head) const {
        return dropout <= 0.0F ||
               philox_keep(seed, static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(head), dropout);
    }
};

/// Logit and dropout for the edge-parallel passes of kernels/common/edge_passes.cuh.
struct GatSoftmax {
    GatScores scores;

    __device__ __forceinline__ float logit(std::int64_t, std::int64_t row, std::int64_t col, int head) const {
        return leaky_relu(__ldg(scores.row + row * scores.heads + head) + __ldg(scores.col + col * scores.heads + head),
                          scores.slope);
    }
    __device__ __forceinline__ float finish(float value, std::int64_t id, int head) const {
        return scores.keeps(id, head) ? value * scores.keep_scale : 0.0F;
    }
};

/// lse[u] from the maximum's key and the sum of every row and head u; -infinity where there was no edge.
[[maybe_unused]] static __global__ void write_lse(const std::uint32_t* __restrict__ keys, const double* __restrict__ sums,
                                                  float* __restrict__ lse, std::int64_t units) {
    const std::int64_t u = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (u < units) lse[u] = log_sum_exp({float_of_key(keys[u]), static_cast<float>(sums[u])});
}

inline constexpr int kDotThreads = 128;
inline constexpr int kDotLanes = 8;

/// out[u] = <a[u, :], b[u, :]> over rows of k floats: 8 threads a row, units [n_rows, heads].
[[maybe_unused]] static __global__ void row_dots(const float* __restrict__ a, const float* __restrict__ b,
                                                 float* __restrict__ out, std::int64_t units, std::int32_t k) {
    const Team t(kDotLanes, kDotLanes);
    const std::int64_t u = group_index(kDotLanes);
    if (u >= units) return;
    float sum = 0.0F;
    for (int f = t.rank; f < k; f += kDotLanes) sum = fmaf(__ldg(a + u * k + f), __ldg(b + u * k + f), sum);
    sum = team_sum(t, sum);
    if (t.rank == 0) out[u] = sum;
}

inline void launch_row_dots(const float* a, const float* b, float* out, std::int64_t units, std::int32_t k,
                            cudaStream_t stream) {
    if (units == 0) return;
    row_dots<<<static_cast<unsigned>(ceil_div(units, kDotThreads / kDotLanes)), kDotThreads, 0, stream>>>(a, b, out,
                                                                                                      units, k);
    GNNTUNE_CUDA(cudaGetLastError());
}

inline GatScores gat_scores(const Operands& o, std::int32_t heads) {
    return {o.score_row, o.score_col, o.seed, o.negative_slope, o.dropout, 1.0F / (1.0F - o.dropout), heads};
}

}  // namespace gnntune::kernels

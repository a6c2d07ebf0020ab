// Logits and dropout of gat, as every kernel of gat and gat_grad computes them.
#pragma once

#include <cstdint>

#include "core/registry/variant.hpp"
#include "kernels/common/attention.cuh"
#include "kernels/common/dropout.cuh"

namespace gnntune::kernels {

/// The scores and numbers of a run; by value to kernels. Scores are of type T: f32, f16 or bf16.
template <typename T>
struct GatScores {
    const T* row;  ///< [n_rows, heads]
    const T* col;  ///< [n_cols, heads]
    Dropout dropout;
    float slope;
    std::int32_t heads;

    /// Score of a target, or a source; `unit` is vertex * heads + head.
    __device__ __forceinline__ float of_row(std::int64_t unit) const { return load_value(row + unit); }
    __device__ __forceinline__ float of_col(std::int64_t unit) const { return load_value(col + unit); }
};

/// Logit and dropout for the edge-parallel passes of kernels/common/edge_passes.cuh.
struct GatSoftmax {
    GatScores<float> scores;

    __device__ __forceinline__ float logit(std::int64_t, std::int64_t row, std::int64_t col, int head) const {
        return leaky_relu(scores.of_row(row * scores.heads + head) + scores.of_col(col * scores.heads + head),
                          scores.slope);
    }
    __device__ __forceinline__ float finish(float value, std::int64_t id, int head) const {
        return scores.dropout.keeps(id, head) ? value * scores.dropout.keep_scale : 0.0F;
    }
};

/// lse[u] from the maximum's key and the sum of every row and head u; -infinity where there was no edge.
[[maybe_unused]] static __global__ void write_lse(const std::uint32_t* __restrict__ keys,
                                                  const double* __restrict__ sums, float* __restrict__ lse,
                                                  std::int64_t units) {
    const std::int64_t u = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (u < units) lse[u] = log_sum_exp({float_of_key(keys[u]), static_cast<float>(sums[u])});
}

template <typename T>
GatScores<T> gat_scores(const Operands& o, std::int32_t heads) {
    return {elements_of<T>(o.score_row), elements_of<T>(o.score_col), dropout_of(o), o.negative_slope, heads};
}

}  // namespace gnntune::kernels

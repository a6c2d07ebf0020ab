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

inline GatScores gat_scores(const Operands& o, std::int32_t heads) {
    return {o.score_row, o.score_col, o.seed, o.negative_slope, o.dropout, 1.0F / (1.0F - o.dropout), heads};
}

}  // namespace gnntune::kernels

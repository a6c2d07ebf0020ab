// Dropout of attention weights: which edges of which heads a run keeps, for every kernel of gat and attention, forward and
// backward.
#pragma once

#include <cstdint>

#include "core/common/philox.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::kernels {

/// The numbers of a run; by value to kernels.
struct Dropout {
    const std::uint64_t* seed_offset;  ///< device memory, read by the kernel: added to `seed`; null: nothing is
    std::uint64_t seed;
    float probability;  ///< of dropping an edge, [0, 1)
    float keep_scale;   ///< 1 / (1 - probability)

    /// Whether edge `id` (caller's order) of `head` is kept.
    __device__ __forceinline__ bool keeps(std::int64_t id, int head) const {
        if (probability <= 0.0F) return true;
        const std::uint64_t key =
            seed + (seed_offset ? __ldg(reinterpret_cast<const unsigned long long*>(seed_offset)) : 0);
        return philox_keep(key, static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(head), probability);
    }
    /// What the edge's weight is multiplied with.
    __device__ __forceinline__ float factor(std::int64_t id, int head) const {
        return keeps(id, head) ? keep_scale : 0.0F;
    }
};

inline Dropout dropout_of(const Operands& o) {
    return {o.seed_offset, o.seed, o.dropout, 1.0F / (1.0F - o.dropout)};
}

}  // namespace gnntune::kernels

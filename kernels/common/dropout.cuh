// Dropout of attention weights: which edges of which heads a run keeps, for every kernel of gat and attention, forward and
// backward.
#pragma once

#include <cstdint>
#include <type_traits>

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

/// Dropout of kernels that know edges by their places in a format. ON false: there is none, and it costs nothing. ON true:
/// a run may have it or not, which costs a branch for each edge.
template <bool ON>
struct EdgeDropout {
    __device__ __forceinline__ float factor(std::uint32_t, int) const { return 1.0F; }
};
template <>
struct EdgeDropout<true> {
    Dropout dropout;
    const std::int32_t* edge_id;  ///< of the format; null where its order is the caller's

    /// What the weight of the edge at `place` is multiplied with.
    __device__ __forceinline__ float factor(std::uint32_t place, int head) const {
        if (dropout.probability <= 0.0F) return 1.0F;
        return dropout.factor(edge_id ? __ldg(edge_id + place) : place, head);
    }
};

/// The dropout of a run for one format.
template <bool ON>
EdgeDropout<ON> edge_dropout(const Operands& o, const std::int32_t* edge_id) {
    if constexpr (ON) {
        return {dropout_of(o), edge_id};
    } else {
        return {};
    }
}

/// Calls launch(on), a constant that says whether the run has dropout.
template <typename Launch>
void with_dropout(const Operands& o, const Launch& launch) {
    if (o.dropout > 0.0F) {
        launch(std::true_type{});
    } else {
        launch(std::false_type{});
    }
}

}  // namespace gnntune::kernels

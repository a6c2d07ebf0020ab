// An edge as a number of 64 bits.
#pragma once

#include <cstdint>

#include "kernels/common/edge_keys.cuh"

namespace gnntune::formats {

/// Where the parts of an edge stand in its key: the group that it is sorted by, its other end, its place in the
/// caller's order, from high bits to low ones.
struct EdgeKeyBits {
    int group;
    int other;
    int id;  ///< 0: they do not fit 64 bits

    __host__ __device__ int begin() const { return other + id; }
    __host__ __device__ int end() const { return group + other + id; }
    __device__ __forceinline__ std::uint64_t key(std::int32_t in, std::int32_t end, std::int32_t name) const {
        return (static_cast<std::uint64_t>(in) << other | static_cast<std::uint64_t>(end)) << id |
               static_cast<std::uint64_t>(name);
    }
    __device__ __forceinline__ std::int32_t group_of(std::uint64_t key) const {
        return static_cast<std::int32_t>(key >> (other + id));
    }
};

/// Of edges that are grouped by one of `groups`; the other end is one of `others`.
inline EdgeKeyBits key_bits(std::int64_t groups, std::int64_t others, std::int64_t m) {
    const int group = kernels::bits_below(groups);
    const int other = kernels::bits_below(others);
    return {group, other, kernels::id_bits(group + other, m)};
}

}  // namespace gnntune::formats

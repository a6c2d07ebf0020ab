// The arithmetic of the fingerprint, shared by host and device code. Frozen: see fingerprint.hpp.
#pragma once

#include <cstdint>

#include "core/common/host_device.hpp"

namespace gnntune::fingerprint_detail {

inline constexpr std::uint64_t kSeedLo = 0x9e3779b97f4a7c15ull;
inline constexpr std::uint64_t kSeedHi = 0xd1b54a32d192ed03ull;

/// MurmurHash3's 64-bit finaliser: a bijection in which every input bit changes every output bit about half the time.
GNNTUNE_HOST_DEVICE inline std::uint64_t mix64(std::uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    x ^= x >> 33;
    return x;
}

GNNTUNE_HOST_DEVICE inline std::uint64_t edge_key(std::int32_t row, std::int32_t col) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(row)) << 32) | static_cast<std::uint32_t>(col);
}

GNNTUNE_HOST_DEVICE inline std::uint64_t edge_term(std::int32_t row, std::int32_t col, std::uint64_t seed) {
    return mix64(mix64(edge_key(row, col) + seed) ^ seed);
}

/// Folds the sizes into a finished sum.
GNNTUNE_HOST_DEVICE inline std::uint64_t finish(std::uint64_t sum, std::int64_t n_rows, std::int64_t n_cols,
                                                std::int64_t m, std::uint64_t seed) {
    std::uint64_t h = mix64(sum ^ seed);
    h = mix64(h + static_cast<std::uint64_t>(n_rows) * seed);
    h = mix64(h + static_cast<std::uint64_t>(n_cols) * (seed | 1));
    return mix64(h + static_cast<std::uint64_t>(m));
}

}  // namespace gnntune::fingerprint_detail

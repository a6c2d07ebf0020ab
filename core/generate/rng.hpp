// Counter-based random numbers: a stream is named by (seed, purpose, index), so any thread can produce any part of a
// graph and the result does not depend on who did. SplitMix64 with a hashed start; no distribution of the standard
// library, whose results differ between implementations.
#pragma once

#include <cstdint>

namespace gnntune::generate {

__extension__ typedef unsigned __int128 Uint128;

/// What a stream is for; two purposes never share numbers.
enum class Purpose : std::uint64_t {
    row_picks,
    columns,
    self_loops,
    labels,
    column_labels,
    degrees,
    column_degrees,
    sizes,
    structure,
    orientation,
    weights
};

/// Finaliser of SplitMix64 (Stafford's mix 13).
inline std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

class Rng {
public:
    Rng(std::uint64_t seed, Purpose purpose, std::uint64_t index)
        : state_(mix(mix(mix(seed) + static_cast<std::uint64_t>(purpose)) + index)) {}

    std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15ull); }
    /// Uniform in [0, n), n > 0. The bias is below n / 2^64.
    std::uint64_t below(std::uint64_t n) { return static_cast<std::uint64_t>((Uint128{next()} * n) >> 64); }
    std::int32_t below(std::int32_t n) { return static_cast<std::int32_t>(below(static_cast<std::uint64_t>(n))); }

private:
    std::uint64_t state_;
};

/// Probability p in [0, 1] as a threshold t, so that next() < t has it; p = 1 is the largest value.
inline std::uint64_t threshold(double p) {
    return p >= 1 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(p * 0x1p64);
}

}  // namespace gnntune::generate

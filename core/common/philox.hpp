// Philox4x32-10, the counter-based generator of Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (SC 2011):
// the same numbers for everyone who asks with the same key and counter, on the CPU and on the GPU.
#pragma once

#include <cstdint>

#include "core/common/host_device.hpp"

namespace gnntune {

struct Philox4 {
    std::uint32_t word[4];
};

/// Ten rounds over the counter {c0, c1, c2, c3} with the key {k0, k1}. Matches the known-answer vectors of Random123.
GNNTUNE_HOST_DEVICE inline Philox4 philox4x32_10(std::uint32_t c0, std::uint32_t c1, std::uint32_t c2, std::uint32_t c3,
                                                 std::uint32_t k0, std::uint32_t k1) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53U} * c0;
        const std::uint64_t b = std::uint64_t{0xCD9E8D57U} * c2;
        const auto next0 = static_cast<std::uint32_t>(b >> 32) ^ c1 ^ k0;
        const auto next2 = static_cast<std::uint32_t>(a >> 32) ^ c3 ^ k1;
        c1 = static_cast<std::uint32_t>(b);
        c3 = static_cast<std::uint32_t>(a);
        c0 = next0;
        c2 = next2;
        k0 += 0x9E3779B9U;
        k1 += 0xBB67AE85U;
    }
    return {{c0, c1, c2, c3}};
}

/// Whether dropout with probability `p` in [0, 1) keeps edge `edge` (position in the caller's order) of head `head`.
/// Key = seed, counter = {edge, head, 0, 0}: forward and backward, every variant and the oracle see one mask.
GNNTUNE_HOST_DEVICE inline bool philox_keep(std::uint64_t seed, std::uint32_t edge, std::uint32_t head, float p) {
    const Philox4 r =
        philox4x32_10(edge, head, 0, 0, static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
    // 24 random bits, exact in fp32 on both sides.
    return static_cast<float>(r.word[0] >> 8) * (1.0F / 16777216.0F) >= p;
}

}  // namespace gnntune

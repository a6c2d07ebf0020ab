// The generator of dropout masks: Random123's known-answer vectors, and masks that have the asked rate.
#include <gtest/gtest.h>

#include <cmath>

#include "core/common/philox.hpp"

namespace gnntune {
namespace {

void expect_words(const Philox4& got, std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    EXPECT_EQ(got.word[0], a);
    EXPECT_EQ(got.word[1], b);
    EXPECT_EQ(got.word[2], c);
    EXPECT_EQ(got.word[3], d);
}

TEST(Philox, KnownAnswers) {
    expect_words(philox4x32_10(0, 0, 0, 0, 0, 0), 0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U);
    constexpr std::uint32_t kOnes = 0xffffffffU;
    expect_words(philox4x32_10(kOnes, kOnes, kOnes, kOnes, kOnes, kOnes), 0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U,
                 0x6d5451fdU);
    expect_words(philox4x32_10(0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U, 0xa4093822U, 0x299f31d0U),
                 0xd16cfe09U, 0x94fdcceb, 0x5001e420U, 0x24126ea1U);
}

TEST(Philox, KeepsTheAskedShare) {
    constexpr int kEdges = 20000;
    for (const float p : {0.0F, 0.1F, 0.5F, 0.9F}) {
        for (const std::uint32_t head : {0U, 5U}) {
            for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{0x1234567890abcdef}}) {
                int kept = 0;
                for (std::uint32_t e = 0; e < kEdges; ++e) kept += philox_keep(seed, e, head, p) ? 1 : 0;
                // Five standard deviations of a binomial; none at all without dropout.
                const double allowed = 5 * std::sqrt(kEdges * static_cast<double>(p) * (1.0 - p));
                EXPECT_NEAR(kept, kEdges * (1.0 - p), allowed) << "p=" << p << " head=" << head << " seed=" << seed;
            }
        }
    }
}

// Heads, both halves of the seed, and edges far apart draw independently: half of two fair masks agree.
TEST(Philox, MasksDiffer) {
    constexpr int kEdges = 20000;
    const auto agreement = [](std::uint64_t seed, std::uint32_t head, std::uint32_t shift) {
        int same = 0;
        for (std::uint32_t e = 0; e < kEdges; ++e) {
            same += philox_keep(7, e, 0, 0.5F) == philox_keep(seed, e + shift, head, 0.5F) ? 1 : 0;
        }
        return same;
    };
    const double allowed = 5 * std::sqrt(kEdges * 0.25);
    EXPECT_EQ(agreement(7, 0, 0), kEdges);
    EXPECT_NEAR(agreement(7, 1, 0), kEdges / 2, allowed);
    EXPECT_NEAR(agreement(8, 0, 0), kEdges / 2, allowed);
    EXPECT_NEAR(agreement(7 + (std::uint64_t{1} << 32), 0, 0), kEdges / 2, allowed);
    EXPECT_NEAR(agreement(7, 0, 1U << 30), kEdges / 2, allowed);
}

}  // namespace
}  // namespace gnntune

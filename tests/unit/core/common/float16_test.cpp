// 16-bit storage: every value, and the roundings between them.
#include "core/common/float16.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/reference/oracle.hpp"

namespace gnntune {
namespace {

// The value of f16 bits by the definition of binary16, in double.
double defined(std::uint16_t bits) {
    const int exponent = (bits >> 10) & 31;
    const int fraction = bits & 1023;
    const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
    if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * std::ldexp(fraction, -24);
    return sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(Float16, EveryValueIsTheDefinedOneAndSurvivesTheWayBack) {
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const Float16 half{static_cast<std::uint16_t>(bits)};
        const double expected = defined(half.bits);
        if (std::isnan(expected)) {
            EXPECT_TRUE(std::isnan(to_float(half))) << bits;
            EXPECT_TRUE(std::isnan(to_float(from_float<Float16>(to_float(half))))) << bits;
            continue;
        }
        ASSERT_EQ(to_float(half), expected) << bits;
        ASSERT_EQ(from_float<Float16>(to_float(half)).bits, bits);
    }
}

TEST(Float16, RoundsToTheNearerNeighbourAndTiesToEven) {
    for (unsigned bits = 0; bits < 0x7bff; ++bits) {  // up to the largest finite one
        const auto low = static_cast<float>(defined(static_cast<std::uint16_t>(bits)));
        const auto high = static_cast<float>(defined(static_cast<std::uint16_t>(bits + 1)));
        const float middle = low + (high - low) / 2;  // exact in fp32
        const unsigned even = bits % 2 == 0 ? bits : bits + 1;
        ASSERT_EQ(from_float<Float16>(middle).bits, even);
        ASSERT_EQ(from_float<Float16>(std::nextafter(middle, -1.0F)).bits, bits);
        ASSERT_EQ(from_float<Float16>(std::nextafter(middle, 1e9F)).bits, bits + 1);
        ASSERT_EQ(from_float<Float16>(-middle).bits, even | 0x8000U);
    }
    EXPECT_EQ(from_float<Float16>(65519.996F).bits, 0x7bff);
    EXPECT_EQ(from_float<Float16>(65520.0F).bits, 0x7c00);
    EXPECT_EQ(from_float<Float16>(-std::numeric_limits<float>::infinity()).bits, 0xfc00);
}

TEST(BFloat16, EveryValueSurvivesAndOthersRoundToNearest) {
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const BFloat16 narrow{static_cast<std::uint16_t>(bits)};
        const float value = to_float(narrow);
        if (std::isnan(value)) {
            EXPECT_TRUE(std::isnan(to_float(from_float<BFloat16>(value))));
            continue;
        }
        ASSERT_EQ(from_float<BFloat16>(value).bits, bits);
    }
    EXPECT_EQ(to_float(from_float<BFloat16>(1.00390625F)), 1.0F);       // between 1 and 1 + 2^-7: even
    EXPECT_EQ(to_float(from_float<BFloat16>(1.01171875F)), 1.015625F);  // between 1 + 2^-7 and 1 + 2^-6: even
    EXPECT_TRUE(std::isinf(to_float(from_float<BFloat16>(std::numeric_limits<float>::max()))));
}

// One element of 16-bit storage against an oracle.
bool passes(DType dtype, double expected, float got, float scale) {
    reference::Oracle oracle;
    oracle.value = {expected};
    oracle.scale = {scale};
    oracle.chain = {4};
    oracle.dtype = dtype;
    const std::uint16_t bits = dtype == DType::f16 ? from_float<Float16>(got).bits : from_float<BFloat16>(got).bits;
    return reference::compare(oracle, &bits, Precision::fp32).pass();
}

TEST(NarrowTolerance, AllowsOneRoundingAndNoMore) {
    EXPECT_TRUE(passes(DType::f16, 1.0004, 1.0F, 1.0F));
    EXPECT_FALSE(passes(DType::f16, 1.0, 1.001F, 1.0F));
    EXPECT_TRUE(passes(DType::bf16, 1.003, 1.0F, 1.0F));
    EXPECT_FALSE(passes(DType::bf16, 1.0, 1.0079F, 1.0F));
    EXPECT_TRUE(passes(DType::f16, 2e-8, 0.0F, 1e-3F));  // below the smallest number
    EXPECT_FALSE(passes(DType::f16, 2e-7, 0.0F, 1e-3F));
}

TEST(NarrowTolerance, InfinityIsRightBeyondTheRangeOnly) {
    EXPECT_TRUE(passes(DType::f16, 70000, INFINITY, 70000));
    EXPECT_FALSE(passes(DType::f16, 70000, -INFINITY, 70000));
    EXPECT_FALSE(passes(DType::f16, 60000, INFINITY, 60000));
    EXPECT_FALSE(passes(DType::f16, 70000, NAN, 70000));
    EXPECT_FALSE(passes(DType::bf16, 70000, INFINITY, 70000));
}

}  // namespace
}  // namespace gnntune

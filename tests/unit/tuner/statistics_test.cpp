// Order statistics: by hand on small samples, and the interval's coverage, exactly and on synthetic times.
#include "tuner/measuring/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace gnntune::tuner {
namespace {

TEST(Statistics, WithoutSamplesNothingIsKnown) {
    const Summary s = summarise({});

    EXPECT_EQ(s.samples, 0u);
    EXPECT_EQ(s.median, 0);
    EXPECT_EQ(s.relative_error(), std::numeric_limits<double>::infinity());
}

// The times that once_more() says, one after another; how many were asked for.
std::pair<double, std::size_t> least_of(double unnoticed, const std::vector<double>& times) {
    std::size_t done = 0;
    const double least = least_us(unnoticed, [&] { return times.at(done++); });
    return {least, done};
}

TEST(LeastUs, AHiccupDoesNotCount) {
    EXPECT_EQ(least_of(20, {162'155, 400, 420}), std::pair(400.0, std::size_t{3}));
    EXPECT_EQ(least_of(20, {400, 162'155, 420}), std::pair(400.0, std::size_t{3}));
    EXPECT_EQ(least_of(20, {900, 400, 162'155, 420}), std::pair(400.0, std::size_t{4})) << "the first loads code";
}

TEST(LeastUs, TwoThatAgreeAreEnough) {
    EXPECT_EQ(least_of(20, {1000, 1240}), std::pair(1000.0, std::size_t{2}));
    EXPECT_EQ(least_of(20, {1240, 1000}), std::pair(1000.0, std::size_t{2}));
    EXPECT_EQ(least_of(20, {40, 59}), std::pair(40.0, std::size_t{2})) << "by less than what is noticed";
}

TEST(LeastUs, WhatNobodyNoticesIsDoneOnce) {
    EXPECT_EQ(least_of(20, {20}), std::pair(20.0, std::size_t{1}));
    EXPECT_EQ(least_of(0, {0}), std::pair(0.0, std::size_t{1}));
}

TEST(LeastUs, WhatTakesSecondsIsDoneOnce) {
    EXPECT_EQ(least_of(20, {1'200'000}), std::pair(1'200'000.0, std::size_t{1}));
}

TEST(LeastUs, ItEndsWhereNothingAgrees) {
    EXPECT_EQ(least_of(1, {64'000, 32'000, 16'000, 8'000, 4'000, 2'000}), std::pair(2'000.0, std::size_t{kMostTimes}));
}

TEST(Statistics, OneSampleIsEverything) {
    const Summary s = summarise({7});

    EXPECT_EQ(s.samples, 1u);
    for (const double value : {s.median, s.q1, s.q3, s.min, s.ci_low, s.ci_high}) EXPECT_EQ(value, 7);
    EXPECT_EQ(s.relative_error(), 0);
}

TEST(Statistics, TwoSamplesAreInterpolated) {
    const Summary s = summarise({10, 20});

    EXPECT_EQ(s.median, 15);
    EXPECT_EQ(s.q1, 12.5);
    EXPECT_EQ(s.q3, 17.5);
    EXPECT_EQ(s.min, 10);
    EXPECT_EQ(s.ci_low, 10);
    EXPECT_EQ(s.ci_high, 20);
    EXPECT_DOUBLE_EQ(s.relative_error(), 5.0 / 15.0);
}

TEST(Statistics, MedianAndQuartilesStandAtTheirRanks) {
    const Summary odd = summarise({5, 1, 4, 2, 3});
    const Summary even = summarise({8, 6, 4, 2});

    EXPECT_EQ(odd.median, 3);
    EXPECT_EQ(odd.q1, 2);
    EXPECT_EQ(odd.q3, 4);
    EXPECT_EQ(odd.min, 1);
    EXPECT_EQ(even.median, 5);
    EXPECT_EQ(even.q1, 3.5);
    EXPECT_EQ(even.q3, 6.5);
}

TEST(Statistics, OrderDoesNotMatter) {
    std::vector<double> samples(37);
    std::iota(samples.begin(), samples.end(), 1.0);
    const Summary sorted = summarise(samples);
    std::mt19937 random(1);
    for (int i = 0; i < 5; ++i) {
        std::shuffle(samples.begin(), samples.end(), random);

        const Summary s = summarise(samples);

        EXPECT_EQ(s.median, sorted.median);
        EXPECT_EQ(s.q1, sorted.q1);
        EXPECT_EQ(s.ci_low, sorted.ci_low);
        EXPECT_EQ(s.ci_high, sorted.ci_high);
    }
}

TEST(Statistics, OneOutlierMovesNothing) {
    std::vector<double> samples(21, 100.0);
    samples[3] = 1e6;

    const Summary s = summarise(samples);

    EXPECT_EQ(s.median, 100);
    EXPECT_EQ(s.q3, 100);
    EXPECT_EQ(s.ci_high, 100);
    EXPECT_EQ(s.relative_error(), 0);
}

TEST(Statistics, EqualTimesHaveNoError) {
    EXPECT_EQ(summarise(std::vector<double>(20, 3.5)).relative_error(), 0);
}

/// P(low of n order statistics, counted from 0, <= median <= high) for any continuous distribution: the number of
/// samples below the median is binomial with p = 1/2.
double coverage(int n, int low, int high) {
    double sum = 0;
    for (int below = low + 1; below <= high; ++below) {
        sum += std::exp(std::lgamma(n + 1.0) - std::lgamma(below + 1.0) - std::lgamma(n - below + 1.0) -
                        n * std::log(2.0));
    }
    return sum;
}

TEST(Statistics, TheIntervalCoversTheMedianInNinetyFivePercent) {
    for (int n = 1; n <= 300; ++n) {
        std::vector<double> ranks(static_cast<std::size_t>(n));
        std::iota(ranks.begin(), ranks.end(), 0.0);

        const Summary s = summarise(ranks);

        const double covered = coverage(n, static_cast<int>(s.ci_low), static_cast<int>(s.ci_high));
        // Up to five samples not even the extremes cover 95 %. The normal approximation costs up to half a percent.
        const double possible = std::min(0.945, coverage(n, 0, n - 1));
        EXPECT_GE(covered, possible - 1e-9) << n << " samples, ranks " << s.ci_low << " to " << s.ci_high;
        EXPECT_LE(covered, n < 20 ? 1.0 : 0.985) << n << " samples: wider than it needs to be";
    }
}

TEST(Statistics, CoversTheMedianOfSkewedTimes) {
    // A floor with a long tail, as times have: 100 + exponential; its median is 100 + ln 2.
    std::mt19937_64 random(42);
    int covered = 0;
    constexpr int kTrials = 2000;
    for (int trial = 0; trial < kTrials; ++trial) {
        std::vector<double> times(30);
        for (double& t : times) t = 100.0 - std::log((static_cast<double>(random() >> 11) + 0.5) * 0x1p-53);

        const Summary s = summarise(times);

        covered += s.ci_low <= 100.0 + std::log(2.0) && 100.0 + std::log(2.0) <= s.ci_high ? 1 : 0;
        EXPECT_LE(s.min, s.q1);
        EXPECT_LE(s.q1, s.median);
        EXPECT_LE(s.ci_low, s.median);
        EXPECT_LE(s.median, s.ci_high);
        EXPECT_LE(s.median, s.q3);
    }
    EXPECT_GE(covered, kTrials * 94 / 100);
    EXPECT_LE(covered, kTrials * 99 / 100);
}

}  // namespace
}  // namespace gnntune::tuner

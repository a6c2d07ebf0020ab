// The verdict on two measurements: every edge of the rule in tuner/judge.hpp.
#include "tuner/judge.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace gnntune::tuner {
namespace {

// 1 ms, so that the clock's own margin is next to nothing; `half` is half the interval, relative, and half the
// distance of the quartiles.
Measurement timed(double median_us, double half, std::int64_t samples = 20) {
    Measurement m;
    m.median_us = median_us;
    m.ci_low_us = m.q1_us = median_us * (1 - half);
    m.ci_high_us = m.q3_us = median_us * (1 + half);
    m.min_us = m.q1_us;
    m.samples = samples;
    return m;
}

Judged verdict(const Measurement& a, const Measurement& b) {
    return judge(a, b).verdict;
}

TEST(Judge, EqualIsSame) {
    const Judgement j = judge(timed(1000, 0.002), timed(1000, 0.002));

    EXPECT_EQ(j.verdict, Judged::same);
    EXPECT_DOUBLE_EQ(j.ratio, 1);
    EXPECT_TRUE(j.reason.empty());
}

TEST(Judge, SlowOfOneIsFastOfTheOther) {
    const Measurement a = timed(1000, 0.004);
    const Measurement b = timed(1050, 0.004);

    EXPECT_EQ(verdict(a, b), Judged::slow);
    EXPECT_EQ(verdict(b, a), Judged::fast);
    EXPECT_NEAR(judge(a, b).ratio, 1.05, 1e-12);
}

TEST(Judge, TinyDifferenceWithTinyNoiseIsSame) {
    EXPECT_EQ(verdict(timed(1000, 1e-6), timed(1005, 1e-6)), Judged::same);
}

TEST(Judge, ZeroWidthIntervalsStillHaveTheMarginBetweenThem) {
    EXPECT_EQ(verdict(timed(1000, 0), timed(1000, 0)), Judged::same);
    EXPECT_EQ(verdict(timed(1000, 0), timed(1019, 0)), Judged::same);
    EXPECT_EQ(verdict(timed(1000, 0), timed(1022, 0)), Judged::slow);
    EXPECT_EQ(verdict(timed(1022, 0), timed(1000, 0)), Judged::fast);
}

TEST(Judge, LargeDifferenceWithHugeNoiseIsAmbiguous) {
    const Judgement j = judge(timed(1000, 0.3), timed(1300, 0.3));

    EXPECT_EQ(j.verdict, Judged::ambiguous);
    EXPECT_NE(j.reason.find("possible"), std::string::npos) << j.reason;
}

TEST(Judge, EqualMediansWithHugeNoiseAreAmbiguous) {
    EXPECT_EQ(verdict(timed(1000, 0.05), timed(1000, 0.05)), Judged::ambiguous);
}

TEST(Judge, IntervalsThatAreApartByTooLittleAreAmbiguous) {
    EXPECT_EQ(verdict(timed(1000, 0.005), timed(1025, 0.005)), Judged::ambiguous);
    EXPECT_EQ(verdict(timed(1025, 0.005), timed(1000, 0.005)), Judged::ambiguous);
}

TEST(Judge, QuartilesThatOverlapAreAmbiguousHoweverNarrowTheIntervals) {
    Measurement a = timed(1000, 0.001, 100000);
    Measurement b = timed(1050, 0.001, 100000);
    a.q3_us = 1060;
    b.q1_us = 990;
    const Judgement j = judge(a, b);

    EXPECT_EQ(j.verdict, Judged::ambiguous);
    EXPECT_EQ(j.reason, "the quartiles overlap");
    EXPECT_EQ(verdict(b, a), Judged::ambiguous);

    // Also where the slower one reaches further.
    a.q3_us = 1020;
    b.q1_us = 1010;
    b.q3_us = 1090;
    EXPECT_EQ(verdict(a, b), Judged::ambiguous);
    EXPECT_EQ(verdict(b, a), Judged::ambiguous);
}

TEST(Judge, FewSamplesAreAmbiguousOnEitherSide) {
    const Measurement enough = timed(1000, 0, kFewestSamples);
    EXPECT_EQ(verdict(enough, enough), Judged::same);
    for (const std::int64_t few : {std::int64_t{0}, std::int64_t{1}, kFewestSamples - 1}) {
        EXPECT_EQ(verdict(timed(1000, 0, few), timed(2000, 0)), Judged::ambiguous) << few;
        const Judgement j = judge(timed(1000, 0), timed(2000, 0, few));
        EXPECT_EQ(j.verdict, Judged::ambiguous) << few;
        EXPECT_EQ(j.reason, "the second has " + std::to_string(few) + " samples, 6 are needed");
        EXPECT_DOUBLE_EQ(j.ratio, 2) << "the ratio is known all the same";
    }
}

TEST(Judge, UnknownIntervalsAndQuartilesAreAmbiguous) {
    const Measurement known = timed(1000, 0);
    Measurement unknown = timed(2000, 0);
    unknown.ci_low_us = unknown.ci_high_us = 0;
    EXPECT_EQ(verdict(known, unknown), Judged::ambiguous);
    EXPECT_EQ(judge(unknown, known).reason, "the first has no confidence interval");

    Measurement beside = timed(2000, 0);
    beside.ci_low_us = 2100;
    beside.ci_high_us = 2200;
    EXPECT_EQ(verdict(known, beside), Judged::ambiguous);

    Measurement no_quartiles = timed(2000, 0);
    no_quartiles.q1_us = 0;
    EXPECT_EQ(judge(known, no_quartiles).reason, "the second has no quartiles");

    Measurement not_a_number = timed(2000, 0);
    not_a_number.ci_high_us = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(verdict(known, not_a_number), Judged::ambiguous);
}

TEST(Judge, WithoutATimeThereIsNoRatio) {
    const Judgement j = judge(timed(1000, 0), timed(0, 0));

    EXPECT_EQ(j.verdict, Judged::ambiguous);
    EXPECT_EQ(j.ratio, 0);
    EXPECT_EQ(j.reason, "the second has no time");
}

TEST(Judge, ShortCallsNeedAMarginOfTheClock) {
    // 5 % of 2 us is 0.1 us, what the clock cannot tell; of 100 us it is plenty.
    EXPECT_EQ(verdict(timed(2, 0), timed(2.1, 0)), Judged::same);
    EXPECT_EQ(verdict(timed(100, 0), timed(105, 0)), Judged::slow);
    EXPECT_NEAR(judge(timed(2, 0), timed(4, 0)).margin, kRunMargin + 0.05, 1e-12);
}

TEST(Judge, WhatASlowerClockExplainsIsAmbiguous) {
    Measurement a = timed(1000, 0);
    Measurement b = timed(1100, 0);
    a.sm_clock_mhz = 1980;
    b.sm_clock_mhz = 1800;
    const Judgement j = judge(a, b);

    EXPECT_EQ(j.verdict, Judged::ambiguous);
    EXPECT_EQ(j.reason, "the SM clocks explain it, 1980 and 1800 MHz");
    EXPECT_EQ(verdict(b, a), Judged::ambiguous);

    EXPECT_EQ(verdict(a, timed(1100, 0)), Judged::slow) << "one clock is not known";
    b.sm_clock_mhz = 1980;
    EXPECT_EQ(verdict(a, b), Judged::slow);
    b.sm_clock_mhz = 2100;
    EXPECT_EQ(verdict(a, b), Judged::slow) << "slower although the clock is faster";
}

TEST(Judge, WordsReadBack) {
    for (const Judged v : {Judged::same, Judged::fast, Judged::slow, Judged::ambiguous}) {
        EXPECT_EQ(parse_judged(to_text(v)), v);
    }
    EXPECT_EQ(parse_judged("slow"), Judged::slow);
    EXPECT_EQ(parse_judged("slower"), std::nullopt);
}

}  // namespace
}  // namespace gnntune::tuner

// Which bursts count, with made-up clocks.
#include "tuner/measuring/burst_filter.hpp"

#include <gtest/gtest.h>

namespace gnntune::tuner {
namespace {

ClockState at(int mhz) {
    return {mhz, false};
}
ClockState slowed(int mhz) {
    return {mhz, true};
}

TEST(BurstFilter, EverythingCountsAtASteadyClock) {
    BurstFilter filter;
    filter.add({1, 2}, at(1980));
    filter.add({3}, at(1965));

    EXPECT_EQ(filter.samples(), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(filter.discarded(), 0);
    EXPECT_EQ(filter.counting(), 2);
    EXPECT_EQ(filter.remark(), "");
    EXPECT_EQ(filter.clock_mhz(), 1980);
}

TEST(BurstFilter, WithoutClocksEverythingCounts) {
    BurstFilter filter;
    filter.add({1}, at(0));
    filter.add({2}, at(0));

    EXPECT_EQ(filter.counting(), 2);
    EXPECT_EQ(filter.clock_mhz(), 0);
    EXPECT_EQ(filter.remark(), "");
}

TEST(BurstFilter, AClockMoreThanFivePercentDownIsDiscarded) {
    BurstFilter filter;
    filter.add({1}, at(2000));
    filter.add({2}, at(1900));
    filter.add({3}, at(1899));

    EXPECT_EQ(filter.samples(), (std::vector<double>{1, 2}));
    EXPECT_EQ(filter.discarded(), 1);
}

TEST(BurstFilter, AClockThatRisesDiscardsWhatWasBefore) {
    BurstFilter filter;
    filter.add({1}, at(1000));
    EXPECT_EQ(filter.counting(), 1);
    filter.add({2}, at(1980));

    EXPECT_EQ(filter.samples(), std::vector<double>{2});
    EXPECT_EQ(filter.clock_mhz(), 1980);
}

TEST(BurstFilter, ABurstWhoseClockIsNotKnownCounts) {
    BurstFilter filter;
    filter.add({1}, at(1980));
    filter.add({2}, at(0));

    EXPECT_EQ(filter.counting(), 2);
}

TEST(BurstFilter, SlowdownByTheHardwareIsDiscardedAtAnyClock) {
    BurstFilter filter;
    filter.add({1}, slowed(1980));
    filter.add({2}, slowed(0));
    filter.add({3}, at(1980));

    EXPECT_EQ(filter.samples(), std::vector<double>{3});
}

TEST(BurstFilter, BeyondTheLimitThrottledBurstsCountAndAreRemarked) {
    BurstFilter filter(0.05, 2);
    filter.add({1}, at(1980));
    for (const double t : {2.0, 3.0, 4.0, 5.0}) filter.add({t}, at(t == 5 ? 1200 : 1500));

    EXPECT_EQ(filter.discarded(), 2);
    EXPECT_EQ(filter.samples(), (std::vector<double>{1, 4, 5}));
    EXPECT_EQ(filter.remark(), "2 of 3 bursts at a throttled clock, down to 1200 of 1980 MHz");
}

TEST(BurstFilter, ASlowdownForGoodIsRemarkedWithoutClocksToo) {
    BurstFilter filter(0.05, 1);
    filter.add({1}, slowed(0));
    filter.add({2}, slowed(0));

    EXPECT_EQ(filter.samples(), std::vector<double>{2});
    EXPECT_EQ(filter.remark(), "1 of 1 bursts at a throttled clock");
}

}  // namespace
}  // namespace gnntune::tuner

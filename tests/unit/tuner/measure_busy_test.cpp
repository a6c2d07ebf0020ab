// Beside other programs: calls that waited for a processor do not count, and a time that cannot be had is said to be
// none. And beside the clock: what a limited time leaves.
#include <limits>

#include "tests/unit/tuner/measure_fixture.hpp"

namespace gnntune::tuner {
namespace {

TEST_F(MeasureTest, CallsThatWaitedForAProcessorAreMadeAgain) {
    stopwatch_.times = {{0, {10}}};
    stopwatch_.lost_calls[0] = {true, true, false, true, false};  // then none

    EXPECT_TRUE(measure_all(1));

    EXPECT_EQ(of(0).status, MeasurementStatus::ok);
    EXPECT_EQ(of(0).median_us, 10);
    EXPECT_EQ(of(0).q3_us, 10) << "a time slice is among the times";
    EXPECT_GE(of(0).samples, options_.min_samples);
    EXPECT_EQ(of(0).reason, "");
}

TEST_F(MeasureTest, WhatNeverHasAProcessorHasNoTime) {
    stopwatch_.times = {{0, {10}}, {1, {12}}};
    stopwatch_.lost_calls[0] = {true};
    options_.most_lost_us = 30 * stopwatch_.lost_us;

    EXPECT_TRUE(measure_all(2, {0}));

    EXPECT_TRUE(of(0).disturbed()) << of(0).reason;
    EXPECT_EQ(of(0).samples, 0);
    EXPECT_EQ(of(0).median_us, 0);
    EXPECT_NE(of(0).reason.find("disturbed: 30 of 30 calls waited for a processor, of 8.0 ms each"), std::string::npos)
        << of(0).reason;
    EXPECT_EQ(of(0).variant_version, 3);
    EXPECT_EQ(of(1).status, MeasurementStatus::ok);
    EXPECT_EQ(frontier_.best(), 12) << "it was judged by a time that could not be had";
    EXPECT_EQ(finished_.size(), 2U);
}

TEST_F(MeasureTest, AFewTimesThatCouldBeHadAreNotEnough) {
    stopwatch_.times = {{0, {10}}};
    stopwatch_.lost_calls[0] = {false, true, false, true, false, true, true};  // three are had, no more
    options_.most_lost_us = 50 * stopwatch_.lost_us;

    EXPECT_TRUE(measure_all(1));

    EXPECT_TRUE(of(0).disturbed()) << of(0).reason;
    EXPECT_EQ(frontier_.best_for({}), std::numeric_limits<double>::infinity());
}

TEST_F(MeasureTest, EnoughTimesCountHoweverManyWereLost) {
    stopwatch_.times = {{0, {10, 12}}};  // never as narrow as it should be
    std::vector<bool> losses;
    for (int i = 0; i < 40; ++i) losses.insert(losses.end(), {true, true, false});
    stopwatch_.lost_calls[0] = losses;
    options_.most_lost_us = 45 * stopwatch_.lost_us;

    EXPECT_TRUE(measure_all(1));

    EXPECT_EQ(of(0).status, MeasurementStatus::ok) << of(0).reason;
    EXPECT_GE(of(0).samples, options_.min_samples);
    EXPECT_LT(of(0).samples, options_.max_samples);
    EXPECT_LE(of(0).ci_high_us, 12);
    EXPECT_NE(of(0).reason.find("calls more waited for a processor and do not count"), std::string::npos);
}

TEST_F(MeasureTest, WhatIsStillUncertainIsTakenAgainLater) {
    stopwatch_.times = {{0, {10, 20}}};
    std::vector<bool> losses;
    for (int i = 0; i < 40; ++i) losses.insert(losses.end(), {true, false, false});
    stopwatch_.lost_calls[0] = losses;
    options_.most_lost_us = 30 * stopwatch_.lost_us;

    EXPECT_TRUE(measure_all(1));

    EXPECT_EQ(of(0).status, MeasurementStatus::ok);
    EXPECT_TRUE(of(0).reason.starts_with("stopped early: ")) << of(0).reason;
}

TEST_F(MeasureTest, NobodyIsGivenUpForALostBurst) {
    stopwatch_.times = {{0, {10}}, {1, {11}}};
    stopwatch_.lost_calls[1] = {true, true, true, true, true, true, true, true, true, true, false};

    EXPECT_TRUE(measure_all(2));

    EXPECT_EQ(of(1).status, MeasurementStatus::ok);
    EXPECT_EQ(of(1).median_us, 11);
}

TEST_F(MeasureTest, TheFirstIsTimedHoweverLateItIs) {
    stopwatch_.times = {{0, {10}}, {1, {11}}};
    options_.enough_when_stopped = options_.burst;
    options_.first_in_any_case = true;
    hooks_.stop = [] { return true; };

    EXPECT_FALSE(measure_all(2));

    EXPECT_EQ(of(0).status, MeasurementStatus::ok);
    EXPECT_EQ(of(0).samples, options_.burst);
    EXPECT_EQ(of(0).reason, "stopped early: 5 of at least 20 calls were timed");
    EXPECT_EQ(of(1).samples, 0);
    EXPECT_EQ(stage.launches[1], 0) << "the time was up before its turn";
    EXPECT_EQ(finished_.size(), 1U);
}

TEST_F(MeasureTest, TheFirstIsTimedThoughTheTimeIsUpWhileTheOthersTakeTheirTurns) {
    stopwatch_.times = {{0, {10, 12}}, {1, {11, 13}}};
    options_.enough_when_stopped = 3 * options_.burst;
    options_.first_in_any_case = true;
    hooks_.stop = [this] { return stopwatch_.bursts.size() >= 3; };  // 0, 1, 0

    EXPECT_FALSE(measure_all(2));

    EXPECT_EQ(of(0).samples, 3 * options_.burst);
    EXPECT_EQ(of(1).samples, 0);
    EXPECT_EQ(stopwatch_.bursts, (std::vector<int>{0, 1, 0, 0}));
}

TEST_F(MeasureTest, WhoQuitsNeedNotWaitForTheFirst) {
    stopwatch_.times = {{0, {10}}};
    options_.enough_when_stopped = options_.burst;
    options_.first_in_any_case = true;
    hooks_.quit = [] { return true; };

    EXPECT_FALSE(measure_all(1));

    EXPECT_TRUE(stage.launches.empty());
    EXPECT_TRUE(finished_.empty());
}

TEST_F(MeasureTest, ALongCallIsABurstOfItsOwn) {
    stopwatch_.times = {{0, {10}}};
    options_.long_call_us = 0;

    EXPECT_TRUE(measure_all(1));

    EXPECT_EQ(of(0).samples, options_.min_samples);
    EXPECT_EQ(bursts_of(0), options_.min_samples);
    EXPECT_EQ(stage.launches[0], 1 + 1 + options_.min_samples) << "the check, one untimed call, and those that count";
}

}  // namespace
}  // namespace gnntune::tuner

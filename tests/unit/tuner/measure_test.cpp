// Timing without a clock: what is checked, timed, given up and reported.
#include "tests/unit/tuner/measure_fixture.hpp"

namespace gnntune::tuner {
namespace {

TEST_F(MeasureTest, StopsAsSoonAsTheIntervalIsTight) {
    stopwatch_.times = {{0, {10}}};

    EXPECT_TRUE(measure_all(1));

    EXPECT_EQ(of(0).status, MeasurementStatus::ok);
    EXPECT_EQ(of(0).samples, options_.min_samples);
    EXPECT_EQ(of(0).median_us, 10);
    EXPECT_EQ(frontier_.best(), 10);
}

TEST_F(MeasureTest, GoesOnToTheLastSampleWhileItIsNot) {
    stopwatch_.times = {{0, {10, 12}}};

    EXPECT_TRUE(measure_all(1));

    EXPECT_EQ(of(0).samples, options_.max_samples);
    EXPECT_EQ(of(0).ci_low_us, 10);
    EXPECT_EQ(of(0).ci_high_us, 12);
}

TEST_F(MeasureTest, ADisturbedBurstDoesNotDecideWhereFewAreAllowed) {
    options_.max_samples = 10;
    stopwatch_.times = {{0, {10, 10, 10, 10, 10, 40, 40, 40, 40, 40}}, {1, {10, 10, 10, 10, 10, 40, 40, 40, 40, 40}}};
    for (int i = 0; i < 100; ++i) stopwatch_.times[0].push_back(10);

    EXPECT_TRUE(measure_all(2));

    EXPECT_EQ(of(0).median_us, 10);
    EXPECT_GT(of(0).samples, options_.max_samples);
    EXPECT_LE(of(0).samples, options_.unsteady_factor * options_.max_samples);
    // Two speeds to the end: the row's interval says so.
    EXPECT_EQ(of(1).samples, options_.unsteady_factor * options_.max_samples);
    EXPECT_EQ(of(1).ci_high_us, 40);
}

TEST_F(MeasureTest, SpendsNoMoreThanNeededOnOneThatCannotWin) {
    stopwatch_.times = {{0, {10}}, {1, {14, 16}}};

    measure_all(2);

    EXPECT_EQ(of(1).status, MeasurementStatus::ok);
    EXPECT_EQ(of(1).samples, options_.min_samples);
}

TEST_F(MeasureTest, WhatIsStoppedCountsIfItHasEnoughSamplesAndThatIsWanted) {
    stopwatch_.times = {{0, {10, 12}}, {1, {11, 13}}};
    hooks_.stop = [this] { return stopwatch_.bursts.size() >= 3; };  // 0, 1, 0

    EXPECT_FALSE(measure_all(2));
    EXPECT_TRUE(finished_.empty());
    EXPECT_EQ(of(0).samples, 0);

    stopwatch_.bursts.clear();
    options_.enough_when_stopped = 2 * options_.burst;
    EXPECT_FALSE(measure_all(2));
    EXPECT_EQ(finished_, std::vector<std::string>{of(0).config.text()});
    EXPECT_EQ(of(0).status, MeasurementStatus::ok);
    EXPECT_EQ(of(0).samples, 2 * options_.burst);
    EXPECT_EQ(of(1).samples, 0);
    EXPECT_EQ(frontier_.best(), of(0).median_us);
}

TEST_F(MeasureTest, AGraphPolicyIsRefusedWhereNothingCanBeCaptured) {
    policy_ = Policy::graph;
    stopwatch_.times = {{0, {10}}, {1, {11}}};

    EXPECT_TRUE(measure_all(2));

    EXPECT_EQ(of(0).status, MeasurementStatus::refused);
    EXPECT_NE(of(0).reason.find("CUDA graph"), std::string::npos) << of(0).reason;
    EXPECT_EQ(finished_.size(), 2U) << "each outcome is reported once";
    EXPECT_EQ(bursts_of(0), 0);
}

TEST_F(MeasureTest, GivesUpTheHopelessWithAReason) {
    stopwatch_.times = {{0, {10}}, {1, {1000}}, {2, {29}}};

    measure_all(3);

    EXPECT_EQ(of(1).status, MeasurementStatus::abandoned);
    EXPECT_LE(of(1).samples, 2 * options_.burst);
    EXPECT_EQ(of(1).median_us, 1000);
    EXPECT_NE(of(1).reason.find("100.0"), std::string::npos) << of(1).reason;
    EXPECT_EQ(of(2).status, MeasurementStatus::ok);
    EXPECT_EQ(frontier_.best(), 10);
}

TEST_F(MeasureTest, GivesUpTheHopelessWhereverTheyStand) {
    stopwatch_.times = {{0, {1000}}, {1, {10}}};

    measure_all(2);

    EXPECT_EQ(of(0).status, MeasurementStatus::abandoned);
    EXPECT_EQ(of(1).status, MeasurementStatus::ok);
}

TEST_F(MeasureTest, ASlowFirstCallDoesNotMakeItHopeless) {
    stopwatch_.times = {{0, {10}}, {1, {5000, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}}};

    measure_all(2);

    EXPECT_EQ(of(1).status, MeasurementStatus::ok);
    EXPECT_EQ(of(1).median_us, 9);
}

TEST_F(MeasureTest, ABaselineIsMeasuredToTheEndHoweverSlow) {
    stopwatch_.times = {{0, {10}}, {1, {1000}}, {2, {900, 1100}}};

    measure_all(3, {1, 2});

    EXPECT_EQ(of(1).status, MeasurementStatus::ok);
    EXPECT_EQ(of(1).samples, options_.min_samples);
    EXPECT_EQ(of(2).status, MeasurementStatus::ok);
    EXPECT_EQ(of(2).samples, options_.max_samples);
}

TEST_F(MeasureTest, TheBestOfEarlierCallsCounts) {
    stopwatch_.times = {{0, {10}}};
    frontier_.add({}, 1);

    measure_all(1);

    EXPECT_EQ(of(0).status, MeasurementStatus::abandoned);
    EXPECT_EQ(of(0).samples, options_.burst);
    EXPECT_EQ(frontier_.best(), 1);
}

TEST_F(MeasureTest, AWrongConfigIsNeverTimed) {
    stopwatch_.times = {{0, {10}}, {1, {1}}};
    stage.wrong[1] = true;

    EXPECT_TRUE(measure_all(2));

    EXPECT_EQ(of(1).status, MeasurementStatus::wrong);
    EXPECT_EQ(of(1).samples, 0);
    EXPECT_EQ(of(1).median_us, 0);
    EXPECT_GT(of(1).worst_ratio, 1);
    EXPECT_NE(of(1).reason.find("misses the oracle"), std::string::npos) << of(1).reason;
    EXPECT_EQ(bursts_of(1), 0);
    EXPECT_EQ(stage.launches[1], 1);
    EXPECT_EQ(frontier_.best(), 10);
}

TEST_F(MeasureTest, AnErrorIsStoredAndTheOthersGoOn) {
    stopwatch_.times = {{0, {10}}, {1, {10}}, {2, {10}}, {3, {10}}};
    stage.throws_at_call[1] = 1;   // in the check
    stage.throws_at_call[2] = 10;  // while it is timed
    stage.throws_in_prepare[3] = true;

    EXPECT_TRUE(measure_all(4));

    EXPECT_EQ(of(0).status, MeasurementStatus::ok);
    for (const int id : {1, 2, 3}) {
        EXPECT_EQ(of(id).status, MeasurementStatus::failed) << id;
        EXPECT_NE(of(id).reason, "") << id;
        EXPECT_EQ(of(id).variant_version, 3) << "a failure is of the version that failed: " << id;
    }
    EXPECT_EQ(of(1).reason, "the device fell over");
    EXPECT_EQ(of(2).reason, "the device fell over");
    EXPECT_EQ(of(1).samples, 0);
}

TEST_F(MeasureTest, APlanThatWasHeldUpOnceIsPreparedAgain) {
    stopwatch_.times = {{0, {10}}, {1, {10}}, {2, {10}}};
    stage.slow_prepares[1] = 1;
    stage.slow_prepares[2] = 100;

    EXPECT_TRUE(measure_all(3));

    const double slow = 1e3 * kSlowPrepare.count();
    EXPECT_LT(of(1).prepare_us, slow);
    EXPECT_GE(stage.prepares[1], 2);
    EXPECT_GE(of(2).prepare_us, slow) << "it is slow";
    for (const int id : {0, 1, 2}) EXPECT_EQ(of(id).status, MeasurementStatus::ok) << id;
}

TEST_F(MeasureTest, AConfigThatIsNotLegalFails) {
    contenders_.resize(2);
    contenders_[0].config = {"spmm.stage", {{"id", "9"}}};
    contenders_[1].config = {"spmm.nobody", {}};

    EXPECT_TRUE(measure(*workload_, contenders_, stopwatch_, Policy::hot, options_, hooks_, frontier_));

    EXPECT_EQ(of(0).status, MeasurementStatus::failed);
    EXPECT_EQ(of(1).status, MeasurementStatus::failed);
    EXPECT_EQ(finished_.size(), 2u);
}

TEST_F(MeasureTest, ContendersTakeTurns) {
    stopwatch_.times = {{0, {10}}, {1, {10.1}}, {2, {10.2}}};

    measure_all(3);

    EXPECT_EQ(stopwatch_.bursts, (std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}));
    // One call in the check, one untimed before each of four bursts of five.
    EXPECT_EQ(stage.launches[0], 1 + 4 * 6);
}

TEST_F(MeasureTest, EveryOneIsReportedOnceWhenItIsComplete) {
    stopwatch_.times = {{0, {10, 12}}, {1, {1000}}, {2, {12}}, {3, {10}}};
    stage.wrong[3] = true;

    measure_all(4);

    EXPECT_EQ(finished_, (std::vector<std::string>{"spmm.stage{id=3}", "spmm.stage{id=1}", "spmm.stage{id=2}",
                                                   "spmm.stage{id=0}"}));
}

TEST_F(MeasureTest, StopEndsItAndLeavesNothingHalfMeasured) {
    stopwatch_.times = {{0, {10}}, {1, {10, 12}}, {2, {10, 12}}};
    hooks_.stop = [&] { return !finished_.empty(); };

    EXPECT_FALSE(measure_all(3));

    EXPECT_EQ(finished_, (std::vector<std::string>{"spmm.stage{id=0}"}));
    EXPECT_EQ(of(0).samples, options_.min_samples);
    EXPECT_EQ(of(1).samples, 0);
    EXPECT_EQ(of(2).samples, 0);
}

TEST_F(MeasureTest, StopBeforeTheFirstRunsNothing) {
    hooks_.stop = [] { return true; };

    EXPECT_FALSE(measure_all(2));

    EXPECT_TRUE(stage.launches.empty());
    EXPECT_TRUE(finished_.empty());
}

TEST_F(MeasureTest, AMeasurementSaysHowItWasTaken) {
    stopwatch_.times = {{0, {1, 2, 3, 4}}};
    options_.max_samples = 20;

    measure_all(1);

    const Measurement& m = of(0);
    EXPECT_EQ(m.config.text(), "spmm.stage{id=0}");
    EXPECT_EQ(m.variant_version, 3);
    EXPECT_EQ(m.clock, Clock::host);
    EXPECT_EQ(m.policy, Policy::hot);
    EXPECT_EQ(m.min_us, 1);
    EXPECT_EQ(m.q1_us, 1.75);
    EXPECT_EQ(m.median_us, 2.5);
    EXPECT_EQ(m.q3_us, 3.25);
    EXPECT_TRUE(m.deterministic);
    EXPECT_LE(m.worst_ratio, 1);
}

/// Clocks of the bursts, in order; the last one for ever.
std::function<ClockState()> clocks(std::vector<ClockState> states) {
    return [states, next = std::size_t{0}]() mutable { return states[std::min(next++, states.size() - 1)]; };
}

TEST_F(MeasureTest, BurstsAtAThrottledClockAreTakenAgain) {
    std::vector<double> times(5, 20.0);  // the first burst
    times.insert(times.end(), 200, 10.0);
    stopwatch_.times = {{0, times}};
    hooks_.clock = clocks({{1000, false}, {1980, false}});

    measure_all(1);

    EXPECT_EQ(of(0).status, MeasurementStatus::ok);
    EXPECT_EQ(of(0).median_us, 10);
    EXPECT_EQ(of(0).q3_us, 10) << "the slow burst does not count";
    EXPECT_EQ(of(0).samples, options_.min_samples);
    EXPECT_EQ(bursts_of(0), options_.min_samples / options_.burst + 1);
    EXPECT_EQ(of(0).sm_clock_mhz, 1980);
    EXPECT_EQ(of(0).reason, "");
}

TEST_F(MeasureTest, AGpuThatStaysSlowedDownIsMeasuredAllTheSameAndSaysSo) {
    stopwatch_.times = {{0, {10}}};
    options_.max_discarded = 3;
    hooks_.clock = clocks({{1200, true}});

    EXPECT_TRUE(measure_all(1));

    EXPECT_EQ(of(0).status, MeasurementStatus::ok);
    EXPECT_EQ(of(0).samples, options_.min_samples);
    EXPECT_EQ(bursts_of(0), options_.min_samples / options_.burst + 3);
    EXPECT_EQ(of(0).reason, "4 of 4 bursts at a throttled clock, down to 1200 of 1200 MHz");
}

TEST_F(MeasureTest, NobodyIsGivenUpForADiscardedBurst) {
    std::vector<double> times(5, 100.0);
    times.insert(times.end(), 200, 10.0);
    stopwatch_.times = {{0, {10}}, {1, times}};
    hooks_.clock = clocks({{1980, false}, {1980, true}, {1980, false}});  // the second burst is that of config 1

    measure_all(2);

    EXPECT_EQ(of(1).status, MeasurementStatus::ok);
    EXPECT_EQ(of(1).median_us, 10);
}

TEST_F(MeasureTest, ARefusalNamesVariantVersionAndReason) {
    const Measurement m = refused(stage_variant(), "no heads", Policy::cold, Clock::events);

    EXPECT_EQ(m.config.text(), "spmm.stage");
    EXPECT_EQ(m.variant_version, 3);
    EXPECT_EQ(m.status, MeasurementStatus::refused);
    EXPECT_EQ(m.reason, "no heads");
    EXPECT_EQ(m.policy, Policy::cold);
    EXPECT_EQ(m.clock, Clock::events);
}

}  // namespace
}  // namespace gnntune::tuner

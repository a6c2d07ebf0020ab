// What binds a config: shares of limits computed by hand, and the word for them.
#include "tuner/bound.hpp"

#include <gtest/gtest.h>

namespace gnntune::tuner {
namespace {

DeviceConstants constants() {
    DeviceConstants c;
    c.copy_gbps = 4000;
    c.gather = {{1 << 22, 64, 8000}, {1 << 22, 512, 10000}, {1 << 30, 512, 3000}};
    return c;
}

/// 2 MB of DRAM and 3.2 MB of L2 in 1 us; SMs active for half of it.
Counters counters() {
    Counters c;
    c.dram_read_bytes = 1.5e6;
    c.dram_write_bytes = 0.5e6;
    c.l2_read_sectors = 50000;
    c.l2_write_sectors = 30000;
    c.l2_atomic_sectors = 5000;
    c.l2_reduction_sectors = 15000;
    c.issue_percent = 40;
    c.l1_pipe_percent = 30;
    c.tensor_pipe_percent = 0;
    c.occupancy_percent = 80;
    c.sm_active_us = 0.5;
    c.atomic_unit_us = 0.1;
    return c;
}

TEST(Limits, AreSharesOfWhatTheDeviceCanDoInThatTime) {
    const Limits limits = limits_of(counters(), 1, constants());

    EXPECT_DOUBLE_EQ(limits.dram.value(), 50);
    EXPECT_DOUBLE_EQ(limits.l2.value(), 32) << "100,000 sectors of 32 bytes at 10,000 GB/s";
    EXPECT_DOUBLE_EQ(limits.atomics.value(), 10);
    EXPECT_DOUBLE_EQ(limits.issue.value(), 20) << "40 % of half of the time";
    EXPECT_DOUBLE_EQ(limits.l1.value(), 15);
    EXPECT_DOUBLE_EQ(limits.tensor.value(), 0);
    EXPECT_DOUBLE_EQ(limits.warps.value(), 40);
}

TEST(Limits, NoSmIsActiveForLongerThanTheTime) {
    // The replay may take longer than the timed run.
    EXPECT_DOUBLE_EQ(limits_of(counters(), 0.25, constants()).issue.value(), 40);
}

TEST(Limits, WithoutRatesOrCountersAreNothing) {
    const Limits unmeasured = limits_of(counters(), 1, {});
    EXPECT_FALSE(unmeasured.dram.has_value());
    EXPECT_FALSE(unmeasured.l2.has_value());
    EXPECT_TRUE(unmeasured.issue.has_value());

    Counters c = counters();
    c.l2_atomic_sectors.reset();
    EXPECT_FALSE(limits_of(c, 1, constants()).l2.has_value());
}

TEST(Bound, IsTheNearestLimit) {
    Limits limits = limits_of(counters(), 1, constants());
    limits.dram = 60;
    EXPECT_EQ(bound_of(limits), "dram");
    limits.l2 = 61;
    EXPECT_EQ(bound_of(limits), "l2");
    limits.l1 = 62;
    EXPECT_EQ(bound_of(limits), "l1");
    limits.issue = 63;
    EXPECT_EQ(bound_of(limits), "issue");
    limits.tensor = 64;
    EXPECT_EQ(bound_of(limits), "tensor");
    limits.atomics = 65;
    EXPECT_EQ(bound_of(limits), "atomics");
}

TEST(Bound, FarFromEveryLimitIsOccupancyOrLatency) {
    Limits limits = limits_of(counters(), 1, constants());
    EXPECT_EQ(bound_of(limits), "occupancy");
    limits.warps = 50;
    EXPECT_EQ(bound_of(limits), "latency");
}

TEST(Bound, OfNothingIsNothing) {
    EXPECT_EQ(bound_of({}), "");
    Limits limits = limits_of(counters(), 1, {});
    EXPECT_EQ(bound_of(limits), "") << "without rates of the device, DRAM may bind";
    limits.issue = 60;
    EXPECT_EQ(bound_of(limits), "issue");
}

TEST(Movement, IsWhatPassedL2OverWhatHasToBeMoved) {
    Work work;
    work.a_bytes = 0.5e6;
    work.gather_min_bytes = 0.8e6;
    work.out_bytes = 0.3e6;
    EXPECT_EQ(movement_text(counters(), work), "moved 2.0x the compulsory bytes, 38 % of them from L2");

    Counters c = counters();
    c.dram_read_bytes = 4e6;
    EXPECT_EQ(movement_text(c, work), "moved 2.0x the compulsory bytes, 0 % of them from L2");
    c.dram_read_bytes.reset();
    EXPECT_EQ(movement_text(c, work), "");
    EXPECT_EQ(movement_text(counters(), {}), "");
}

}  // namespace
}  // namespace gnntune::tuner

// The roofline: rates between the measured ones, and one number computed by hand.
#include "tuner/roofline.hpp"

#include <gtest/gtest.h>

namespace gnntune::tuner {
namespace {

DeviceConstants constants() {
    DeviceConstants c;
    c.copy_gbps = 4;
    // Out of order on purpose: rows of a database come in the order in which they were measured.
    c.gather = {{102400, 128, 50}, {1024, 128, 100}, {1024, 512, 200}, {102400, 512, 80}};
    return c;
}

TEST(GatherRate, IsTheMeasuredOneAtMeasuredSizes) {
    for (const GatherRate& r : constants().gather) {
        EXPECT_EQ(gather_gbps(constants(), r.table_bytes, r.row_bytes), r.gbps);
    }
}

TEST(GatherRate, IsLinearInTheLogarithmOfTheTable) {
    EXPECT_NEAR(gather_gbps(constants(), 10240, 128), 75, 1e-9);
    EXPECT_NEAR(gather_gbps(constants(), 10240, 512), 140, 1e-9);
}

TEST(GatherRate, IsLinearInTheLogarithmOfTheRow) {
    EXPECT_NEAR(gather_gbps(constants(), 1024, 256), 150, 1e-9);
    EXPECT_NEAR(gather_gbps(constants(), 102400, 256), 65, 1e-9);
}

TEST(GatherRate, IsBilinearInBetween) {
    EXPECT_NEAR(gather_gbps(constants(), 10240, 256), (75 + 140) / 2.0, 1e-9);
}

TEST(GatherRate, IsClampedToTheMeasuredRange) {
    EXPECT_EQ(gather_gbps(constants(), 1, 128), 100);
    EXPECT_EQ(gather_gbps(constants(), 1e12, 128), 50);
    EXPECT_EQ(gather_gbps(constants(), 1024, 4), 100);
    EXPECT_EQ(gather_gbps(constants(), 1024, 4096), 200);
    EXPECT_EQ(gather_gbps(constants(), 1e12, 1e6), 80);
}

TEST(GatherRate, OfOneMeasurementIsThatOneEverywhere) {
    DeviceConstants c;
    c.gather = {{1024, 128, 33}};

    EXPECT_EQ(gather_gbps(c, 1, 1), 33);
    EXPECT_EQ(gather_gbps(c, 1e9, 1e9), 33);
}

TEST(GatherRate, OfAnUnmeasuredDeviceIsZero) {
    EXPECT_EQ(gather_gbps({}, 1024, 128), 0);
}

Query query(Op op, std::int32_t k, bool weighted) {
    Query q;
    q.problem.op = op;
    q.problem.k = k;
    q.problem.weighted = weighted;
    q.n_rows = 100;
    q.n_cols = 90;
    q.m = 1000;
    return q;
}

TEST(Roofline, IsTheOneComputedByHand) {
    // 1000 column ids and 101 row pointers; rows of 32 floats: 80 distinct ones, one per edge, 100 written.
    const Roofline r = roofline(query(Op::spmm, 32, false), 80, constants());

    EXPECT_EQ(r.work.a_bytes, 4404);
    EXPECT_EQ(r.work.gather_min_bytes, 10240);
    EXPECT_EQ(r.work.gather_max_bytes, 128000);
    EXPECT_EQ(r.work.out_bytes, 12800);
    EXPECT_EQ(r.work.flops, 64000);
    // 27,444 bytes at 4 GB/s; 145,204 bytes at 75 GB/s, the rate for a table of 10,240 bytes.
    EXPECT_NEAR(r.floor_us, 6.861, 1e-9);
    EXPECT_NEAR(r.gather_us, 145204 / 75e3, 1e-9);
    EXPECT_EQ(r.us(), r.floor_us);
}

TEST(Roofline, IsTheGatherWhereCopyingIsFast) {
    DeviceConstants c = constants();
    c.copy_gbps = 4000;

    const Roofline r = roofline(query(Op::spmm, 32, false), 80, c);

    EXPECT_EQ(r.us(), r.gather_us);
    EXPECT_GT(r.gather_us, r.floor_us);
}

TEST(Roofline, WeightsCountWithTheGraph) {
    EXPECT_EQ(roofline(query(Op::spmm, 32, true), 80, constants()).work.a_bytes, 8404);
}

TEST(Roofline, AGatheredRowIsMovedInSectors) {
    // 33 floats are 132 bytes: five sectors of 32.
    const Roofline r = roofline(query(Op::spmm, 33, false), 80, constants());

    EXPECT_EQ(r.work.gather_max_bytes, 160000);
    EXPECT_EQ(r.work.gather_min_bytes, 80 * 132);
}

TEST(Roofline, SddmmReadsItsRowsAndWritesItsEdges) {
    EXPECT_EQ(roofline(query(Op::sddmm, 32, false), 80, constants()).work.out_bytes, 12800 + 4000);
}

TEST(Roofline, OfAnUnmeasuredDeviceIsZeroButItsBytesAreKnown) {
    const Roofline r = roofline(query(Op::spmm, 32, false), 80, {});

    EXPECT_EQ(r.us(), 0);
    EXPECT_EQ(r.work.gather_max_bytes, 128000);
}

TEST(Roofline, OfAGraphWithoutEdgesIsFinite) {
    Query q = query(Op::spmm, 32, false);
    q.m = 0;

    const Roofline r = roofline(q, 0, constants());

    EXPECT_NEAR(r.floor_us, (404 + 12800) / 4e3, 1e-9);
    EXPECT_NEAR(r.gather_us, (404 + 12800) / 100e3, 1e-9);
}

}  // namespace
}  // namespace gnntune::tuner

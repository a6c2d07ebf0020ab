// The roofline: rates between the measured ones, and one number computed by hand.
#include "core/model/roofline.hpp"

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
    Query q = query(Op::sddmm, 32, false);
    EXPECT_EQ(roofline(q, 80, constants()).work.out_bytes, 12800 + 4000);
    q.problem.k = 8;
    q.problem.heads = 4;
    EXPECT_EQ(roofline(q, 80, constants()).work.out_bytes, 12800 + 16000);
}

TEST(Roofline, SelfLoopsAreEdgesWithoutAnIndex) {
    Query q = query(Op::spmm, 32, true);
    q.n_cols = q.n_rows;
    q.problem.self_loop = true;

    const Work w = roofline(q, 80, constants()).work;

    EXPECT_EQ(w.a_bytes, 8404 + 400);
    EXPECT_EQ(w.gather_min_bytes, 100 * 128);
    EXPECT_EQ(w.gather_max_bytes, 1100 * 128);
    EXPECT_EQ(w.flops, 2 * 1100 * 32);
}

TEST(Roofline, SpmmGradGathersRowsAndWritesColumns) {
    const Work unweighted = roofline(query(Op::spmm_grad, 32, false), 70, constants()).work;
    EXPECT_EQ(unweighted.a_bytes, 4000 + 4 * 91);
    EXPECT_EQ(unweighted.gather_min_bytes, 70 * 128);
    EXPECT_EQ(unweighted.out_bytes, 90 * 128);
    EXPECT_EQ(unweighted.flops, 64000);

    // x is read and a gradient of every edge written, for as many flops again.
    const Work weighted = roofline(query(Op::spmm_grad, 32, true), 70, constants()).work;
    EXPECT_EQ(weighted.out_bytes, 2 * 90 * 128 + 4000);
    EXPECT_EQ(weighted.flops, 128000);
}

TEST(Roofline, HeadsHaveWeightsOfTheirOwn) {
    Query q = query(Op::spmm, 8, true);
    q.problem.heads = 4;  // rows of 128 bytes, weights of 16
    q.n_cols = q.n_rows;
    q.problem.self_loop = true;

    const Work forward = roofline(q, 80, constants()).work;
    EXPECT_EQ(forward.a_bytes, 1000 * (4 + 16) + 404 + 100 * 16);
    EXPECT_EQ(forward.gather_max_bytes, 1100 * 128);
    EXPECT_EQ(forward.flops, 2 * 1100 * 32);

    q.problem.op = Op::spmm_grad;
    const Work backward = roofline(q, 80, constants()).work;
    EXPECT_EQ(backward.a_bytes, forward.a_bytes);
    EXPECT_EQ(backward.out_bytes, 2 * 100 * 128 + 1000 * 16 + 100 * 16);

    // A maximum's share one.
    q.problem.op = Op::spmm;
    q.problem.self_loop = false;
    q.problem.reduce = Reduce::max;
    EXPECT_EQ(roofline(q, 80, constants()).work.a_bytes, 8404);
}

TEST(Roofline, SpmmGradGathersTheOtherEnd) {
    Features f;
    f.distinct_cols = 80;
    f.counts.n_rows = 100;
    f.empty_rows = 30;
    Problem p;
    EXPECT_EQ(gathered_rows(p, f), 80);
    p.direction = Direction::reversed;
    EXPECT_EQ(gathered_rows(p, f), 70);
    p.op = Op::spmm_grad;
    EXPECT_EQ(gathered_rows(p, f), 80);
    p.direction = Direction::forward;
    EXPECT_EQ(gathered_rows(p, f), 70);
}

TEST(Roofline, GcnNormGathersADegreeWhateverTheWidth) {
    Query q = query(Op::gcn_norm, 32, true);
    q.n_cols = q.n_rows;

    const Work w = roofline(q, 80, constants()).work;

    EXPECT_EQ(w.gather_min_bytes, 80 * 4);
    EXPECT_EQ(w.gather_max_bytes, 32000);
    EXPECT_EQ(w.out_bytes, 4000 + 400);
    EXPECT_EQ(w.flops, 3200);
}

TEST(Roofline, EdgeSoftmaxReadsAndWritesItsValuesInOrder) {
    Query q = query(Op::edge_softmax, 1, false);
    q.problem.heads = 3;

    const Work w = roofline(q, 80, constants()).work;

    EXPECT_EQ(w.a_bytes, 404);
    EXPECT_EQ(w.gather_min_bytes, 0);
    EXPECT_EQ(w.gather_max_bytes, 0);
    EXPECT_EQ(w.out_bytes, 2 * 1000 * 12);
    EXPECT_EQ(w.flops, 4 * 3000);
}

TEST(Roofline, GatGathersScoresBesideFeatures) {
    Query q = query(Op::gat, 16, false);
    q.problem.heads = 2;  // rows of 128 bytes, scores of 8

    const Work forward = roofline(q, 80, constants()).work;
    EXPECT_EQ(forward.a_bytes, 4000 + 404);
    EXPECT_EQ(forward.gather_min_bytes, 80 * (128 + 8));
    EXPECT_EQ(forward.gather_max_bytes, 1000 * (128 + 32));
    EXPECT_EQ(forward.out_bytes, 100 * (128 + 2 * 8));
    EXPECT_EQ(forward.flops, 64000);

    q.problem.op = Op::gat_grad;
    const Work backward = roofline(q, 80, constants()).work;
    EXPECT_EQ(backward.gather_min_bytes, 80 * (128 + 8));
    EXPECT_EQ(backward.gather_max_bytes, 1000 * (2 * 128 + 32));
    EXPECT_EQ(backward.out_bytes, 100 * (2 * 128 + 3 * 8) + 90 * (128 + 8));
    EXPECT_EQ(backward.flops, 128000);
}

TEST(Roofline, AgnnUsesAGatheredRowTwice) {
    const Work w = roofline(query(Op::agnn, 32, false), 80, constants()).work;

    EXPECT_EQ(w.gather_min_bytes, 80 * 128);
    EXPECT_EQ(w.gather_max_bytes, 128000);
    EXPECT_EQ(w.out_bytes, 100 * (2 * 128 + 4));
    EXPECT_EQ(w.flops, 128000);
}

TEST(Roofline, AgnnGradMovesTwoRowsForEveryEdge) {
    const Work w = roofline(query(Op::agnn_grad, 32, false), 80, constants()).work;

    EXPECT_EQ(w.gather_min_bytes, 80 * 128);
    EXPECT_EQ(w.gather_max_bytes, 256000);
    EXPECT_EQ(w.out_bytes, 100 * (4 * 128 + 4) + 90 * 128);
    EXPECT_EQ(w.flops, 320000);
}

TEST(Roofline, AttentionGathersKeysAndValues) {
    const Work w = roofline(query(Op::attention, 32, false), 80, constants()).work;

    EXPECT_EQ(w.row_bytes, 128);
    EXPECT_EQ(w.gather_min_bytes, 2 * 80 * 128);
    EXPECT_EQ(w.gather_max_bytes, 256000);
    EXPECT_EQ(w.out_bytes, 100 * (2 * 128 + 4));
    EXPECT_EQ(w.flops, 128000);
}

TEST(Roofline, AttentionGradMovesFourRowsForEveryEdge) {
    const Work w = roofline(query(Op::attention_grad, 32, false), 80, constants()).work;

    EXPECT_EQ(w.gather_min_bytes, 2 * 80 * 128);
    EXPECT_EQ(w.gather_max_bytes, 512000);
    EXPECT_EQ(w.out_bytes, 100 * (4 * 128 + 4) + 90 * 2 * 128);
    EXPECT_EQ(w.flops, 320000);
}

TEST(Roofline, OfAnUnmeasuredDeviceIsZeroButItsBytesAreKnown) {
    const Roofline r = roofline(query(Op::spmm, 32, false), 80, {});

    EXPECT_EQ(r.us(), 0);
    EXPECT_EQ(r.work.gather_max_bytes, 128000);
}

TEST(Roofline, OfASampleIsThatOfTheEdgesItKeeps) {
    Variant sampling;
    sampling.sampling = [](const Params&) { return SampleRule{SampleKind::bucket, 4}; };
    Features features;
    features.counts.row_degrees = {{2, 40}, {4, 30}, {20, 40}};  // 1000 edges, of which 360 are kept
    Query q = query(Op::spmm, 32, false);
    q.features = &features;

    const Roofline kept = roofline_of(sampling, {}, q, 80, constants());
    const Roofline exact = roofline_of(Variant{}, {}, q, 80, constants());

    EXPECT_EQ(kept.work.gather_max_bytes, 360 * 128);
    EXPECT_EQ(kept.work.gather_min_bytes, 80 * 128);
    EXPECT_EQ(exact.work.gather_max_bytes, 1000 * 128);

    features.counts.row_degrees = {{1000, 1}};
    const Roofline one_row = roofline_of(sampling, {}, q, 80, constants());
    EXPECT_EQ(one_row.work.gather_min_bytes, 4 * 128) << "four edges refer to four vertices at most";
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

// Which measurements of two runs are held against each other, and what is said of the rest.
#include "tuner/compare.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gnntune::tuner {
namespace {

Recorded recorded(const std::string& config, double median_us) {
    Recorded r;
    r.fingerprint = {1, 2};
    r.graph = "cora";
    r.environment = {Backend::cuda, "NVIDIA H200", "9.0", 132, 150754820096, 62914560, "580", "13.0", "cusparse 12.6"};
    r.problem = {Op::spmm, 64, 1, DType::f32, Reduce::sum, true, Direction::forward};
    Measurement& m = r.measurement;
    m.config = Config::parse(config);
    m.median_us = m.ci_low_us = m.ci_high_us = m.q1_us = m.q3_us = m.min_us = median_us;
    m.samples = 20;
    return r;
}

Recorded with_status(Recorded r, MeasurementStatus status) {
    r.measurement.status = status;
    r.measurement.reason = "a reason";
    if (status != MeasurementStatus::ok && status != MeasurementStatus::abandoned) r.measurement.median_us = 0;
    return r;
}

TEST(Compare, JudgesWhatBothSidesHaveAndListsTheRest) {
    const Side a{{recorded("spmm.rows{vec=1}", 100), recorded("spmm.rows{vec=2}", 100), recorded("spmm.gas", 100)}, {}};
    const Side b{{recorded("spmm.gar", 100), recorded("spmm.rows{vec=2}", 110), recorded("spmm.rows{vec=1}", 100)}, {}};
    const Comparison c = compare(a, b);

    ASSERT_EQ(c.pairs.size(), 2u);
    EXPECT_EQ(c.pairs[0].a.measurement.config.text(), "spmm.rows{vec=1}");
    EXPECT_EQ(c.pairs[0].judgement.verdict, Judged::same);
    EXPECT_EQ(c.pairs[1].judgement.verdict, Judged::slow);
    EXPECT_EQ(c.pairs[1].across, "");
    ASSERT_EQ(c.only_a.size(), 1u);
    EXPECT_EQ(c.only_a[0].measurement.config.text(), "spmm.gas");
    ASSERT_EQ(c.only_b.size(), 1u);
    EXPECT_EQ(c.only_b[0].measurement.config.text(), "spmm.gar");
}

TEST(Compare, TheLastOfSeveralRowsCounts) {
    const Side a{{recorded("spmm.gas", 200), recorded("spmm.gas", 100)}, {}};
    const Side b{{recorded("spmm.gas", 100)}, {}};
    const Comparison c = compare(a, b);

    ASSERT_EQ(c.pairs.size(), 1u);
    EXPECT_EQ(c.pairs[0].judgement.verdict, Judged::same);
    EXPECT_TRUE(c.only_a.empty());
}

// Everything that identity is made of, one at a time.
TEST(Compare, WhatDiffersInIdentityIsNotPaired) {
    const std::vector<std::function<void(Recorded&)>> changes = {
        [](Recorded& r) { r.fingerprint.hi = 9; },
        [](Recorded& r) { r.problem.k = 32; },
        [](Recorded& r) { r.problem.heads = 2; },
        [](Recorded& r) { r.problem.self_loop = true; },
        [](Recorded& r) { r.measurement.policy = Policy::cold; },
        [](Recorded& r) { r.measurement.clock = Clock::span; },
        [](Recorded& r) { r.measurement.config = Config::parse("spmm.gas{block_size=64}"); }};
    for (std::size_t i = 0; i < changes.size(); ++i) {
        Recorded other = recorded("spmm.gas", 100);
        changes[i](other);
        for (const bool across : {false, true}) {
            const Comparison c = compare({{recorded("spmm.gas", 100)}, {}}, {{other}, {}}, {across});
            EXPECT_TRUE(c.pairs.empty()) << i;
            EXPECT_EQ(c.only_a.size(), 1u) << i;
            EXPECT_EQ(c.only_b.size(), 1u) << i;
        }
    }
}

TEST(Compare, OtherEnvironmentsAndVersionsArePairedOnRequestAndMarked) {
    struct Case {
        std::function<void(Recorded&)> change;
        std::string across;
    };
    const std::vector<Case> cases = {
        {[](Recorded& r) { r.environment.driver = "590"; }, "driver 580 -> 590"},
        {[](Recorded& r) { r.environment.device_name = "NVIDIA H100"; }, "device NVIDIA H200 -> NVIDIA H100"},
        {[](Recorded& r) { r.environment.libraries = ""; }, "libraries cusparse 12.6 -> unknown"},
        {[](Recorded& r) { r.environment.memory_bytes = 5; }, "memory 150754820096 -> 5"},
        {[](Recorded& r) { r.measurement.variant_version = 2; }, "version 1 -> 2"},
        {[](Recorded& r) {
             r.measurement.parts = {{Config::parse("spmm.gar"), 3}};
         },
         "parts  -> spmm.gar@3"}};
    for (const Case& test : cases) {
        Recorded other = recorded("spmm.gas", 110);
        test.change(other);
        const Side a{{recorded("spmm.gas", 100)}, {}};
        EXPECT_TRUE(compare(a, {{other}, {}}).pairs.empty()) << test.across;

        const Comparison c = compare(a, {{other}, {}}, {true});
        ASSERT_EQ(c.pairs.size(), 1u) << test.across;
        EXPECT_EQ(c.pairs[0].across, test.across);
        EXPECT_EQ(c.pairs[0].judgement.verdict, Judged::slow);
        EXPECT_TRUE(c.only_a.empty());
    }
}

TEST(Compare, AcrossPairsEqualOnesFirst) {
    Recorded newer = recorded("spmm.gas", 300);
    newer.measurement.variant_version = 2;
    const Comparison c = compare({{recorded("spmm.gas", 100)}, {}}, {{recorded("spmm.gas", 100), newer}, {}}, {true});

    ASSERT_EQ(c.pairs.size(), 1u);
    EXPECT_EQ(c.pairs[0].across, "");
    EXPECT_EQ(c.only_b.size(), 1u);
}

TEST(Compare, WhatIsWrongOrFailedOnOneSideIsAChange) {
    for (const auto status : {MeasurementStatus::wrong, MeasurementStatus::failed, MeasurementStatus::refused}) {
        const Comparison c =
            compare({{recorded("spmm.gas", 100)}, {}}, {{with_status(recorded("spmm.gas", 100), status)}, {}});
        EXPECT_TRUE(c.pairs.empty());
        ASSERT_EQ(c.changes.size(), 1u);
        EXPECT_EQ(c.changes[0].b.measurement.status, status);
        EXPECT_TRUE(c.only_a.empty());
    }
    const Recorded wrong = with_status(recorded("spmm.gas", 100), MeasurementStatus::wrong);
    const Comparison both = compare({{wrong}, {}}, {{wrong}, {}});
    EXPECT_TRUE(both.pairs.empty() && both.changes.empty() && both.only_a.empty() && both.only_b.empty());
}

TEST(Compare, AbandonedOnesAreJudgedButNotInTheMean) {
    const Recorded slow = with_status(recorded("spmm.gas{block_size=64}", 400), MeasurementStatus::abandoned);
    const Recorded slower = with_status(recorded("spmm.gas{block_size=64}", 800), MeasurementStatus::abandoned);
    const Comparison c = compare({{recorded("spmm.gas", 100), slow}, {}}, {{recorded("spmm.gas", 110), slower}, {}});
    const auto rows = tally(c);

    ASSERT_EQ(c.pairs.size(), 2u);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].slow, 2);
    EXPECT_NEAR(rows[0].geomean, 1.1, 1e-12);
}

TEST(Compare, TallyHasARowForEachVariantAndOneOverAll) {
    const Side a{{recorded("spmm.gas", 100), recorded("spmm.gar", 100), recorded("spmm.rows", 100)}, {}};
    const Side b{{recorded("spmm.gas", 121), recorded("spmm.gar", 100), recorded("spmm.edges", 5)}, {}};
    const auto rows = tally(compare(a, b));

    ASSERT_EQ(rows.size(), 5u);
    EXPECT_EQ(rows[1].variant, "spmm.gar");
    EXPECT_EQ(rows[1].same, 1);
    EXPECT_EQ(rows.back().op, "");
    EXPECT_EQ(rows.back().same + rows.back().slow, 2);
    EXPECT_EQ(rows.back().only_a, 1);
    EXPECT_EQ(rows.back().only_b, 1);
    EXPECT_NEAR(rows.back().geomean, 1.1, 1e-12);
    EXPECT_TRUE(tally({}).empty());
}

TEST(Compare, ChoicesThatChangedAndWhatEachCostsInTheOther) {
    const Side a{{recorded("spmm.gas", 100), recorded("spmm.gar", 105)}, {}};
    const Side b{{recorded("spmm.gas", 120), recorded("spmm.gar", 100)}, {}};
    const Comparison c = compare(a, b);

    EXPECT_EQ(c.chosen, 1u);
    ASSERT_EQ(c.choices.size(), 1u);
    EXPECT_EQ(c.choices[0].a.text(), "spmm.gas");
    EXPECT_EQ(c.choices[0].b.text(), "spmm.gar");
    ASSERT_TRUE(c.choices[0].regret_of_a && c.choices[0].regret_of_b);
    EXPECT_NEAR(*c.choices[0].regret_of_a, 0.2, 1e-12);
    EXPECT_NEAR(*c.choices[0].regret_of_b, 0.05, 1e-12);
    EXPECT_TRUE(compare(a, a).choices.empty());
}

TEST(Compare, StoredChoicesGoBeforeTheFastest) {
    Side a{{recorded("spmm.gas", 100), recorded("spmm.gar", 101)}, {}};
    Side b = a;
    const Recorded& r = a.measurements.front();
    a.choices = {
        {r.fingerprint, r.environment, r.problem, Policy::hot, r.measurement.clock, Config::parse("spmm.gar")}};
    EXPECT_TRUE(compare(a, b).choices.empty()) << "b holds none, so the fastest of both count";

    b.choices = {
        {r.fingerprint, r.environment, r.problem, Policy::hot, r.measurement.clock, Config::parse("spmm.edges")}};
    const Comparison c = compare(a, b);
    ASSERT_EQ(c.choices.size(), 1u);
    EXPECT_EQ(c.choices[0].a.text(), "spmm.gar");
    EXPECT_FALSE(c.choices[0].regret_of_a) << "spmm.edges has no time in b";
}

TEST(Compare, ApproximateConfigsAreNoChoice) {
    Recorded sampled = recorded("spmm.es_bucket", 10);
    sampled.measurement.approximate = true;
    const Comparison c = compare({{recorded("spmm.gas", 100), sampled}, {}}, {{recorded("spmm.gas", 100)}, {}});

    EXPECT_EQ(c.chosen, 1u);
    EXPECT_TRUE(c.choices.empty());
}

}  // namespace
}  // namespace gnntune::tuner

// The choosing rule: cost over the calls that are expected, constraints in words, ties by what is cheaper to live with.
#include "core/dispatch/choose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace gnntune {
namespace {

Candidate candidate(const std::string& config, double median_us) {
    Candidate c;
    c.config = Config::parse(config);
    c.median_us = median_us;
    c.ci_low_us = median_us * 0.998;
    c.ci_high_us = median_us * 1.002;
    c.deterministic = true;
    return c;
}

Constraints calls(double expected) {
    Constraints limits;
    limits.expected_calls = expected;
    return limits;
}

/// The config that wins; empty if there is none.
std::string winner(const std::vector<Candidate>& candidates, const Constraints& limits) {
    const Decision decision = choose(candidates, limits);
    return decision.winner ? candidates[*decision.winner].config.text() : "";
}

/// Why the only candidate is refused; empty if it is not.
std::string words_of_refusal(const Candidate& c, const Constraints& limits) {
    const Decision decision = choose({c}, limits);
    EXPECT_EQ(decision.winner.has_value(), decision.rejected.empty());
    return decision.rejected.empty() ? "" : decision.rejected.front().reason;
}

TEST(Choose, NothingMeasuredSaysSo) {
    const Decision decision = choose({}, {});

    EXPECT_FALSE(decision.winner);
    EXPECT_FALSE(decision.runner_up);
    EXPECT_TRUE(decision.tied.empty());
    EXPECT_TRUE(decision.rejected.empty());
    EXPECT_EQ(decision.reason, "nothing was measured");
}

// A database that people or accidents have changed: nothing to choose is an answer, a crash is none.
TEST(Choose, ImpossibleNumbersAreRefusedOrIgnored) {
    Candidate inverted = candidate("spmm.a", 10);
    inverted.ci_low_us = 20;
    inverted.ci_high_us = 5;
    EXPECT_EQ(winner({inverted}, {}), "spmm.a");
    EXPECT_EQ(winner({inverted, candidate("spmm.b", 9)}, {}), "spmm.b");
    Candidate unknown = candidate("spmm.a", 10);
    unknown.ci_low_us = 20;
    unknown.ci_high_us = 0;
    EXPECT_EQ(winner({unknown}, {}), "spmm.a");

    for (const double time : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
        Candidate timeless = candidate("spmm.a", time);
        EXPECT_NE(words_of_refusal(timeless, {}).find("is no time"), std::string::npos) << time;
        EXPECT_EQ(winner({timeless, candidate("spmm.b", 9)}, {}), "spmm.b");
    }
    Candidate built = candidate("spmm.a", 10);
    built.build_us = -1e300;
    EXPECT_NE(words_of_refusal(built, {}).find("is no time"), std::string::npos);
}

TEST(Choose, FewCallsPreferWhatNeedsNothingBuilt) {
    Candidate gas = candidate("spmm.gas", 20);
    Candidate gar = candidate("spmm.gar", 10);
    gar.build_us = 500;

    EXPECT_EQ(winner({gas, gar}, calls(1)), "spmm.gas");
    EXPECT_EQ(winner({gas, gar}, calls(49)), "spmm.gas");
    EXPECT_EQ(winner({gas, gar}, calls(60)), "spmm.gar");
    EXPECT_EQ(winner({gas, gar}, calls(200)), "spmm.gar");
}

TEST(Choose, CallsThatMakeNoSenseCountAsOne) {
    Candidate gas = candidate("spmm.gas", 20);
    Candidate gar = candidate("spmm.gar", 10);
    gar.build_us = 500;

    EXPECT_EQ(winner({gas, gar}, calls(0)), "spmm.gas");
    EXPECT_EQ(winner({gas, gar}, calls(-5)), "spmm.gas");
}

TEST(Choose, WhatWasChosenBeforeStaysUnlessAnotherGainsMoreThanRunsDiffer) {
    Candidate before = candidate("spmm.before", 101.5);
    before.incumbent = true;
    const Candidate other = candidate("spmm.other", 100);
    const Candidate far = candidate("spmm.far", 200);

    const Decision decision = choose({other, before, far}, {});

    EXPECT_EQ(*decision.winner, 1u);
    EXPECT_EQ(decision.tied, std::vector<std::size_t>{0});  // cheaper, and not by enough
    EXPECT_EQ(*decision.runner_up, 2u);
    EXPECT_EQ(decision.reason,
              "chosen before, and none of 3 is cheaper over 1000 calls by more than runs differ; tied with 1 that runs "
              "may not tell apart; next costs 97 % more");
    EXPECT_EQ(winner({candidate("spmm.other", 98), before}, {}), "spmm.other");
    // Short calls: a tick of the clock counts.
    before.median_us = 5.15;
    EXPECT_EQ(winner({candidate("spmm.other", 5), before}, {}), "spmm.before");
    before.median_us = 5.25;
    EXPECT_EQ(winner({candidate("spmm.other", 5), before}, {}), "spmm.other");
    // What may not be chosen does not stay.
    before.median_us = 100;
    before.deterministic = false;
    Constraints limits;
    limits.deterministic = true;
    EXPECT_EQ(winner({other, before}, limits), "spmm.other");
    // A permission that is new is for what it allows.
    Candidate coarse = candidate("spmm.coarse", 99);
    coarse.precision = Precision::tf32;
    limits = {};
    limits.max_error = 1;
    before.deterministic = true;
    EXPECT_EQ(winner({coarse, before}, limits), "spmm.coarse");
    // Building counts: what was chosen for many calls need not do for few.
    before.deterministic = true;
    before.build_us = 5000;
    EXPECT_EQ(winner({other, before}, calls(10)), "spmm.other");
    EXPECT_EQ(winner({other, before}, calls(10000)), "spmm.before");
}

TEST(Choose, OrderOfTheCandidatesDoesNotMatter) {
    const std::vector<Candidate> candidates{candidate("spmm.c", 30), candidate("spmm.a", 10), candidate("spmm.b", 20)};

    const Decision decision = choose(candidates, {});

    EXPECT_EQ(*decision.winner, 1u);
    EXPECT_EQ(*decision.runner_up, 2u);
    EXPECT_TRUE(decision.tied.empty());
    EXPECT_EQ(decision.reason, "cheapest of 3 over 1000 calls; next costs 100 % more");
}

TEST(Choose, TiesGoToTheDeterministicThenFewerFormatBytesThenLessWorkspaceThenTheFaster) {
    Candidate fastest = candidate("spmm.fastest", 100.0);
    fastest.deterministic = false;
    Candidate heavy = candidate("spmm.heavy", 100.1);
    heavy.format_bytes = 1000;
    Candidate roomy = candidate("spmm.roomy", 100.1);
    roomy.format_bytes = 10;
    roomy.workspace_bytes = 512;
    Candidate slower = candidate("spmm.slower", 100.2);
    slower.format_bytes = 10;
    slower.workspace_bytes = 256;
    Candidate faster = candidate("spmm.faster", 100.1);
    faster.format_bytes = 10;
    faster.workspace_bytes = 256;

    EXPECT_EQ(winner({fastest, heavy}, {}), "spmm.heavy");
    EXPECT_EQ(winner({fastest, heavy, roomy}, {}), "spmm.roomy");
    EXPECT_EQ(winner({fastest, heavy, roomy, slower}, {}), "spmm.slower");
    EXPECT_EQ(winner({fastest, heavy, roomy, slower, faster}, {}), "spmm.faster");
}

TEST(Choose, TiedOnesAreNamedFastestFirstWithoutTheWinner) {
    Candidate fastest = candidate("spmm.fastest", 100.0);
    fastest.deterministic = false;
    const std::vector<Candidate> candidates{candidate("spmm.other", 500), candidate("spmm.second", 100.2), fastest,
                                            candidate("spmm.first", 100.1)};

    const Decision decision = choose(candidates, {});

    EXPECT_EQ(*decision.winner, 3u);
    EXPECT_EQ(decision.tied, (std::vector<std::size_t>{2, 1}));
    EXPECT_EQ(*decision.runner_up, 0u);
    EXPECT_NE(decision.reason.find("tied with 2 within the noise"), std::string::npos) << decision.reason;
}

TEST(Choose, ThreePercentIsNoTieHoweverWideTheIntervals) {
    Candidate fast = candidate("spmm.fast", 100);
    fast.deterministic = false;
    fast.ci_high_us = 150;
    Candidate slow = candidate("spmm.slow", 103);
    slow.ci_low_us = 50;

    EXPECT_EQ(winner({fast, slow}, {}), "spmm.fast");
}

TEST(Choose, IntervalsThatDoNotOverlapAreNoTieHoweverCloseTheMedians) {
    Candidate fast = candidate("spmm.fast", 100);
    fast.deterministic = false;
    fast.ci_high_us = 100.1;
    Candidate slow = candidate("spmm.slow", 100.5);
    slow.ci_low_us = 100.4;

    EXPECT_EQ(winner({fast, slow}, {}), "spmm.fast");
    slow.ci_low_us = 100.05;
    EXPECT_EQ(winner({fast, slow}, {}), "spmm.slow");
}

TEST(Choose, WithoutIntervalsTheMarginDecides) {
    Candidate fast = candidate("spmm.fast", 100);
    fast.deterministic = false;
    fast.ci_low_us = fast.ci_high_us = 0;
    Candidate slow = candidate("spmm.slow", 100.9);
    slow.ci_low_us = slow.ci_high_us = 0;

    EXPECT_EQ(winner({fast, slow}, {}), "spmm.slow");
    slow.median_us = 101.1;
    EXPECT_EQ(winner({fast, slow}, {}), "spmm.fast");
}

TEST(Choose, ConfigThatCannotBeCapturedIsNeverChosen) {
    Candidate best = candidate("spmm.uncapturable", 1);
    best.capturable = false;

    EXPECT_EQ(winner({best, candidate("spmm.slow", 100)}, {}), "spmm.slow");
    EXPECT_EQ(words_of_refusal(best, {}), "cannot be captured in a CUDA graph, so it is measured for comparison only");
}

TEST(Choose, SamplingNeedsPermissionAndAnErrorBound) {
    Candidate c = candidate("spmm.sampled", 1);
    c.approximate = true;
    c.max_error = 0.2;
    Constraints limits;

    EXPECT_EQ(words_of_refusal(c, limits), "drops edges by design, and sampling was not allowed");
    limits.allow_sampling = true;
    EXPECT_EQ(words_of_refusal(c, limits), "drops edges by design, and no error was allowed");
    limits.allow_sampling = false;
    limits.max_error = 0.5;
    EXPECT_EQ(words_of_refusal(c, limits), "drops edges by design, and sampling was not allowed");
    limits.allow_sampling = true;
    EXPECT_EQ(words_of_refusal(c, limits), "");
    limits.max_error = 0.1;
    EXPECT_EQ(words_of_refusal(c, limits), "its error 0.2 on this graph is above the allowed 0.1");
}

TEST(Choose, ReducedPrecisionNeedsAnErrorBound) {
    Candidate c = candidate("spmm.tensor", 1);
    c.precision = Precision::tf32;
    c.max_error = 3e-4;
    Constraints limits;

    EXPECT_EQ(words_of_refusal(c, limits), "computes in tf32, and no error was allowed");
    limits.max_error = 1e-4;
    EXPECT_EQ(words_of_refusal(c, limits), "its error 0.0003 on this graph is above the allowed 0.0001");
    limits.max_error = 3e-4;
    EXPECT_EQ(words_of_refusal(c, limits), "");
}

TEST(Choose, AnExactConfigPassesWhateverTheErrorBound) {
    Candidate c = candidate("spmm.exact", 1);
    c.max_error = 2e-7;
    Constraints limits;

    EXPECT_EQ(words_of_refusal(c, limits), "");
    limits.max_error = 1e-9;
    EXPECT_EQ(words_of_refusal(c, limits), "");
}

TEST(Choose, DemandsAreRefusedWithTheirFigures) {
    Candidate c = candidate("spmm.demanding", 1);
    c.deterministic = false;
    c.operand_alignment = 16;
    c.workspace_bytes = 4096;
    Constraints deterministic;
    deterministic.deterministic = true;
    Constraints misaligned;
    misaligned.operand_alignment = 4;
    Constraints small;
    small.workspace_limit_bytes = 1024;
    Constraints enough;
    enough.workspace_limit_bytes = 4096;

    EXPECT_EQ(words_of_refusal(c, deterministic), "does not repeat bit for bit, and that was demanded");
    EXPECT_EQ(words_of_refusal(c, misaligned), "needs operands aligned to 16 bytes, 4 were promised");
    EXPECT_EQ(words_of_refusal(c, small), "needs 4096 bytes of workspace, more than the allowed 1024");
    EXPECT_EQ(words_of_refusal(c, enough), "");
}

TEST(Choose, RejectedOnesNeitherWinNorTieNorRunUp) {
    Candidate atomic = candidate("spmm.atomic", 1);
    atomic.deterministic = false;
    const std::vector<Candidate> candidates{candidate("spmm.a", 10), atomic, candidate("spmm.b", 20)};
    Constraints limits;
    limits.deterministic = true;

    const Decision decision = choose(candidates, limits);

    EXPECT_EQ(*decision.winner, 0u);
    EXPECT_EQ(*decision.runner_up, 2u);
    ASSERT_EQ(decision.rejected.size(), 1u);
    EXPECT_EQ(decision.rejected[0].candidate, 1u);
    EXPECT_NE(decision.reason.find("cheapest of 2"), std::string::npos) << decision.reason;
}

TEST(Choose, EveryOneRejectedSaysSo) {
    Candidate c = candidate("spmm.atomic", 1);
    c.deterministic = false;
    Constraints limits;
    limits.deterministic = true;

    const Decision decision = choose({c, c}, limits);

    EXPECT_FALSE(decision.winner);
    EXPECT_EQ(decision.rejected.size(), 2u);
    EXPECT_EQ(decision.reason, "every measured config breaks a constraint");
}

TEST(BreakEven, IsWhereTheLinesCross) {
    Candidate gas = candidate("spmm.gas", 20);
    Candidate gar = candidate("spmm.gar", 10);
    gar.build_us = 500;

    const auto calls_needed = break_even_calls(gas, gar);

    ASSERT_TRUE(calls_needed);
    EXPECT_DOUBLE_EQ(*calls_needed, 50);
    EXPECT_EQ(winner({gas, gar}, calls(*calls_needed - 5)), "spmm.gas");
    EXPECT_EQ(winner({gas, gar}, calls(*calls_needed + 5)), "spmm.gar");
}

TEST(BreakEven, IsAtOnceForWhatIsFasterAndBuiltAtNoGreaterCost) {
    Candidate slow = candidate("spmm.slow", 20);
    slow.build_us = 5;
    Candidate fast = candidate("spmm.fast", 10);
    fast.build_us = 5;

    EXPECT_EQ(break_even_calls(slow, fast), 0.0);
    fast.build_us = 0;
    EXPECT_EQ(break_even_calls(slow, fast), 0.0);
}

TEST(BreakEven, IsNeverForWhatCostsMoreAndSavesNothing) {
    Candidate free = candidate("spmm.free", 10);
    Candidate built = candidate("spmm.built", 10);
    built.build_us = 1;

    EXPECT_FALSE(break_even_calls(free, built));
    built.median_us = 11;
    EXPECT_FALSE(break_even_calls(free, built));
}

// Rows such as tunings leave them, and such as nobody should: near ties, incumbents, equal times, building that costs
// nothing, little or everything, numbers that are none.
std::vector<Candidate> random_rows(std::mt19937& random) {
    const auto one_of = [&](std::initializer_list<double> values) {
        return *(values.begin() + random() % values.size());
    };
    const double spread = one_of({0.001, 0.02, 0.1, 2.0});
    std::vector<Candidate> rows;
    for (std::size_t count = random() % 40; rows.size() < count;) {
        Candidate c = candidate("spmm.a{i=" + std::to_string(rows.size()) + "}",
                                one_of({3.0, 3.0, 300.0}) * (1 + spread * static_cast<double>(random() % 8) / 8.0));
        const double width = one_of({0.0, 0.0001, 0.01});
        c.ci_low_us = c.median_us * (1 - width);
        c.ci_high_us = one_of({1, 1, 0}) * c.median_us * (1 + width);
        c.build_us = one_of({0, 0, 1, 50, 1e4});
        c.format_bytes = static_cast<std::int64_t>(one_of({0, 400, 800}));
        c.workspace_bytes = static_cast<std::int64_t>(one_of({0, 0, 4096}));
        c.operand_alignment = static_cast<std::int32_t>(one_of({4, 16}));
        c.deterministic = random() % 3 != 0;
        c.capturable = random() % 10 != 0;
        c.approximate = random() % 10 == 0;
        c.precision = random() % 4 == 0 ? Precision::tf32 : Precision::fp32;
        c.max_error = one_of({1e-7, 1e-3, std::numeric_limits<double>::infinity()});
        c.incumbent = random() % 8 == 0;
        if (random() % 20 == 0) c.median_us = one_of({0, -1, std::numeric_limits<double>::infinity()});
        if (random() % 20 == 0) c.build_us = one_of({-1, std::numeric_limits<double>::infinity()});
        rows.push_back(c);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Candidate& a, const Candidate& b) { return a.median_us < b.median_us; });
    return rows;
}

TEST(Choose, TheQuickWinnerIsTheWinner) {
    std::mt19937 random(21);
    std::size_t looked = 0;
    std::size_t all = 0;
    int won = 0;
    for (int round = 0; round < 20000; ++round) {
        const std::vector<Candidate> rows = random_rows(random);
        Constraints limits = calls(std::array{0.0, 1.0, 3.0, 1000.0, 1e9}[random() % 5]);
        limits.max_error = random() % 2 == 0 ? 0 : 1e-2;
        limits.allow_sampling = random() % 3 == 0;
        limits.deterministic = random() % 4 == 0;
        limits.operand_alignment = random() % 4 == 0 ? 4 : 16;
        if (random() % 4 == 0) limits.workspace_limit_bytes = 1;
        std::vector<double> medians_us;
        for (const Candidate& c : rows) medians_us.push_back(c.median_us);
        std::size_t next = 0;

        const auto quick = quick_winner(
            medians_us,
            [&](std::size_t i) {
                EXPECT_EQ(i, next++) << "asked in order, once each";
                return &rows[i];
            },
            limits);

        ASSERT_EQ(quick, choose(rows, limits).winner) << "round " << round;
        looked += next;
        all += rows.size();
        won += quick ? 1 : 0;
    }
    EXPECT_GT(won, 10000);
    EXPECT_LT(looked, all) << "it looked at everything";
}

TEST(Choose, TheQuickWinnerLeavesOutWhatIsNoCandidate) {
    const std::vector<Candidate> rows{candidate("spmm.a", 1), candidate("spmm.b", 2), candidate("spmm.c", 3)};
    const std::vector<double> medians_us{1, 2, 3};
    const auto but_first = [&](std::size_t i) { return i == 0 ? nullptr : &rows[i]; };
    EXPECT_EQ(quick_winner(medians_us, but_first, {}), 1u);
    EXPECT_EQ(quick_winner(medians_us, [](std::size_t) -> const Candidate* { return nullptr; }, {}), std::nullopt);
    EXPECT_EQ(quick_winner({}, but_first, {}), std::nullopt);
}

}  // namespace
}  // namespace gnntune

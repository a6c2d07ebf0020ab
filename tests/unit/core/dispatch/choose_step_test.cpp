// The rule for whole steps: against brute force on made-up tables, and where it differs from choosing each call alone.
#include "core/dispatch/choose_step.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace gnntune {
namespace {

constexpr FormatMask kCoo = 1;
constexpr FormatMask kCsc = 2;

SharedFormats formats(double coo_us, std::int64_t coo_bytes, double csc_us, std::int64_t csc_bytes) {
    return SharedFormats(
        {{"coo", Direction::forward, coo_us, coo_bytes, kCoo}, {"csr", Direction::reversed, csc_us, csc_bytes, kCsc}});
}

CallOption option(const std::string& config, double median_us, FormatMask needs, double own_us = 0,
                  std::int64_t workspace_bytes = 0) {
    CallOption o;
    o.candidate.config = Config::parse(config);
    o.candidate.median_us = median_us;
    o.candidate.ci_low_us = median_us * 0.999;
    o.candidate.ci_high_us = median_us * 1.001;
    o.candidate.build_us = own_us;
    o.candidate.workspace_bytes = workspace_bytes;
    o.candidate.deterministic = true;
    o.formats = needs;
    return o;
}

CallOptions call(const std::string& name, std::vector<CallOption> options) {
    return {name, 1, 0, std::move(options)};
}

StepLimits over(double steps, std::size_t bytes = SIZE_MAX) {
    StepLimits limits;
    limits.constraints.expected_calls = steps;
    limits.format_bytes = bytes;
    return limits;
}

std::string texts(const std::vector<CallOptions>& calls, const std::optional<Picks>& picks) {
    std::string text;
    for (std::size_t i = 0; picks && i < calls.size(); ++i) {
        text.append(i > 0 ? " " : "").append(calls[i].options[(*picks)[i]].candidate.config.text());
    }
    return text;
}

// Two gradients, each a little faster with a format of its own than with the one that both could share.
std::vector<CallOptions> two_gradients() {
    return {call("first", {option("a.coo", 100, kCoo), option("a.csc", 104, kCsc)}),
            call("second", {option("b.coo", 160, kCoo), option("b.csc", 100, kCsc)})};
}

TEST(ChooseStep, SharesAFormatThatNoneWouldChooseForItself) {
    const auto table = formats(1000, 400, 1100, 900);
    const auto calls = two_gradients();

    // Alone: 100 x 100 + 1000 against 100 x 104 + 1100. Together csc pays once: 20400 + 1100 against 20000 + 2100.
    EXPECT_EQ(texts(calls, choose_apart(table, calls, over(100))), "a.coo b.csc");
    const StepDecision together = choose_step(table, calls, over(100));
    EXPECT_EQ(texts(calls, together.picks), "a.csc b.csc");
    EXPECT_DOUBLE_EQ(together.cost.total_us, 1100 + 100 * 204);
    EXPECT_EQ(together.cost.formats, kCsc);
    EXPECT_EQ(together.reason, "cheapest over 100 steps, formats built: csr reversed");
    EXPECT_GT(step_cost(table, calls, *choose_apart(table, calls, over(100)), over(100)).total_us,
              together.cost.total_us);
    // Often enough, a format each pays.
    EXPECT_EQ(texts(calls, choose_step(table, calls, over(10000)).picks), "a.coo b.csc");
}

TEST(ChooseStep, ALimitThatForbidsBothFormatsTakesTheBetterOne) {
    const auto table = formats(1000, 400, 1100, 900);
    const auto calls = two_gradients();

    EXPECT_EQ(texts(calls, choose_step(table, calls, over(10000, 1300)).picks), "a.coo b.csc");
    const StepDecision one = choose_step(table, calls, over(10000, 1299));
    EXPECT_EQ(texts(calls, one.picks), "a.csc b.csc");
    EXPECT_EQ(one.cost.format_bytes, 900);
    EXPECT_EQ(texts(calls, choose_step(table, calls, over(10000, 899)).picks), "a.coo b.coo");
    const StepDecision none = choose_step(table, calls, over(10000, 399));
    EXPECT_FALSE(none.picks);
    EXPECT_EQ(none.reason,
              "formats and workspace may hold 399 bytes together, and the least that any choice takes is 400");
    EXPECT_FALSE(step_cost(table, calls, *choose_apart(table, calls, over(10000)), over(10000, 1299)).fits);
}

TEST(ChooseStep, TheLargestWorkspaceIsHeldBesideTheFormats) {
    const auto table = formats(0, 400, 0, 900);
    const std::vector<CallOptions> calls{
        call("first", {option("a.fast", 10, kCoo, 0, 200), option("a.slow", 30, kCoo)}),
        call("second", {option("b.fast", 10, 0, 0, 150), option("b.slow", 30, 0)})};

    EXPECT_EQ(texts(calls, choose_step(table, calls, over(10, 600)).picks), "a.fast b.fast");
    const StepDecision tight = choose_step(table, calls, over(10, 599));
    EXPECT_EQ(texts(calls, tight.picks), "a.slow b.fast");
    EXPECT_EQ(tight.cost.workspace_bytes, 150);
    EXPECT_EQ(texts(calls, choose_step(table, calls, over(10, 549)).picks), "a.slow b.slow");
}

TEST(ChooseStep, ConstraintsHoldForEveryCallAndRunsOnceAreCountedOnce) {
    auto calls = two_gradients();
    calls[1].options[1].candidate.deterministic = false;
    StepLimits limits = over(10000);
    limits.constraints.deterministic = true;
    const auto table = formats(1000, 400, 1100, 900);
    EXPECT_EQ(texts(calls, choose_step(table, calls, limits).picks), "a.coo b.coo");
    for (auto& o : calls[1].options) o.candidate.deterministic = false;
    EXPECT_EQ(choose_step(table, calls, limits).reason, "every measured config of second breaks a constraint");
    EXPECT_FALSE(choose_apart(table, calls, limits));
    calls[1].options.clear();
    EXPECT_EQ(choose_step(table, calls, limits).reason, "nothing was measured for second");

    // Two runs before the first step and no more: building does not pay, however many steps follow.
    std::vector<CallOptions> once{{"norm", 0, 2, {option("n.coo", 10, kCoo), option("n.csr", 400, 0)}}};
    const StepDecision decision = choose_step(table, once, over(1e9));
    EXPECT_EQ(texts(once, decision.picks), "n.csr");
    EXPECT_DOUBLE_EQ(decision.cost.once_us, 800);
    EXPECT_DOUBLE_EQ(decision.cost.step_us, 0);
    EXPECT_DOUBLE_EQ(decision.cost.total_us, 800);
}

TEST(ChooseStep, WithinTheNoiseFewerBytesAndWhatRepeatsWin) {
    const auto table = formats(0, 400, 0, 900);
    std::vector<CallOptions> calls{call("only", {option("a.csc", 100, kCsc), option("a.coo", 100.1, kCoo)})};
    EXPECT_EQ(texts(calls, choose_step(table, calls, over(1000)).picks), "a.coo");
    calls[0].options[1].candidate.deterministic = false;
    EXPECT_EQ(texts(calls, choose_step(table, calls, over(1000)).picks), "a.csc");
    // Farther apart than the intervals reach.
    calls = {call("only", {option("a.csc", 100, kCsc), option("a.coo", 100.5, kCoo)})};
    EXPECT_EQ(texts(calls, choose_step(table, calls, over(1000)).picks), "a.csc");
}

std::string numbered(std::string text, int number) {
    return text += std::to_string(number);
}

struct Table {
    SharedFormats formats;
    std::vector<CallOptions> calls;
};

Table made_up(std::mt19937_64& random) {
    const auto below = [&](std::uint64_t n) { return static_cast<int>(random() % n); };
    std::vector<SharedFormat> all;
    const int n_formats = 2 + below(5);
    for (int i = 0; i < n_formats; ++i) {
        // Some are made from the one before.
        const FormatMask from = i > 0 && below(3) == 0 ? all.back().closure : 0;
        all.push_back(
            {numbered("f", i), Direction::forward, 1.0 * below(4000), 100 * (1 + below(9)), from | FormatMask{1} << i});
    }
    Table table{SharedFormats(all), {}};
    const int n_calls = 1 + below(4);
    for (int i = 0; i < n_calls; ++i) {
        CallOptions options{numbered("c", i), 1 + below(2), below(2), {}};
        const int n_options = 1 + below(6);
        for (int j = 0; j < n_options; ++j) {
            FormatMask needs = 0;
            for (int f = 0; f < below(3); ++f) needs |= all[static_cast<std::size_t>(below(all.size()))].closure;
            options.options.push_back(
                option(numbered("v.x", j), 20 + below(200), needs, below(500), below(2) * 50 * below(5)));
        }
        table.calls.push_back(std::move(options));
    }
    return table;
}

/// The lowest total of all combinations that fit; infinite if none does.
double brute_force(const Table& table, const StepLimits& limits) {
    double lowest = std::numeric_limits<double>::infinity();
    Picks picks(table.calls.size(), 0);
    while (true) {
        const StepCost cost = step_cost(table.formats, table.calls, picks, limits);
        if (cost.fits) lowest = std::min(lowest, cost.total_us);
        std::size_t i = 0;
        while (i < picks.size() && ++picks[i] == table.calls[i].options.size()) picks[i++] = 0;
        if (i == picks.size()) return lowest;
    }
}

TEST(ChooseStep, IsAsCheapAsTheBestOfAllCombinations) {
    std::mt19937_64 random(20);
    int infeasible = 0;
    int shared = 0;
    for (int round = 0; round < 2000; ++round) {
        const Table table = made_up(random);
        const StepLimits limits =
            over(1 + static_cast<double>(random() % 60), random() % 3 == 0 ? SIZE_MAX : 100 * (random() % 30));
        const double lowest = brute_force(table, limits);
        const StepDecision decision = choose_step(table.formats, table.calls, limits);
        ASSERT_EQ(decision.picks.has_value(), lowest < 1e300) << round;
        if (!decision.picks) {
            ++infeasible;
            continue;
        }
        EXPECT_TRUE(decision.cost.fits) << round;
        EXPECT_LE(decision.cost.total_us, lowest * (1 + kTieMargin) + 1e-9) << round;
        const auto apart = choose_apart(table.formats, table.calls, limits);
        ASSERT_TRUE(apart);
        const StepCost alone = step_cost(table.formats, table.calls, *apart, limits);
        shared += !alone.fits || alone.total_us > lowest * (1 + kTieMargin) ? 1 : 0;
    }
    // Otherwise the rounds show nothing.
    EXPECT_GT(infeasible, 20);
    EXPECT_GT(shared, 200);
}

TEST(ChooseStep, IsExactWhereNothingIsTied) {
    std::mt19937_64 random(21);
    for (int round = 0; round < 1000; ++round) {
        Table table = made_up(random);
        // Intervals of no width: ties end where costs differ.
        for (auto& call : table.calls) {
            for (auto& o : call.options) o.candidate.ci_low_us = o.candidate.ci_high_us = o.candidate.median_us;
        }
        const StepLimits limits = over(10, 100 * (5 + random() % 30));
        const StepDecision decision = choose_step(table.formats, table.calls, limits);
        if (!decision.picks) continue;
        EXPECT_NEAR(decision.cost.total_us, brute_force(table, limits), 1e-6) << round;
    }
}

TEST(ChooseStep, ManyFormatsAreNoWaitAtAll) {
    std::vector<SharedFormat> all;
    for (int i = 0; i < 20; ++i) {
        all.push_back({numbered("f", i), Direction::forward, 100.0 + i, 10, FormatMask{1} << i});
    }
    std::vector<CallOptions> calls;
    for (int i = 0; i < 12; ++i) {
        CallOptions options{"c", 1, 0, {}};
        for (int j = 0; j < 40; ++j) {
            options.options.push_back(
                option(numbered("v.x", j), 50 + (7 * i + 13 * j) % 40, FormatMask{1} << ((i + j) % 20)));
        }
        calls.push_back(std::move(options));
    }
    const StepDecision decision = choose_step(SharedFormats(all), calls, over(100, 60));
    ASSERT_TRUE(decision.picks);
    EXPECT_LE(decision.cost.format_bytes, 60);
}

}  // namespace
}  // namespace gnntune

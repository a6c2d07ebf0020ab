// A guided tuning on a table of times.
#include "tuner/replay.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/common/error.hpp"
#include "kernels/register_all.hpp"
#include "tests/unit/common/small_graphs.hpp"
#include "tuner/fit.hpp"

namespace gnntune::tuner {
namespace {

class ReplayTest : public testing::Test {
protected:
    void SetUp() override { register_all(registry_); }

    /// A problem whose times follow from the params and the graph's mean degree.
    TrainingProblem problem(std::int32_t n, std::int64_t m, std::int32_t k) const {
        const CsrGraph csr = test::csr_of(n, n, test::random_edges(n, n, m, 1, static_cast<std::uint32_t>(m)));
        TrainingProblem p;
        p.graph = std::to_string(m);
        p.fingerprint = p.graph;
        p.problem = {Op::spmm, k, 1, DType::f32, Reduce::sum, true, Direction::forward};
        p.device = cpu_device();
        p.features = std::make_shared<const Features>(features_of(csr.view()));
        const Query query = p.query();
        const double work = static_cast<double>(m) * k * 1e-4 + 5;
        for (const Variant& v : registry_.variants()) {
            if (v.op != Op::spmm || v.backend != Backend::cpu || !registry_.applicable(v, query)) continue;
            double apart = 1;
            for (const Params& params : v.space(query)) {
                double us = work * (1 + 0.2 * std::abs(std::log2(static_cast<double>(m) / n) - 4) + 0.1 * apart++);
                if (v.approximate) us /= 10;
                const bool exact = may_be_chosen(v, params, {});
                p.configs.push_back({{v.id, params}, us, exact, false});
            }
        }
        double best = INFINITY;
        for (const TimedConfig& c : p.configs) best = c.candidate ? std::min(best, c.us) : best;
        p.best_log_us = std::log(best);
        return p;
    }

    Registry registry_;
};

TEST_F(ReplayTest, FindsTheFastestThatMayBeChosenAndCountsTheCost) {
    const TrainingProblem p = problem(500, 8000, 32);
    std::size_t candidates = 0;
    for (const TimedConfig& c : p.configs) candidates += c.candidate ? 1 : 0;
    ASSERT_GT(candidates, 8u);
    ASSERT_LT(candidates, p.configs.size());  // approximate ones are there, and faster

    const Replay found = replay(p, registry_, nullptr);

    for (const TimedConfig& c : p.configs) {
        if (c.config.text() == found.chosen) {
            EXPECT_TRUE(c.candidate);
            EXPECT_LE(c.us, 1.05 * std::exp(p.best_log_us));
        }
    }
    EXPECT_LE(found.measured, candidates);
    EXPECT_GT(found.time_share, 0);
    EXPECT_LE(found.time_share, 1 + 1e-9);
}

TEST_F(ReplayTest, AModelOfOtherGraphsMakesItShorter) {
    std::vector<TrainingProblem> others;
    for (const std::int32_t n : {200, 400, 800, 1600}) {
        for (const int degree : {4, 16, 64}) others.push_back(problem(n, n * degree, 32));
    }
    const model::Model m = fit(others, registry_);
    const TrainingProblem p = problem(600, 9600, 32);

    const Replay guided = replay(p, registry_, &m);
    const Replay unguided = replay(p, registry_, nullptr);

    EXPECT_LE(guided.measured, unguided.measured);
    for (const TimedConfig& c : p.configs) {
        if (c.config.text() != guided.chosen) continue;
        EXPECT_LE(c.us, 1.05 * std::exp(p.best_log_us));
    }
}

TEST_F(ReplayTest, WithRoomForOneItIsTheDefault) {
    const TrainingProblem p = problem(500, 8000, 32);
    SearchOptions options;
    options.most = 1;
    EXPECT_EQ(replay(p, registry_, nullptr, options).chosen, registry_.default_config(p.query(), {}).text());
}

}  // namespace
}  // namespace gnntune::tuner

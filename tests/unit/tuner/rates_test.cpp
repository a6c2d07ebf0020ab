// The rough estimate: rates that are fitted to times, and gaps between rivals.
#include "tuner/rates.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "core/common/error.hpp"
#include "kernels/register_all.hpp"
#include "tests/unit/common/small_graphs.hpp"
#include "tuner/training.hpp"

namespace gnntune::tuner {
namespace {

std::vector<RoughRow> rows_of(const std::vector<double>& rates) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> decades(-2, 2);
    std::vector<RoughRow> rows(500);
    for (RoughRow& row : rows) {
        row.weight = 1;
        for (std::size_t i = 0; i < model::kRoughTerms; ++i) {
            row.terms[i] = rates[i] < 0 ? 0 : std::pow(10, decades(random));
            row.us += row.terms[i] * std::max(0.0, rates[i]);
        }
    }
    return rows;
}

TEST(Rates, AreThoseThatMadeTheTimes) {
    // None of what takes no time; -1: the term is 0 everywhere.
    std::vector<double> made(model::kRoughTerms, 0.0);
    made[0] = 3, made[2] = 0.5, made[4] = 0.02, made[7] = -1;
    const auto rows = rows_of(made);

    const std::vector<float> rates = fit_rates(rows);

    ASSERT_EQ(rates.size(), model::kRoughTerms);
    for (std::size_t i = 0; i < rates.size(); ++i) {
        EXPECT_GE(rates[i], 0);
        EXPECT_NEAR(rates[i], std::max(0.0, made[i]), 0.02 * std::max(0.05, made[i])) << i;
    }
    EXPECT_EQ(fit_rates(rows), rates);
}

TEST(Rates, FollowTheRowsThatCount) {
    std::vector<double> made(model::kRoughTerms, 0.0);
    made[0] = 1;
    auto rows = rows_of(made);
    const std::size_t half = rows.size() / 2;
    for (std::size_t r = 0; r < half; ++r) rows[r].us *= 10, rows[r].weight = 1e-6;
    EXPECT_NEAR(fit_rates(rows)[0], 1, 0.02);
}

class RoughGapsTest : public testing::Test {
protected:
    RoughGapsTest() {
        register_all(registry_);
        const auto csr = test::csr_of(300, 300, test::random_edges(300, 300, 2400, 1, 1));
        problem_.graph = problem_.fingerprint = "graph";
        problem_.problem.k = 64;
        problem_.device = cpu_device();
        problem_.features = std::make_shared<const Features>(features_of(csr.view()));
    }

    // That takes so many us for a launch, and nothing for the rest.
    static std::vector<float> launch_of(float us) {
        std::vector<float> rates(model::kRoughTerms, 0.0F);
        rates.front() = us;
        return rates;
    }

    float gap_of(const char* id, const std::vector<float>& rates, const std::vector<model::Rated>& rated) const {
        const Variant& v = *registry_.find(id);
        const Query query = problem_.query();
        model::PlainTerms plain(query, registry_);
        return model::RoughGaps(plain, {}, rated).gap(plain.of(v, v.default_params(query)), rates);
    }

    Registry registry_;
    TrainingProblem problem_;
};

TEST_F(RoughGapsTest, AreToTheFastestRival) {
    const Variant* rows = registry_.find("spmm.cpu_rows");
    const Variant* edges = registry_.find("spmm.cpu_edges");
    const auto slow = launch_of(6);
    const auto fast = launch_of(4);
    const std::vector<model::Rated> both{{rows, &slow}, {edges, &fast}};
    EXPECT_NEAR(gap_of("spmm.cpu_rows", slow, both), std::log(1.5), 1e-6);
    EXPECT_NEAR(gap_of("spmm.cpu_edges", fast, both), 0, 1e-6);
    EXPECT_NEAR(gap_of("spmm.cpu_rows", slow, {{rows, &slow}}), 0, 1e-6) << "without a rival";
    // One that is not asked about, and cannot be it.
    const auto fastest = launch_of(1);
    EXPECT_NEAR(gap_of("spmm.cpu_rows", slow, {{rows, &slow}, {registry_.find("sddmm.cpu_rows"), &fastest}}), 0, 1e-6);
    EXPECT_NEAR(gap_of("spmm.cpu_rows", slow, {{rows, &slow}, {registry_.find("spmm.cpu_sampled"), &fastest}}), 0, 1e-6)
        << "a sample is no rival of what is exact";
}

TEST_F(RoughGapsTest, SayNothingWithoutRatesAndEndSomewhere) {
    const Variant* rows = registry_.find("spmm.cpu_rows");
    const auto slow = launch_of(1000);
    const auto fast = launch_of(1);
    EXPECT_EQ(gap_of("spmm.cpu_edges", {}, {{rows, &fast}}), 0);
    EXPECT_EQ(gap_of("spmm.cpu_edges", fast, {}), 0);
    EXPECT_EQ(gap_of("spmm.cpu_edges", slow, {{rows, &fast}}), static_cast<float>(model::RoughGaps::kLargest));
    EXPECT_EQ(gap_of("spmm.cpu_edges", fast, {{rows, &slow}}), -static_cast<float>(model::RoughGaps::kLargest));
}

// Of an SDDMM and an SpMM in the opposite direction.
std::vector<Part> two_parts(const Query& q) {
    Problem dots = q.problem;
    dots.op = Op::sddmm;
    Problem sums = q.problem;
    sums.direction = Direction::reversed;
    return {{"dots", dots}, {"sums", sums}};
}

CostTerms busy(const Query& q, const Params&) {
    CostTerms terms;
    terms.l2_bytes = 1e6;
    terms.threads = q.problem.op == Op::sddmm ? 300 : 200;
    terms.longest = q.problem.direction == Direction::forward ? 7 : 11;
    return terms;
}

TEST(PlainTermsTest, OfACompositionHaveThreadsAndRoundsOfItsParts) {
    Registry all;
    register_all(all);
    Registry registry;
    for (const char* id : {"sddmm.cpu_rows", "spmm.cpu_rows"}) {
        Variant part = *all.find(id);
        part.cost_terms = &busy;
        registry.add(part);
    }
    Variant v = *all.find("spmm.cpu_edges");
    v.id = "spmm.two";
    v.parts = &two_parts;
    v.cost_terms = [](const Query&, const Params&) { return CostTerms{.dram_bytes = 5, .launches = 2}; };
    registry.add(v);
    const auto csr = test::csr_of(30, 40, test::random_edges(30, 40, 100, 1, 1));
    const Features features = features_of(csr.view());
    const Device device = cpu_device();
    Problem problem;
    problem.k = 16;
    const Query query{problem, 30, 40, 100, &features, &device};

    model::PlainTerms plain(query, registry);
    const CostTerms terms = plain.of(v, {});

    EXPECT_EQ(terms.threads, 200) << "as few as one of them has";
    EXPECT_EQ(terms.longest, 7 + 11) << "one after another";
    EXPECT_EQ(terms.dram_bytes, 5) << "its own";
    EXPECT_EQ(terms.launches, 2);
    const Variant& alone = *registry.find("spmm.cpu_rows");
    EXPECT_EQ(plain.of(alone, alone.default_params(query)).longest, 7);
    EXPECT_EQ(plain.of(v, {}).longest, 7 + 11) << "asked again";
    EXPECT_THROW((void)plain.of(v, Params{{"sums", "spmm.none"}}), Error) << "not what is known of other params";
}

}  // namespace
}  // namespace gnntune::tuner

// What a cost model is told of kernels, against numbers worked out by hand. Needs CUDA's headers and no GPU.
#include <gtest/gtest.h>

#include <array>

#include "core/model/rough_time.hpp"
#include "kernels/common/team_cost.hpp"
#include "kernels/register_all.hpp"
#include "tests/unit/common/hopper.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune::kernels {
namespace {

TEST(TeamCost, CountsTeamsTheirRoundsAndBlocksOfPieces) {
    // 10 rows of 6 edges: teams of two groups, of four edges each, one round. One of 8,000: four pieces, each of a block
    // of 32 groups, 16 rounds.
    const std::vector<DegreeClass> classes{{8, 10, 60}, {8192, 1, 8000}};
    CostTerms terms;
    add_team_cost(classes, {.team = 8, .lanes = 4, .run = 4}, 3, terms);
    EXPECT_EQ(terms.threads, 3 * (10 * 8 + 4 * 128));
    EXPECT_EQ(terms.longest, 16);
    add_team_cost({{8, 10, 60}}, {.team = 8, .lanes = 4, .run = 4}, 3, terms);
    EXPECT_EQ(terms.longest, 17) << "one pass after the other";
    add_team_cost({}, {.team = 8, .lanes = 4, .run = 4}, 3, terms);
    EXPECT_EQ(terms.longest, 17);
}

TEST(GatherCost, SelfLoopsAreGathersOfEveryRow) {
    const auto csr = test::csr_of(100, 100, test::random_edges(100, 100, 300, 1, 5));
    const Device device = test::hopper();
    Query q{{}, 100, 100, csr.view().m, nullptr, &device};
    q.problem.k = 32;
    const CostTerms plain = gather_cost(q, 1000);
    q.problem.self_loop = true;
    const CostTerms looped = gather_cost(q, 1000);
    EXPECT_DOUBLE_EQ(looped.l2_bytes - plain.l2_bytes, 100 * 32 * 4);
    EXPECT_DOUBLE_EQ(looped.flops - plain.flops, 2 * 100 * 32);
    EXPECT_DOUBLE_EQ(looped.dram_bytes, plain.dram_bytes) << "every row was gathered already";
}

class CostTermsTest : public testing::Test {
protected:
    CostTermsTest() { register_all(registry_); }
    /// Of the default config.
    CostTerms of(const char* variant, const Problem& problem) const {
        const Query query{problem, 400, 400, features_.counts.m, &features_, &device_};
        const Variant& v = *registry_.find(variant);
        return model::PlainTerms(query, registry_).of(v, v.default_params(query));
    }

    Registry registry_;
    Device device_ = test::hopper();
    Features features_ = features_of(test::csr_of(400, 400, test::random_edges(400, 400, 4000, 2, 7)).view());
};

TEST_F(CostTermsTest, EveryKernelOfTeamsSaysHowMany) {
    const std::array<std::pair<Op, const char*>, 6> variants{{{Op::gat, "gat.rows"},
                                                              {Op::gat_grad, "gat_grad.rows_cols"},
                                                              {Op::agnn, "agnn.rows"},
                                                              {Op::agnn_grad, "agnn_grad.rows_cols"},
                                                              {Op::attention, "attention.rows"},
                                                              {Op::attention_grad, "attention_grad.rows_cols"}}};
    for (const auto& [op, variant] : variants) {
        Problem problem;
        problem.op = op;
        problem.k = 32;
        problem.weighted = false;
        const CostTerms one = of(variant, problem);
        EXPECT_GT(one.threads, 400) << variant;
        EXPECT_GT(one.longest, 0) << variant;
        problem.heads = 4;
        EXPECT_EQ(of(variant, problem).threads, 4 * one.threads) << variant;
    }
    Problem maximum;
    maximum.k = 32;
    maximum.reduce = Reduce::max;
    EXPECT_EQ(of("spmm.max_rows", maximum).threads, 400 * 32);
    EXPECT_GT(of("spmm.max_rows", maximum).longest, 10) << "a thread walks a row";
}

// 100 rows (and columns) of 60 edges, f32.
TEST_F(CostTermsTest, RoundsAreThoseOfTheKernels) {
    test::EdgeList edges;
    for (std::int32_t row = 0; row < 100; ++row) {
        for (std::int32_t i = 0; i < 60; ++i) edges.emplace_back(row, (row + i) % 100);
    }
    features_ = features_of(test::csr_of(100, 100, edges).view());
    struct Case {
        Op op;
        std::int32_t k;
        const char* config;
        double threads;
        double longest;
    };
    const std::array cases{
        // Four edges of each of 8 groups at once.
        Case{Op::gat, 16, "gat.rows{lanes=4,team=32,vec=4,items=1}", 100 * 32, 2},
        // A step has as many edges as threads.
        Case{Op::gat, 4, "gat.rows{lanes=1,team=16,vec=4,items=1}", 100 * 16, 4},
        // Two walks over a row's features, four edges at once; a team for each of a column's two tiles.
        Case{Op::gat_grad, 256, "gat_grad.rows_cols{lanes=32,team=32,vec=4,items=1}", 100 * 32 + 100 * 32 * 2,
             2 * 15 + 15},
        // Two edges at once by row, one by column.
        Case{Op::agnn_grad, 256, "agnn_grad.rows_cols{lanes=32,split=1,items=2}", 2 * 100 * 32, 30 + 60},
        Case{Op::attention_grad, 256, "attention_grad.rows_cols{lanes=32,split=1,items=2}", 2 * 100 * 32, 60 + 60},
        Case{Op::attention, 256, "attention.rows{lanes=32,split=1,items=2}", 100 * 32, 30},
    };
    for (const Case& c : cases) {
        Problem problem;
        problem.op = c.op;
        problem.k = c.k;
        problem.weighted = false;
        const Query query{problem, 100, 100, features_.counts.m, &features_, &device_};
        const Config config = Config::parse(c.config);
        const Variant& v = *registry_.find(config.variant);
        ASSERT_TRUE(v.valid(query, config.params)) << c.config << ": " << v.valid(query, config.params).reason;
        const CostTerms terms = v.cost_terms(query, config.params);
        EXPECT_EQ(terms.threads, c.threads) << c.config;
        EXPECT_EQ(terms.longest, c.longest) << c.config;
    }
}

TEST_F(CostTermsTest, ASelfLoopIsARoundMore) {
    for (const char* variant : {"spmm.rows", "spmm.binned", "spmm.row_runs"}) {
        Problem problem;
        problem.k = 32;
        const double without = of(variant, problem).longest;
        problem.self_loop = true;
        EXPECT_GE(of(variant, problem).longest, without + 1) << variant;
    }
}

TEST_F(CostTermsTest, DenseBlocksAreSearchedWithTheMinCellsThatTheyAskFor) {
    const std::int64_t m = features_.counts.m;
    Problem problem;
    problem.k = 64;
    const Query query{problem, 400, 400, m, &features_, &device_};
    const Variant& v = *registry_.find("spmm.dense_blocks");
    for (const auto& [blocks_of_8, expected] : {std::pair{119, "8"}, std::pair{120, "32"}}) {
        features_.counts.blocks_32x32 = {BlockCount{200, m}, BlockCount{blocks_of_8, m}, BlockCount{40, m},
                                         BlockCount{30, m}};
        const std::vector<Params> space = v.space(query);
        ASSERT_FALSE(space.empty());
        for (const Params& p : space) EXPECT_EQ(*p.find("min_cells"), expected);
        EXPECT_EQ(*v.default_params(query).find("min_cells"), expected);
    }
    Query unknown = query;
    unknown.features = nullptr;
    EXPECT_EQ(v.space(unknown).size(), 2 * v.space(query).size());
}

TEST_F(CostTermsTest, RowRunsOfLongRowsCanRunAndAreNotSearched) {
    Problem problem;
    problem.k = 64;
    const Variant& v = *registry_.find("spmm.row_runs");
    for (const std::int64_t m : {4000, 4001}) {
        const Query query{problem, 400, 400, m, &features_, &device_};
        EXPECT_TRUE(v.valid(query, v.default_params(query)));
        EXPECT_EQ(v.space(query).empty(), m > 4000) << m;
    }
}

TEST_F(CostTermsTest, AMaximumHasTheDefaultParamsOfASum) {
    for (const std::int32_t rows : {400, 400000}) {  // the latter have two loads a lane
        for (const std::int32_t k : {4, 16, 33, 64, 256}) {
            Problem problem;
            problem.k = k;
            const Query sum{problem, rows, 400, features_.counts.m, &features_, &device_};
            Query maximum = sum;
            maximum.problem.reduce = Reduce::max;
            const Params of_sum = registry_.find("spmm.binned")->default_params(sum);
            const Params of_maximum = registry_.find("spmm.max_binned")->default_params(maximum);
            for (const char* name : {"share", "warps_per_block"}) {
                EXPECT_EQ(*of_maximum.find(name), *of_sum.find(name)) << "k=" << k;
            }
            if (k == 33) {
                EXPECT_EQ(*of_maximum.find("items"), "1") << "no vectors of 16 bytes";
            } else {
                for (const char* name : {"lanes", "vec", "items"}) {
                    EXPECT_EQ(*of_maximum.find(name), *of_sum.find(name)) << name << " k=" << k << " rows=" << rows;
                }
            }
        }
    }
}

TEST_F(CostTermsTest, RowRunsInSixteenBitsWithSelfLoopsCanRunAndAreNotSearched) {
    Problem problem;
    problem.k = 32;
    problem.self_loop = true;
    const Variant& v = *registry_.find("spmm.row_runs");
    for (const DType dtype : every_dtype()) {
        problem.dtype = dtype;
        const Query query{problem, 400, 400, features_.counts.m, &features_, &device_};
        EXPECT_TRUE(v.valid(query, v.default_params(query))) << to_text(dtype);
        EXPECT_EQ(v.space(query).empty(), dtype != DType::f32) << to_text(dtype);
    }
}

}  // namespace
}  // namespace gnntune::kernels

// Features against hand-counted graphs and against a slow count with sets.
#include "core/features/features.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <map>
#include <set>

#include "core/common/error.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune {
namespace {

using test::csr_of;

std::vector<std::pair<std::int32_t, std::int64_t>> histogram(const std::vector<std::int32_t>& degrees) {
    std::map<std::int32_t, std::int64_t> counts;
    for (const std::int32_t d : degrees) ++counts[d];
    return {counts.begin(), counts.end()};
}

/// The definitions, word for word, with a set per window.
FeatureCounts slow_counts(const CsrView& csr) {
    FeatureCounts c;
    c.n_rows = csr.n_rows;
    c.n_cols = csr.n_cols;
    c.m = csr.m;
    std::vector<std::int32_t> row_degree(static_cast<std::size_t>(csr.n_rows));
    std::vector<std::int32_t> col_degree(static_cast<std::size_t>(csr.n_cols));
    std::map<int, std::set<std::int32_t>> cols_8;
    std::map<int, std::set<std::int32_t>> cols_16;
    std::set<std::pair<int, int>> tiles_8;
    std::set<std::pair<int, int>> tiles_16;
    std::map<std::pair<int, int>, std::int64_t> blocks;
    for (std::int32_t i = 0; i < csr.n_rows; ++i) {
        for (std::int32_t e = csr.row_ptr[i]; e < csr.row_ptr[i + 1]; ++e) {
            const std::int32_t j = csr.col_idx[e];
            ++row_degree[static_cast<std::size_t>(i)];
            ++col_degree[static_cast<std::size_t>(j)];
            c.column_distance_sum += static_cast<std::uint64_t>(std::abs(j - i));
            cols_8[i / 8].insert(j);
            cols_16[i / 16].insert(j);
            tiles_8.emplace(i / 16, j / 8);
            tiles_16.emplace(i / 16, j / 16);
            ++blocks[{i / 32, j / 32}];
        }
    }
    c.row_degrees = histogram(row_degree);
    c.col_degrees = histogram(col_degree);
    for (const auto& [window, cols] : cols_8) c.distinct_cols_8 += static_cast<std::int64_t>(cols.size());
    for (const auto& [window, cols] : cols_16) {
        const auto distinct = static_cast<std::int64_t>(cols.size());
        c.distinct_cols_16 += distinct;
        c.sgt_blocks_16x8 += (distinct + 7) / 8;
        c.sgt_blocks_16x16 += (distinct + 15) / 16;
    }
    c.tc_blocks_16x8 = static_cast<std::int64_t>(tiles_8.size());
    c.tc_blocks_16x16 = static_cast<std::int64_t>(tiles_16.size());
    for (const auto& [place, edges] : blocks) {
        for (std::size_t i = 0; i < kBlockEdges.size(); ++i) {
            if (edges < kBlockEdges[i]) continue;
            ++c.blocks_32x32[i].blocks;
            c.blocks_32x32[i].edges += edges;
        }
    }
    return c;
}

TEST(Features, CountsEqualTheDefinitions) {
    for (const auto& [name, graph] : test::awkward_graphs()) {
        EXPECT_EQ(count_features(graph.view()), slow_counts(graph.view())) << name;
    }
}

TEST(Features, CountsDoNotDependOnThreads) {
    const CsrGraph graph = csr_of(3001, 2999, test::random_edges(3001, 2999, 60000, 3, 8));
    const int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    const FeatureCounts one = count_features(graph.view());
    omp_set_num_threads(5);
    const FeatureCounts five = count_features(graph.view());
    omp_set_num_threads(threads);
    EXPECT_EQ(one, five);
    EXPECT_EQ(finalise(one), finalise(five));
}

TEST(Features, HandCountedWindows) {
    // Rows 0 and 8 share window 0 of 16 rows, not of 8; row 16 opens window 1. Columns 0, 7 | 8 | 16.
    const CsrGraph graph = csr_of(17, 20, {{0, 7}, {0, 0}, {8, 0}, {8, 8}, {8, 8}, {16, 16}});
    const FeatureCounts c = count_features(graph.view());
    EXPECT_EQ(c.distinct_cols_8, 2 + 2 + 1);
    EXPECT_EQ(c.distinct_cols_16, 3 + 1);
    EXPECT_EQ(c.tc_blocks_16x8, 2 + 1);
    EXPECT_EQ(c.tc_blocks_16x16, 1 + 1);
    EXPECT_EQ(c.sgt_blocks_16x8, 2);
    EXPECT_EQ(c.column_distance_sum, 7u + 0u + 8u + 0u + 0u + 0u);
    using Histogram = std::vector<std::pair<std::int32_t, std::int64_t>>;
    EXPECT_EQ(c.row_degrees, (Histogram{{0, 14}, {1, 1}, {2, 1}, {3, 1}}));
    EXPECT_EQ(c.col_degrees, (Histogram{{0, 16}, {1, 2}, {2, 2}}));
}

TEST(Features, HandCountedBlocks) {
    // Blocks of 32 x 32 cells with 1, 7, 8, 32 and 130 edges; the largest one's edges lie in both of its windows of 16
    // rows, and in few of its rows; the one of 7 has an edge twice.
    test::EdgeList edges{{0, 0}};
    for (std::int32_t i = 0; i < 6; ++i) edges.emplace_back(31, 32 + i);
    edges.emplace_back(31, 37);
    for (std::int32_t i = 0; i < 8; ++i) edges.emplace_back(32 + i, 31);
    for (std::int32_t i = 0; i < 32; ++i) edges.emplace_back(32 + i, 32 + i);
    for (std::int32_t i = 0; i < 130; ++i) edges.emplace_back(15 + i / 26, 64 + i % 26);
    const FeatureCounts c = count_features(csr_of(64, 90, edges).view());
    EXPECT_EQ(c.blocks_32x32, (std::array<BlockCount, 4>{{{5, 178}, {3, 170}, {2, 162}, {1, 130}}}));
}

TEST(Features, HandComputedDegrees) {
    // Degrees 0, 1, 1, 2.
    const Features f = features_of(csr_of(4, 4, {{1, 0}, {2, 0}, {3, 0}, {3, 2}}).view());
    EXPECT_DOUBLE_EQ(f.density, 4.0 / 16);
    EXPECT_DOUBLE_EQ(f.degree_mean, 1.0);
    EXPECT_DOUBLE_EQ(f.degree_std, std::sqrt(0.5));
    EXPECT_DOUBLE_EQ(f.degree_cv, std::sqrt(0.5));
    // (2 (1 * 0 + 2 * 1 + 3 * 1 + 4 * 2) - 5 * 4) / (4 * 4)
    EXPECT_DOUBLE_EQ(f.degree_gini, 6.0 / 16);
    EXPECT_EQ(f.degree_max, 2);
    EXPECT_EQ(f.degree_p50, 1);
    EXPECT_EQ(f.degree_p90, 2);
    EXPECT_EQ(f.degree_p99, 2);
    EXPECT_EQ(f.empty_rows, 1);
    EXPECT_DOUBLE_EQ(f.heaviest_1pct_share, 2.0 / 4);
    EXPECT_DOUBLE_EQ(f.mean_column_distance, (1 + 2 + 3 + 1) / 4.0);
    EXPECT_EQ(f.distinct_cols, 2);
}

TEST(Features, RegularGraphHasNoSkew) {
    test::EdgeList ring;
    for (std::int32_t i = 0; i < 200; ++i) ring.emplace_back(i, (i + 1) % 200);
    const Features f = features_of(csr_of(200, 200, ring).view());
    EXPECT_EQ(f.degree_gini, 0);
    EXPECT_EQ(f.degree_cv, 0);
    EXPECT_DOUBLE_EQ(f.heaviest_1pct_share, 0.01);
    EXPECT_EQ(f.empty_rows, 0);
}

TEST(Features, PercentileIsTheSmallestDegreeThatCoversTheShare) {
    // 100 rows: 50 of degree 1, 40 of degree 2, 9 of degree 3, 1 of degree 4. Every share is met exactly.
    test::EdgeList edges;
    for (std::int32_t i = 0; i < 100; ++i) {
        const int degree = i < 50 ? 1 : i < 90 ? 2 : i < 99 ? 3 : 4;
        for (int d = 0; d < degree; ++d) edges.emplace_back(i, d);
    }
    const Features f = features_of(csr_of(100, 4, edges).view());
    EXPECT_EQ(f.degree_p50, 1);
    EXPECT_EQ(f.degree_p90, 2);
    EXPECT_EQ(f.degree_p99, 3);
    EXPECT_EQ(f.degree_max, 4);
}

TEST(Features, EmptyGraphsGiveZeros) {
    const Features f = features_of(csr_of(0, 0, {}).view());
    EXPECT_EQ(f, finalise(FeatureCounts{}));
    const Features g = features_of(csr_of(5, 3, {}).view());
    EXPECT_EQ(g.empty_rows, 5);
    EXPECT_EQ(g.density, 0);
    EXPECT_EQ(g.degree_gini, 0);
    EXPECT_EQ(g.distinct_cols, 0);
}

TEST(HitRate, EverythingFits) {
    const FeatureCounts c = count_features(csr_of(4, 4, {{0, 0}, {1, 0}, {2, 0}, {3, 1}}).view());
    EXPECT_DOUBLE_EQ(expected_l2_hit_rate(c, 128, 1 << 20), 1 - 2.0 / 4);
    EXPECT_EQ(expected_l2_hit_rate(FeatureCounts{}, 128, 1 << 20), 0);
    EXPECT_EQ(expected_l2_hit_rate(c, 128, 0), 0);
    EXPECT_THROW(expected_l2_hit_rate(c, 0, 1 << 20), Error);
}

TEST(HitRate, EqualColumnsHitAsOftenAsTheyAreResident) {
    // 1000 columns of degree 50 and room for 300 of them: independent references hit with probability 0.3.
    FeatureCounts c;
    c.n_rows = c.n_cols = 1000;
    c.m = 50000;
    c.col_degrees = {{50, 1000}};
    EXPECT_NEAR(expected_l2_hit_rate(c, 700, 300 * 1000), 0.3, 1e-9);
}

TEST(HitRate, PopularColumnsRaiseItAndCapacityNeverLowersIt) {
    FeatureCounts c;
    c.n_cols = 1010;
    c.col_degrees = {{5, 1000}, {4500, 10}};
    c.m = 50000;
    EXPECT_GT(expected_l2_hit_rate(c, 1000, 300 * 1000), 0.85);
    double last = 0;
    for (std::int64_t l2 = 1000; l2 < 4000000; l2 *= 2) {
        const double rate = expected_l2_hit_rate(c, 1000, l2);
        EXPECT_GE(rate, last);
        EXPECT_LE(rate, 1 - 1010.0 / 50000);
        last = rate;
    }
    EXPECT_DOUBLE_EQ(last, 1 - 1010.0 / 50000);
}

TEST(Features, DegreeClassesAreThePowersOfTwoThatHoldRows) {
    FeatureCounts counts;
    counts.n_rows = 9;
    counts.n_cols = 4;
    counts.m = 39;
    counts.row_degrees = {{0, 2}, {1, 1}, {3, 2}, {4, 2}, {8, 1}, {16, 1}};
    counts.col_degrees = {{9, 3}, {12, 1}};
    const Features f = finalise(counts);
    EXPECT_EQ(f.row_classes, (std::vector<DegreeClass>{{0, 2, 0}, {1, 1, 1}, {4, 4, 14}, {8, 1, 8}, {16, 1, 16}}));
    EXPECT_EQ(f.col_classes, (std::vector<DegreeClass>{{16, 4, 39}}));
    EXPECT_TRUE(finalise({}).row_classes.empty());
}

}  // namespace
}  // namespace gnntune

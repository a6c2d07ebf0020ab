// The R-MAT graphs of tools/scale: degrees, columns and their independence of threads.
#include "tools/scale/rmat.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace gnntune::scale {
namespace {

std::vector<std::int32_t> columns_of(const Rmat& rmat, const std::vector<std::int64_t>& row_ptr) {
    std::vector<std::int32_t> columns(static_cast<std::size_t>(row_ptr.back()), -1);
    fill_columns(rmat, row_ptr, columns.data());
    return columns;
}

TEST(Rmat, HasTheEdgesThatWereAskedFor) {
    Rmat rmat;
    rmat.scale = 12;
    rmat.edges = 1'000'000;
    const auto row_ptr = row_offsets(rmat);
    ASSERT_EQ(row_ptr.size(), 4097U);
    EXPECT_TRUE(std::is_sorted(row_ptr.begin(), row_ptr.end()));
    EXPECT_NEAR(static_cast<double>(row_ptr.back()), 1e6, 5e3) << "five times the root";
    for (const std::int32_t column : columns_of(rmat, row_ptr)) {
        ASSERT_GE(column, 0);
        ASSERT_LT(column, 4096);
    }
}

// Rows and columns are shuffled, so degrees are compared by size: those of rows and columns follow the same law here,
// (a + b)^zeros (c + d)^ones, whose largest is 0.76^12.
TEST(Rmat, DegreesFollowTheQuadrants) {
    Rmat rmat;
    rmat.scale = 12;
    rmat.edges = 4'000'000;
    const auto row_ptr = row_offsets(rmat);
    std::vector<double> rows;
    std::vector<double> cols(4096);
    for (std::size_t i = 0; i < 4096; ++i) rows.push_back(static_cast<double>(row_ptr[i + 1] - row_ptr[i]));
    for (const std::int32_t column : columns_of(rmat, row_ptr)) ++cols[static_cast<std::size_t>(column)];
    std::vector<double> expected;
    for (unsigned i = 0; i < 4096; ++i) {
        const int ones = __builtin_popcount(i);
        expected.push_back(4e6 * std::pow(0.24, ones) * std::pow(0.76, 12 - ones));
    }
    for (auto* degrees : {&rows, &cols, &expected}) std::sort(degrees->rbegin(), degrees->rend());
    for (const std::size_t rank : {0, 1, 5, 12, 50, 300}) {
        EXPECT_NEAR(rows[rank], expected[rank], 6 * std::sqrt(expected[rank]) + 0.002 * expected[rank]) << rank;
        EXPECT_NEAR(cols[rank], expected[rank], 6 * std::sqrt(expected[rank]) + 0.002 * expected[rank]) << rank;
    }
}

// An edge of the heaviest row falls on the heaviest column with probability (a / (a + b))^12, not with the column's share.
TEST(Rmat, ColumnsDependOnTheirRow) {
    Rmat rmat;
    rmat.scale = 6;
    rmat.edges = 3'000'000;
    rmat.c = 0.05;  // d = 0.19: columns of rows with ones lean the other way
    const auto row_ptr = row_offsets(rmat);
    const auto columns = columns_of(rmat, row_ptr);
    std::size_t heaviest = 0;
    for (std::size_t i = 0; i < 64; ++i) {
        if (row_ptr[i + 1] - row_ptr[i] > row_ptr[heaviest + 1] - row_ptr[heaviest]) heaviest = i;
    }
    std::vector<double> counts(64);
    const std::int64_t begin = row_ptr[heaviest];
    const std::int64_t end = row_ptr[heaviest + 1];
    for (std::int64_t e = begin; e < end; ++e) ++counts[static_cast<std::size_t>(columns[static_cast<std::size_t>(e)])];
    const double expected = static_cast<double>(end - begin) * std::pow(0.75, 6);
    EXPECT_NEAR(*std::max_element(counts.begin(), counts.end()), expected, 6 * std::sqrt(expected));
}

TEST(Rmat, IsTheSameForAnyNumberOfThreads) {
    Rmat rmat;
    rmat.scale = 10;
    rmat.edges = 50'000;
    const int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    const auto one = row_offsets(rmat);
    const auto one_columns = columns_of(rmat, one);
    omp_set_num_threads(4);
    EXPECT_EQ(row_offsets(rmat), one);
    EXPECT_EQ(columns_of(rmat, one), one_columns);
    omp_set_num_threads(threads);
    rmat.seed = 2;
    EXPECT_NE(row_offsets(rmat), one);
}

TEST(Rmat, ValuesSpreadOverTheirRange) {
    double sum = 0;
    double squares = 0;
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        const double v = value_at(1, i);
        ASSERT_GE(v, -1);
        ASSERT_LT(v, 1);
        sum += v;
        squares += v * v;
    }
    EXPECT_NEAR(sum / 1e5, 0, 0.01);
    EXPECT_NEAR(squares / 1e5, 1.0 / 3, 0.01);
    EXPECT_NE(value_at(1, 5), value_at(2, 5));
}

}  // namespace
}  // namespace gnntune::scale

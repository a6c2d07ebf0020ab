// The sampling rule of ES-SpMM: which edges it keeps, position by position, and the sampled graph.
#include "core/graph/sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/unit/common/small_graphs.hpp"

namespace gnntune {
namespace {

SampleRule fastrand(std::int32_t width, std::int32_t prime = 577, std::int32_t second_prime = 0) {
    SampleRule rule;
    rule.kind = SampleKind::fastrand;
    rule.width = width;
    rule.prime = prime;
    rule.second_prime = second_prime;
    return rule;
}

SampleRule bucket(std::int32_t width) {
    SampleRule rule;
    rule.width = width;
    return rule;
}

std::vector<std::int32_t> positions(const SampleRule& rule, std::int32_t degree) {
    const RowSample row = sample_row(rule, degree);
    std::vector<std::int32_t> out(static_cast<std::size_t>(row.count));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = row.position(static_cast<std::int32_t>(i));
    return out;
}

std::vector<std::int32_t> first(std::int32_t n) {
    std::vector<std::int32_t> out(static_cast<std::size_t>(n));
    std::iota(out.begin(), out.end(), 0);
    return out;
}

/// Equation 2 as the paper writes it: sample_idx = (shmem_idx * P') mod row_nnz.
std::vector<std::int32_t> equation_2(std::int32_t width, std::int64_t prime, std::int32_t degree) {
    std::vector<std::int32_t> out;
    for (std::int64_t i = 0; i < width; ++i) out.push_back(static_cast<std::int32_t>((i * prime) % degree));
    return out;
}

TEST(Sample, BucketTakesTheFirstEdges) {
    for (const std::int32_t degree : {0, 1, 31, 32, 33, 577, 200000}) {
        EXPECT_EQ(positions(bucket(32), degree), first(std::min(degree, 32))) << degree;
    }
}

TEST(Sample, FastRandIsEquation2BitForBit) {
    for (const std::int32_t width : {8, 16, 64, 256, 2048}) {
        for (const std::int32_t prime : {577, 769, 983, 1193, 1429}) {
            for (const std::int32_t degree :
                 {width, width + 1, width + 13, 3 * width, 2577, 65536, 200000, 2147483647}) {
                if (degree < width) continue;
                EXPECT_EQ(positions(fastrand(width, prime), degree), equation_2(width, prime, degree))
                    << width << ' ' << prime << ' ' << degree;
            }
        }
    }
    EXPECT_EQ(positions(fastrand(8), 578), (std::vector<std::int32_t>{0, 577, 576, 575, 574, 573, 572, 571}));
    EXPECT_EQ(positions(fastrand(8), 9), (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));  // 577 mod 9 = 1
}

TEST(Sample, TheWholeRowIsTakenInOrderWhereTheWidthExceedsTheDegree) {
    for (const std::int32_t degree : {0, 1, 2, 15, 63}) {
        EXPECT_EQ(positions(fastrand(64), degree), first(degree)) << degree;
    }
}

TEST(Sample, AtDegreeEqualToTheWidthEveryEdgeIsTakenOnce) {
    for (const std::int32_t width : {8, 16, 32, 64, 128, 256, 512, 1024, 2048}) {
        auto taken = positions(fastrand(width), width);
        std::sort(taken.begin(), taken.end());
        EXPECT_EQ(taken, first(width));
    }
}

TEST(Sample, ADegreeThatThePrimeDividesRepeatsFewEdgesUnlessThereIsASecondPrime) {
    EXPECT_EQ(positions(fastrand(16), 577), std::vector<std::int32_t>(16, 0));
    EXPECT_EQ(positions(fastrand(4), 2 * 577), (std::vector<std::int32_t>{0, 577, 0, 577}));
    EXPECT_EQ(positions(fastrand(16, 577, 769), 577), equation_2(16, 769, 577));
    EXPECT_EQ(positions(fastrand(16, 577, 769), 2 * 577), equation_2(16, 769, 2 * 577));
    EXPECT_EQ(positions(fastrand(16, 577, 769), 578), equation_2(16, 577, 578));
}

TEST(Sample, ProductsUpTo32BitsAreExact) {
    const auto last = static_cast<std::int32_t>(4294967295 / 1429);
    const RowSample row = sample_row(fastrand(last + 1, 1429), 2147483647);
    EXPECT_EQ(row.position(last), std::int64_t{last} * 1429 % 2147483647);
}

TEST(Sample, RescalingActsOnlyWhereEdgesAreLeftOut) {
    SampleRule rule = fastrand(16);
    EXPECT_EQ(sample_scale(rule, 100), 1.0F);
    rule.rescale = true;
    EXPECT_EQ(sample_scale(rule, 0), 1.0F);
    EXPECT_EQ(sample_scale(rule, 16), 1.0F);
    EXPECT_EQ(sample_scale(rule, 17), 17.0F / 16.0F);
    EXPECT_EQ(sample_scale(rule, 200000), 12500.0F);
}

TEST(Sample, TheSampledGraphHoldsTheKeptEdgesInOrder) {
    for (const auto& [name, graph] : test::awkward_graphs()) {
        for (const SampleRule& rule : {bucket(8), fastrand(8), fastrand(64, 983)}) {
            HostVector<std::int32_t> position;
            const CsrGraph kept = sample(graph.view(), rule, &position);
            ASSERT_EQ(kept.n_rows, graph.n_rows) << name;
            ASSERT_EQ(position.size(), kept.col_idx.size()) << name;
            for (std::int32_t i = 0; i < graph.n_rows; ++i) {
                const auto row = static_cast<std::size_t>(i);
                const std::int32_t begin = graph.row_ptr[row];
                const auto expected = positions(rule, graph.row_ptr[row + 1] - begin);
                ASSERT_EQ(kept.row_ptr[row + 1] - kept.row_ptr[row], static_cast<std::int32_t>(expected.size()))
                    << name;
                for (std::size_t s = 0; s < expected.size(); ++s) {
                    const std::size_t at = static_cast<std::size_t>(kept.row_ptr[row]) + s;
                    ASSERT_EQ(position[at], begin + expected[s]) << name << " row " << i;
                    ASSERT_EQ(kept.col_idx[at], graph.col_idx[static_cast<std::size_t>(position[at])]) << name;
                }
            }
        }
    }
}

}  // namespace
}  // namespace gnntune

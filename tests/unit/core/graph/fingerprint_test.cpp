// The fingerprint is frozen: databases hold its values. If a golden value below fails, the function is wrong, not the
// test.
#include "core/graph/fingerprint.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <random>

#include "tests/unit/common/small_graphs.hpp"

namespace gnntune {
namespace {

using test::coo_of;
using test::csr_of;
using test::EdgeList;

const EdgeList kDirected{{0, 1}, {1, 2}, {2, 0}, {2, 1}};

std::string text_of(std::int32_t n_rows, std::int32_t n_cols, const EdgeList& edges) {
    return fingerprint(csr_of(n_rows, n_cols, edges).view()).text();
}

TEST(Fingerprint, GoldenValues) {
    EXPECT_EQ(text_of(0, 0, {}), "de876dc81767dc149065d5f9f9c1e615");
    EXPECT_EQ(text_of(1, 1, {}), "db21022f3946a26788a70682a4c45ec5");
    EXPECT_EQ(text_of(1, 1, {{0, 0}}), "bdc42ee542d23e999befdf1f7a39e556");
    EXPECT_EQ(text_of(3, 3, kDirected), "8e5b14e16e11f22780b9ba74f1961c0e");
    EXPECT_EQ(text_of(2147483, 5, {{2147482, 4}, {0, 0}, {0, 0}}), "626e342ab624793e4c2e39c2e5a156a3");
    EXPECT_EQ(text_of(1003, 907, test::random_edges(1003, 907, 20000, 2, 42)), "7a753902707fdc89baabd88cb211f779");
}

TEST(Fingerprint, CsrCooAndAnyOrderAgree) {
    EdgeList edges = test::random_edges(501, 77, 5000, 2, 7);
    const Fingerprint expected = fingerprint(csr_of(501, 77, edges).view());
    EXPECT_EQ(fingerprint(coo_of(501, 77, edges).view()), expected);
    std::shuffle(edges.begin(), edges.end(), std::mt19937(3));
    EXPECT_EQ(fingerprint(coo_of(501, 77, edges).view()), expected);
    EXPECT_EQ(fingerprint(csr_of(501, 77, edges).view()), expected);
    CsrGraph sorted = csr_of(501, 77, edges);
    sort_columns(sorted);
    EXPECT_EQ(fingerprint(sorted.view()), expected);
}

TEST(Fingerprint, DoesNotDependOnThreads) {
    const CsrGraph graph = csr_of(501, 77, test::random_edges(501, 77, 5000, 2, 7));
    const int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    const Fingerprint one = fingerprint(graph.view());
    omp_set_num_threads(7);
    EXPECT_EQ(fingerprint(graph.view()), one);
    omp_set_num_threads(threads);
}

TEST(Fingerprint, ValuesDoNotCount) {
    CsrGraph graph = csr_of(3, 3, kDirected);
    const Fingerprint unweighted = fingerprint(graph.view());
    graph.edge_weight.assign(graph.col_idx.size(), 2.5f);
    EXPECT_EQ(fingerprint(graph.view()), unweighted);
}

TEST(Fingerprint, DirectionMultiplicityAndSizesCount) {
    const std::string expected = text_of(3, 3, kDirected);
    EdgeList reversed;
    for (const auto& [row, col] : kDirected) reversed.emplace_back(col, row);
    EXPECT_NE(text_of(3, 3, reversed), expected);

    EdgeList doubled = kDirected;
    doubled.push_back(kDirected.front());
    EXPECT_NE(text_of(3, 3, doubled), expected);
    EdgeList twice_another = kDirected;
    twice_another.push_back(kDirected.back());
    EXPECT_NE(text_of(3, 3, doubled), text_of(3, 3, twice_another));

    EXPECT_NE(text_of(4, 3, kDirected), expected) << "a trailing empty row";
    EXPECT_NE(text_of(3, 4, kDirected), expected) << "a trailing empty column";
    EXPECT_NE(text_of(4, 3, kDirected), text_of(3, 4, kDirected));
    EXPECT_NE(text_of(0, 1, {}), text_of(1, 0, {}));
}

TEST(Fingerprint, OneChangedEdgeChangesBothHalves) {
    EdgeList edges = test::random_edges(501, 77, 5000, 1, 9);
    const Fingerprint before = fingerprint(coo_of(501, 77, edges).view());
    edges[1234].second ^= 1;
    const Fingerprint after = fingerprint(coo_of(501, 77, edges).view());
    EXPECT_NE(before.hi, after.hi);
    EXPECT_NE(before.lo, after.lo);
}

TEST(Fingerprint, TextRoundTrip) {
    const Fingerprint f{0x0123456789abcdefull, 0x00000000000000ffull};
    EXPECT_EQ(f.text(), "0123456789abcdef00000000000000ff");
    EXPECT_EQ(Fingerprint::parse(f.text()), f);
    EXPECT_FALSE(Fingerprint::parse(""));
    EXPECT_FALSE(Fingerprint::parse("0123456789abcdef00000000000000f"));
    EXPECT_FALSE(Fingerprint::parse("0123456789abcdef00000000000000ff0"));
    EXPECT_FALSE(Fingerprint::parse("0123456789abcdefg0000000000000ff"));
    EXPECT_FALSE(Fingerprint::parse("-123456789abcdef00000000000000ff"));
}

}  // namespace
}  // namespace gnntune

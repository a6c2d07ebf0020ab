// Host conversions against brute force.
#include "core/graph/convert.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "tests/unit/common/small_graphs.hpp"

namespace gnntune {
namespace {

using Edge = std::tuple<std::int32_t, std::int32_t, float>;

/// Weights 1, 2, 3 ... in the order of the list, so that edges can be told apart.
test::CooGraph numbered_coo(std::int32_t n_rows, std::int32_t n_cols, const test::EdgeList& edges) {
    test::CooGraph coo = test::coo_of(n_rows, n_cols, edges);
    for (std::size_t e = 0; e < edges.size(); ++e) coo.edge_weight.push_back(static_cast<float>(e + 1));
    return coo;
}

std::vector<test::CooGraph> graphs() {
    return {numbered_coo(0, 0, {}),
            numbered_coo(5, 3, {}),
            numbered_coo(1, 1, {{0, 0}}),
            numbered_coo(3, 3, {{2, 1}, {0, 2}, {0, 1}}),
            numbered_coo(4, 6, {{3, 5}, {3, 5}, {1, 0}, {3, 5}, {1, 5}, {1, 0}}),
            numbered_coo(97, 61, test::random_edges(97, 61, 700, 2, 11)),
            numbered_coo(61, 97, test::random_edges(61, 97, 700, 2, 12)),
            numbered_coo(5000, 7, test::random_edges(5000, 7, 300, 1, 13))};
}

/// Edges of a list by row, each row in the order of the list: what a stable conversion must give.
std::vector<Edge> by_row(const test::CooGraph& coo) {
    std::vector<Edge> edges;
    for (std::int32_t i = 0; i < coo.n_rows; ++i) {
        for (std::size_t e = 0; e < coo.row_idx.size(); ++e) {
            if (coo.row_idx[e] == i) edges.emplace_back(i, coo.col_idx[e], coo.edge_weight[e]);
        }
    }
    return edges;
}

std::vector<Edge> edges_of(const CsrGraph& csr) {
    std::vector<Edge> edges;
    for (std::int32_t i = 0; i < csr.n_rows; ++i) {
        for (auto e = static_cast<std::size_t>(csr.row_ptr[static_cast<std::size_t>(i)]);
             e < static_cast<std::size_t>(csr.row_ptr[static_cast<std::size_t>(i) + 1]); ++e) {
            edges.emplace_back(i, csr.col_idx[e], csr.edge_weight[e]);
        }
    }
    return edges;
}

TEST(Convert, CooToCsrIsStableAndLeadsBackToTheList) {
    for (const test::CooGraph& coo : graphs()) {
        HostVector<std::int32_t> edge_id;

        const CsrGraph csr = coo_to_csr(coo.view(), &edge_id);

        ASSERT_NO_THROW(validate(csr.view()));
        EXPECT_EQ(edges_of(csr), by_row(coo));
        ASSERT_EQ(edge_id.size(), coo.col_idx.size());
        for (std::size_t p = 0; p < edge_id.size(); ++p) {
            const auto e = static_cast<std::size_t>(edge_id[p]);
            EXPECT_EQ(csr.col_idx[p], coo.col_idx[e]);
            EXPECT_EQ(csr.edge_weight[p], coo.edge_weight[e]);
        }
    }
}

// Long enough for the parts, buckets and passes of the counting sort, one row and one column with most of the edges.
TEST(Convert, LargeListsAreGroupedInTheOrderOfTheList) {
    for (const std::int32_t n : {1, 300, 50000, 3000000}) {
        for (const bool sorted : {false, true}) {
            auto edges = test::random_edges(n, n, 150000, 2, 14);
            for (std::size_t e = 0; e < edges.size(); e += 3) edges[e].first = n / 3;
            for (std::size_t e = 1; e < edges.size(); e += 3) edges[e].second = n / 2;
            if (sorted)
                std::stable_sort(edges.begin(), edges.end(), [](auto& a, auto& b) { return a.first < b.first; });
            const test::CooGraph coo = test::coo_of(n, n, edges);
            HostVector<std::int32_t> order(edges.size());
            std::iota(order.begin(), order.end(), 0);
            std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
                return edges[static_cast<std::size_t>(a)].first < edges[static_cast<std::size_t>(b)].first;
            });
            HostVector<std::int32_t> edge_id;

            const CsrGraph csr = coo_to_csr(coo.view(), &edge_id);

            ASSERT_NO_THROW(validate(csr.view()));
            EXPECT_TRUE(edge_id == order);
            const auto rows = expand_rows(csr.view());
            bool same = true;
            for (std::size_t p = 0; p < order.size(); ++p) {
                const auto& [row, col] = edges[static_cast<std::size_t>(order[p])];
                same = same && rows[p] == row && csr.col_idx[p] == col;
            }
            EXPECT_TRUE(same) << n << (sorted ? " sorted" : "");
        }
    }
}

TEST(Convert, ExpandRowsNamesTheRowOfEveryEdge) {
    for (const test::CooGraph& coo : graphs()) {
        const CsrGraph csr = coo_to_csr(coo.view());

        const auto rows = expand_rows(csr.view());

        const auto edges = edges_of(csr);
        ASSERT_EQ(rows.size(), edges.size());
        for (std::size_t e = 0; e < edges.size(); ++e) EXPECT_EQ(rows[e], std::get<0>(edges[e]));
    }
}

TEST(Convert, CsrToCscHasEveryEdgeByColumnAndLeadsBack) {
    for (const test::CooGraph& coo : graphs()) {
        const CsrGraph csr = coo_to_csr(coo.view());
        const auto rows = expand_rows(csr.view());

        const CscGraph csc = csr_to_csc(csr.view());

        ASSERT_EQ(csc.col_ptr.size(), static_cast<std::size_t>(csr.n_cols) + 1);
        ASSERT_EQ(csc.edge_id.size(), csr.col_idx.size());
        std::vector<int> seen(csc.edge_id.size());
        for (std::int32_t j = 0; j < csr.n_cols; ++j) {
            for (auto p = static_cast<std::size_t>(csc.col_ptr[static_cast<std::size_t>(j)]);
                 p < static_cast<std::size_t>(csc.col_ptr[static_cast<std::size_t>(j) + 1]); ++p) {
                const auto e = static_cast<std::size_t>(csc.edge_id[p]);
                ++seen[e];
                EXPECT_EQ(csr.col_idx[e], j);
                EXPECT_EQ(rows[e], csc.row_idx[p]);
                EXPECT_EQ(csr.edge_weight[e], csc.edge_weight[p]);
                // Stable: the edges of a column stand in the order of the rows.
                if (p > static_cast<std::size_t>(csc.col_ptr[static_cast<std::size_t>(j)])) {
                    EXPECT_LT(csc.edge_id[p - 1], csc.edge_id[p]);
                }
            }
        }
        EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
    }
}

TEST(Convert, ReverseSwapsRowsAndColumnsAndTwiceGivesTheSameEdges) {
    for (const test::CooGraph& coo : graphs()) {
        const CsrGraph csr = coo_to_csr(coo.view());
        auto swapped = edges_of(csr);
        for (auto& [row, col, weight] : swapped) std::swap(row, col);
        std::sort(swapped.begin(), swapped.end());

        const CsrGraph reversed = reverse(csr.view());

        auto edges = edges_of(reversed);
        std::sort(edges.begin(), edges.end());
        EXPECT_EQ(edges, swapped);
        EXPECT_EQ(reversed.n_rows, csr.n_cols);
        auto again = edges_of(reverse(reversed.view()));
        auto before = edges_of(csr);
        std::sort(again.begin(), again.end());
        std::sort(before.begin(), before.end());
        EXPECT_EQ(again, before);
    }
}

TEST(Convert, ReverseOfADirectedGraphIsAnotherGraph) {
    const CsrGraph csr = test::csr_of(3, 3, {{0, 1}, {0, 2}, {2, 1}});

    const CsrGraph reversed = reverse(csr.view());

    EXPECT_EQ(reversed.row_ptr, (HostVector<std::int32_t>{0, 0, 2, 3}));
    EXPECT_EQ(reversed.col_idx, (HostVector<std::int32_t>{0, 2, 0}));
}

TEST(Convert, SortColumnsCarriesWeightsAndKeepsTheOrderOfDuplicates) {
    for (const test::CooGraph& coo : graphs()) {
        CsrGraph csr = coo_to_csr(coo.view());
        auto expected = edges_of(csr);
        std::stable_sort(expected.begin(), expected.end(), [](const Edge& a, const Edge& b) {
            return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
        });

        sort_columns(csr);

        EXPECT_EQ(edges_of(csr), expected);
    }
}

TEST(Convert, WithoutWeightsNoneAppear) {
    const test::CooGraph coo = test::coo_of(3, 3, {{2, 1}, {0, 2}, {0, 1}});

    CsrGraph csr = coo_to_csr(coo.view());
    sort_columns(csr);

    EXPECT_FALSE(csr.weighted());
    EXPECT_EQ(csr.col_idx, (HostVector<std::int32_t>{1, 2, 1}));
    EXPECT_TRUE(csr_to_csc(csr.view()).edge_weight.empty());
}

}  // namespace
}  // namespace gnntune

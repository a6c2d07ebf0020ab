// gnntune_edge_list: what it writes and what it says. What is refused: library_nonsense_edges_test.cpp.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/unit/library/library_fixture.hpp"

namespace gnntune::library_edge_list_test {
namespace {

class LibraryEdgeList : public LibraryTest {};

TEST_F(LibraryEdgeList, NarrowsEdgesAndPutsLoopsBehind) {
    gt::Context context = cpu();
    const std::vector<std::int64_t> sources{4, 0, 2}, targets{1, 2, 0};
    std::vector<std::int32_t> edges(10, -1);
    EXPECT_FALSE(context.edge_list(3, sources.data(), targets.data(), 2, edges.data()));
    EXPECT_EQ(edges, (std::vector<std::int32_t>{4, 0, 2, 0, 1, 1, 2, 0, 0, 1}));
}

TEST_F(LibraryEdgeList, SaysWhetherAnEdgeIsASelfLoop) {
    gt::Context context = cpu();
    const std::vector<std::int32_t> sources{1, 2}, targets{0, 2};
    std::vector<std::int32_t> edges(4);
    EXPECT_TRUE(context.edge_list(2, sources.data(), targets.data(), 0, edges.data()));
    EXPECT_FALSE(context.edge_list(1, sources.data(), targets.data(), 1, edges.data()));
    // The loops that were put behind are none of the edges'.
    EXPECT_EQ(edges, (std::vector<std::int32_t>{1, 0, 0, 0}));
    const std::int64_t wide[2] = {5, 5 + (std::int64_t{1} << 32)};  // alike only where they were narrowed
    EXPECT_FALSE(context.edge_list(1, wide, wide + 1, 0, edges.data()));
}

TEST_F(LibraryEdgeList, OfNothingWritesNothing) {
    gt::Context context = cpu();
    const std::int32_t* none = nullptr;
    EXPECT_FALSE(context.edge_list(0, none, none, 0, nullptr));
}

TEST_F(LibraryEdgeList, DoesNotSayWhatNobodyAsks) {
    const gt::Context context = cpu();
    const std::vector<std::int32_t> ids{3, 3};
    std::vector<std::int32_t> edges(4);
    gt::check(
        gnntune_edge_list(context.get(), 2, GNNTUNE_INT32, ids.data(), ids.data(), 0, edges.data(), nullptr, nullptr));
    EXPECT_EQ(edges, (std::vector<std::int32_t>{3, 3, 3, 3}));
}

TEST_F(LibraryEdgeList, DescribesAGraph) {
    gt::Context context = cpu();
    constexpr std::int64_t kEdges = 2, kVertices = 3, kAll = kEdges + kVertices;
    const std::vector<std::int64_t> sources{0, 1}, targets{2, 2};
    std::vector<std::int32_t> edges(2 * kAll);
    ASSERT_FALSE(context.edge_list(kEdges, sources.data(), targets.data(), kVertices, edges.data()));
    gt::Coo coo;
    coo.memory = GNNTUNE_HOST;
    coo.n_rows = coo.n_cols = kVertices;
    coo.m = kAll;
    coo.col_idx = edges.data();
    coo.row_idx = edges.data() + kAll;
    const gt::Graph graph = context.graph(coo);
    const gt::Plan plan = context.plan(graph, gt::spmm(1));
    const std::vector<float> x{1, 10, 100};
    std::vector<float> y(3);
    HostWorkspace memory(plan.workspace_bytes());
    plan.run(x.data(), nullptr, y.data(), memory.data(), memory.bytes());
    EXPECT_EQ(y, (std::vector<float>{1, 10, 111}));
}

}  // namespace
}  // namespace gnntune::library_edge_list_test

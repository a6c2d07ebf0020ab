// What formats cost, from the store to the snapshot that a dispatcher reads.
#include "profiles/snapshot/snapshot.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

class FormatCostTest : public StoreTest {};

TEST_F(FormatCostTest, AreKeptByGraphAndReplaced) {
    Store store = open();
    const auto graph_row = store.graph_id(graph("cora", 1));
    const auto environment_row = store.environment_id(environment());
    store.put_format_build(graph_row, environment_row, {"coo", "csr", Direction::reversed, 12.5, 400});
    store.put_format_build(graph_row, environment_row, {"coo", "csr", Direction::reversed, 11.5, 400});

    const std::vector<FormatBuild> builds = store.format_builds(graph_row, environment_row);

    const FormatBuild expected{"coo", "csr", Direction::reversed, 11.5, 400};
    EXPECT_EQ(builds, std::vector<FormatBuild>{expected});
    const Fingerprint first = graph("cora", 1).fingerprint;
    const Snapshot snapshot = Snapshot::load(file(), environment());
    const auto known = snapshot.answers(first, problem());
    ASSERT_NE(known->format_builds(), nullptr);
    EXPECT_EQ(*known->format_builds(), builds);
    EXPECT_EQ(snapshot.answers(graph("cora", 2).fingerprint, problem())->format_builds(), nullptr);
}

TEST_F(FormatCostTest, FormatsOfOneConfigAreNotCountedTwice) {
    // coo_sorted is made from csr: together they cost what coo_sorted costs.
    const std::vector<FormatBuild> builds{{"coo", "csr", Direction::forward, 100, 0},
                                          {"coo", "coo_sorted", Direction::forward, 120, 0},
                                          {"coo", "csr+coo_sorted", Direction::forward, 120, 0}};

    EXPECT_EQ(total_build_us(builds, {"csr", "coo_sorted"}, "coo", Direction::forward), 120);
    EXPECT_EQ(total_build_us(builds, {"csr"}, "coo", Direction::forward), 100);
    EXPECT_EQ(total_build_us(builds, {"csr", "ell"}, "coo", Direction::forward), 100);
    EXPECT_EQ(total_build_us(builds, {"csr"}, "coo", Direction::reversed), 0);
}

}  // namespace
}  // namespace gnntune::store

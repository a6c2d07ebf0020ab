// Lists of edges as graphs take them.
#include "kernels/edges/edge_list.hpp"

#include <gtest/gtest.h>

#include "tests/unit/kernels/edge_list_cases.hpp"

namespace gnntune::kernels {
namespace {

template <typename Id>
void expect_lists_right() {
    for_every_edge_list<Id>([](const EdgeListCase<Id>& in) {
        std::vector<std::int32_t> edges(in.edges().size(), -1);
        std::int32_t seen = 0;
        const EdgeList list{in.sources.data(),      in.targets.data(), sizeof(Id) == 8,
                            std::ssize(in.sources), in.loops,          edges.data()};
        copy_edge_list(Backend::cpu, list, &seen, nullptr);
        EXPECT_EQ(edges, in.edges());
        EXPECT_EQ(seen != 0, in.has_loop);
        copy_edge_list(Backend::cpu, list, nullptr, nullptr);
        EXPECT_EQ(edges, in.edges());
    });
}

TEST(EdgeList, NarrowsPutsLoopsBehindAndSeesThem) {
    expect_lists_right<std::int32_t>();
    expect_lists_right<std::int64_t>();
}

}  // namespace
}  // namespace gnntune::kernels

// Graphs that are built in stream order: which variants come first, so that nobody has to wait.
#include <gtest/gtest.h>

#include "core/registry/device.hpp"
#include "core/registry/graph.hpp"
#include "kernels/register_all.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune {
namespace {

// spmm.cpu_rows under another id and rank.
Variant stand_in(const Registry& registry, const char* id, std::int32_t rank, bool in_stream_order) {
    Variant v = *registry.find("spmm.cpu_rows");
    v.id = id;
    v.default_rank = rank;
    v.in_stream_order = in_stream_order;
    return v;
}

class StreamOrder : public testing::Test {
protected:
    StreamOrder() {
        register_all(registry_);
        registry_.add(stand_in(registry_, "spmm.waits", -3, false));
        registry_.add(stand_in(registry_, "spmm.enqueues_later", -1, true));
        registry_.add(stand_in(registry_, "spmm.enqueues", -2, true));
        problem_.k = 4;
    }

    Registry registry_;
    Problem problem_;
    const CsrGraph csr_ = test::csr_of(2, 2, {{0, 0}, {1, 1}});
};

TEST_F(StreamOrder, VariantsThatDoNotWaitComeFirst) {
    const Graph graph(registry_, cpu_device(), csr_.view());
    Query query = graph.query(problem_);
    EXPECT_EQ(registry_.default_config(query, {}).variant, "spmm.waits");
    EXPECT_EQ(registry_.default_part(query).variant, "spmm.waits");
    query.in_stream_order = true;
    EXPECT_EQ(registry_.default_config(query, {}).variant, "spmm.enqueues");
    EXPECT_EQ(registry_.default_part(query).variant, "spmm.enqueues");
}

TEST_F(StreamOrder, OneThatWaitsIsBetterThanNone) {
    Registry registry;
    registry.add(stand_in(registry_, "spmm.waits", 1, false));
    const Graph graph(registry, cpu_device(), csr_.view());
    Query query = graph.query(problem_);
    query.in_stream_order = true;
    EXPECT_EQ(registry.default_config(query, {}).variant, "spmm.waits");
}

TEST_F(StreamOrder, TheCpuBackendHasNone) {
    Graph graph(registry_, cpu_device(), csr_.view());
    graph.build_in_stream_order();
    EXPECT_FALSE(graph.in_stream_order());
    EXPECT_FALSE(graph.query(problem_).in_stream_order);
}

}  // namespace
}  // namespace gnntune

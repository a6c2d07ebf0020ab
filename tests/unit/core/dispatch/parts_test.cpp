// Which configs may stand inside a composition.
#include <gtest/gtest.h>

#include "core/common/error.hpp"
#include "core/dispatch/plan.hpp"
#include "core/registry/device.hpp"
#include "kernels/register_all.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune::parts_test {
namespace {

std::vector<Part> one_spmm(const Query& q) {
    return {{"spmm", q.problem}};
}

// spmm.cpu_rows under another id, as a composition that has one part.
Variant composition(const Registry& registry, const char* id) {
    Variant v = *registry.find("spmm.cpu_rows");
    v.id = id;
    v.parts = &one_spmm;
    return v;
}

class Parts : public testing::Test {
protected:
    Parts() {
        register_all(registry_);
        registry_.add(composition(registry_, "spmm.inner"));
        registry_.add(composition(registry_, "spmm.outer"));
        problem_.k = 4;
    }
    std::vector<PartVersion> parts_of_outer(const char* part) {
        const Graph graph(registry_, cpu_device(), csr_.view());
        return parts_of(registry_, graph.query(problem_), *registry_.find("spmm.outer"), Params{{"spmm", part}});
    }

    Registry registry_;
    Problem problem_;
    const CsrGraph csr_ = test::csr_of(2, 2, {{0, 0}, {1, 1}});
};

TEST_F(Parts, AVariantWithoutPartsIsOne) {
    const auto parts = parts_of_outer("spmm.cpu_rows{tile=16,row_block=16}");
    ASSERT_EQ(parts.size(), 1U);
    EXPECT_EQ(parts[0].config.variant, "spmm.cpu_rows");
}

// The rows of a composition hold the versions of its parts: those of a part's own parts would be nobody's.
TEST_F(Parts, ACompositionIsNone) {
    try {
        parts_of_outer("spmm.inner{tile=16,row_block=16}");
        FAIL() << "it was taken";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::unsupported);
        EXPECT_NE(std::string(e.what()).find("has parts itself"), std::string::npos) << e.what();
    }
}

TEST_F(Parts, TheDefaultIsNoCompositionWhereOneWouldComeFirst) {
    Variant first = composition(registry_, "spmm.first");
    first.default_rank = -1;
    registry_.add(first);
    const Graph graph(registry_, cpu_device(), csr_.view());
    ASSERT_EQ(registry_.default_config(graph.query(problem_), {}).variant, "spmm.first");
    const auto parts = parts_of_outer("default");
    ASSERT_EQ(parts.size(), 1U);
    EXPECT_FALSE(registry_.find(parts[0].config.variant)->parts) << parts[0].config.text();
}

}  // namespace
}  // namespace gnntune::parts_test

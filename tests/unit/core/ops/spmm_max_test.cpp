// The maximum by hand: which edge wins where products are equal, infinite or no numbers, in every order of the edges.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/common/error.hpp"
#include "core/ops/oracles.hpp"
#include "kernels/spmm/common/largest.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune::reference {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Problem maximum(bool weighted) {
    Problem p;
    p.op = Op::spmm;
    p.k = 1;
    p.reduce = Reduce::max;
    p.weighted = weighted;
    return p;
}

struct Maximum {
    std::vector<double> y;
    std::vector<double> argmax;
};

/// Of one feature, edges in the order of the list.
Maximum of(std::int32_t n_rows, const test::EdgeList& edges, const std::vector<float>& x,
           const std::vector<float>& weight = {}) {
    HostVector<std::int32_t> edge_id;
    const CsrGraph graph =
        coo_to_csr(test::coo_of(n_rows, static_cast<std::int32_t>(x.size()), edges).view(), &edge_id);
    Operands in;
    in.x = x.data();
    in.edge_weight = weight.data();
    const auto all = oracles(maximum(!weight.empty()), graph.view(), edge_id.data(), in);
    EXPECT_EQ(all.size(), 2U);
    EXPECT_TRUE(all[1].index);
    return {{all[0].value.begin(), all[0].value.end()}, {all[1].value.begin(), all[1].value.end()}};
}

TEST(SpmmMax, IsTheLargestProductAndItsPlaceInTheCallersOrder) {
    // Row 1 comes first in the list, row 0 has no edges.
    const Maximum unweighted = of(3, {{1, 2}, {2, 0}, {1, 1}, {1, 0}}, {-3, 5, 4});
    EXPECT_EQ(unweighted.y, (std::vector<double>{0, 5, -3}));
    EXPECT_EQ(unweighted.argmax, (std::vector<double>{-1, 2, 1}));

    const Maximum weighted = of(3, {{1, 2}, {2, 0}, {1, 1}, {1, 0}}, {-3, 5, 4}, {1, 2, -1, -2});
    EXPECT_EQ(weighted.y, (std::vector<double>{0, 6, -6}));
    EXPECT_EQ(weighted.argmax, (std::vector<double>{-1, 3, 1}));
}

TEST(SpmmMax, OfEqualsTheFirstEdgeWins) {
    EXPECT_EQ(of(1, {{0, 2}, {0, 0}, {0, 1}}, {7, 7, 7}).argmax.front(), 0);
    EXPECT_EQ(of(1, {{0, 1}, {0, 1}, {0, 0}}, {7, 8}).argmax.front(), 0);
    EXPECT_EQ(of(1, {{0, 0}, {0, 1}}, {-0.0F, 0.0F}).argmax.front(), 0);
    EXPECT_EQ(of(1, {{0, 0}, {0, 1}}, {0.0F, -0.0F}).argmax.front(), 0);
    EXPECT_EQ(of(1, {{0, 0}, {0, 1}}, {-kInfinity, -kInfinity}).argmax.front(), 0);
    // Equal once rounded to fp32, though not before.
    EXPECT_GT(3.0 * (1 / 3.0F), 1.0);
    EXPECT_EQ(of(1, {{0, 1}, {0, 0}}, {3, 1}, {1, 1 / 3.0F}).argmax.front(), 0);
}

TEST(SpmmMax, ANanWinsOverEverything) {
    const Maximum found = of(1, {{0, 0}, {0, 1}, {0, 2}, {0, 1}}, {kInfinity, kNan, 1});
    EXPECT_TRUE(std::isnan(found.y.front()));
    EXPECT_EQ(found.argmax.front(), 1);
    EXPECT_EQ(of(1, {{0, 0}, {0, 1}}, {kInfinity, 1}, {0, 1}).argmax.front(), 0) << "infinity times zero is no number";
}

TEST(SpmmMax, PlacesAreComparedExactlyWhateverIsStored) {
    test::EdgeList edges;
    std::vector<float> x;
    for (std::int32_t j = 0; j < 6000; ++j) {
        edges.emplace_back(0, j);
        x.push_back(j == 5000 ? 1.0F : -1.0F);
    }
    const CsrGraph graph = test::csr_of(1, 6000, edges);
    Operands in;
    in.x = x.data();
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
        Problem p = maximum(false);
        p.dtype = dtype;
        const Oracle argmax = oracles(p, graph.view(), nullptr, in).at(1);
        for (const std::int32_t found : {4999, 5000, 5001}) {
            EXPECT_EQ(compare(argmax, &found, Precision::fp32).pass(), found == 5000) << to_text(dtype);
        }
    }
}

TEST(SpmmMax, SelfLoopsAndSamplesAreRefused) {
    Problem p = maximum(false);
    p.self_loop = true;
    EXPECT_THROW(validate(p), Error);
    EXPECT_THROW(oracles(p, CsrView{}, nullptr, {}), Error);
    p.op = Op::spmm_grad;
    EXPECT_THROW(oracles(p, CsrView{}, nullptr, {}), Error);
    const SampleRule rule{SampleKind::bucket, 2};
    EXPECT_THROW(oracles(maximum(false), CsrView{}, nullptr, {}, &rule), Error);
}

// Whoever meets whom first, the same wins: what lets kernels share a row out as they like.
TEST(SpmmMax, TheOrderOfProductsIsTotal) {
    const float values[] = {-kInfinity, -1, -0.0F, 0.0F, 2, kInfinity, kNan};
    for (const float a : values) {
        EXPECT_TRUE(kernels::replaces(a, 0, kernels::kNoProduct, kernels::kNoEdge));
        EXPECT_FALSE(kernels::replaces(kernels::kNoProduct, kernels::kNoEdge, a, 0));
        EXPECT_FALSE(kernels::replaces(a, 5, a, 5));
        for (const float b : values) {
            EXPECT_NE(kernels::replaces(a, 0, b, 1), kernels::replaces(b, 1, a, 0)) << a << " and " << b;
            const auto found = of(1, {{0, 0}, {0, 1}}, {a, b});
            EXPECT_EQ(found.argmax.front(), kernels::replaces(b, 1, a, 0) ? 1 : 0) << a << " and " << b;
        }
    }
}

}  // namespace
}  // namespace gnntune::reference

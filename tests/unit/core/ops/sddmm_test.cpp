// sddmm's oracle: products, factors and activations by hand, and bounds that hold what fp32 loses and no more.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "core/ops/sddmm/oracle.hpp"
#include "kernels/sddmm/common/edge_epilogue.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune::reference {
namespace {

// Two heads of two features; row 1 has no edge.
const CsrGraph& graph() {
    static const CsrGraph kGraph = test::csr_of(3, 2, {{0, 1}, {0, 0}, {2, 1}});
    return kGraph;
}
const std::vector<float> kRow{1, 2, 0.5F, -1, 0, 0, 0, 0, -3, 1, 2, 2};
const std::vector<float> kCol{2, 0.25F, 1, 1, -1, 0.5F, 3, -2};
const std::vector<float> kWeight{2, -1, 0.5F};

std::vector<double> products() {
    // <row, col> of the edges 0 -> 1, 0 -> 0 and 2 -> 1, each of two heads.
    return {0, 3.5, 2.5, -0.5, 3.5, 2};
}

Operands operands(EdgeActivation activation, std::optional<float> scale, float slope = 0.2F) {
    Operands o;
    o.x_row = kRow.data();
    o.x = kCol.data();
    o.edge_weight = kWeight.data();
    o.activation = activation;
    o.scale = scale;
    o.negative_slope = slope;
    return o;
}

Oracle run(const Operands& o, bool weighted) {
    Problem p;
    p.op = Op::sddmm;
    p.k = 2;
    p.heads = 2;
    p.weighted = weighted;
    return sddmm(p, graph().view(), nullptr, o).front();
}

TEST(SddmmOracle, ScalesAndActivatesTheProducts) {
    for (const bool weighted : {false, true}) {
        for (const std::optional<float> given : {std::optional<float>(), {0.5F}, {-2.0F}, {0.0F}}) {
            const double scale = given.value_or(1.0F);
            for (const float slope : {0.2F, 3.0F, 0.0F}) {
                const Oracle none = run(operands(EdgeActivation::none, given, slope), weighted);
                const Oracle leaky = run(operands(EdgeActivation::leaky_relu, given, slope), weighted);
                const Oracle exp = run(operands(EdgeActivation::exp, given, slope), weighted);
                ASSERT_EQ(none.value.size(), 6U);
                for (std::size_t at = 0; at < 6; ++at) {
                    const double v = scale * (weighted ? kWeight[at / 2] : 1.0) * products()[at];
                    EXPECT_DOUBLE_EQ(none.value[at], v);
                    EXPECT_DOUBLE_EQ(leaky.value[at], v > 0 ? v : slope * v);
                    EXPECT_DOUBLE_EQ(exp.value[at], std::exp(v));
                }
            }
        }
    }
}

// Whatever a product is wrong by within its own scale, the result may be wrong by within the result's.
TEST(SddmmOracle, BoundsFollowTheActivation) {
    constexpr double kPart = 1e-4;
    for (const EdgeActivation activation : {EdgeActivation::none, EdgeActivation::leaky_relu, EdgeActivation::exp}) {
        for (const float slope : {0.2F, 3.0F, -4.0F}) {
            const Oracle before = run(operands(EdgeActivation::none, 1.5F, slope), true);
            const Oracle after = run(operands(activation, 1.5F, slope), true);
            for (std::size_t at = 0; at < before.value.size(); ++at) {
                for (const double sign : {-1.0, 1.0}) {
                    const double v = before.value[at] + sign * kPart * before.scale[at];
                    const double moved = activation == EdgeActivation::exp ? std::exp(v)
                                         : activation == EdgeActivation::leaky_relu && v <= 0
                                             ? static_cast<double>(slope) * v
                                             : v;
                    const double error = std::abs(moved - after.value[at]);
                    EXPECT_LE(error, kPart * after.scale[at] * 1.001) << "slope " << slope << ", element " << at;
                    EXPECT_LE(after.scale[at], (1 + std::abs(after.value[at])) * 4 * (1 + before.scale[at]));
                }
            }
        }
    }
}

TEST(SddmmOracle, HoldsWhatKernelsComputeAndRefusesAWrongActivation) {
    for (const EdgeActivation activation : {EdgeActivation::none, EdgeActivation::leaky_relu, EdgeActivation::exp}) {
        const Operands o = operands(activation, -1.5F, 0.3F);
        const Oracle oracle = run(o, true);
        std::vector<float> y;
        for (std::size_t at = 0; at < 6; ++at) {
            y.push_back(kernels::EdgeEpilogue(o)(kWeight[at / 2] * static_cast<float>(products()[at])));
        }
        EXPECT_TRUE(compare(oracle, y.data(), Precision::fp32).pass());
        for (const EdgeActivation other : {EdgeActivation::none, EdgeActivation::leaky_relu, EdgeActivation::exp}) {
            const bool same = compare(run(operands(other, -1.5F, 0.3F), true), y.data(), Precision::fp32).pass();
            EXPECT_EQ(same, other == activation);
        }
    }
}

TEST(SddmmOracle, InfiniteProductsAndOverflowStayWhatTheyAre) {
    const float infinity = INFINITY;
    Operands o = operands(EdgeActivation::exp, std::nullopt);
    const kernels::EdgeEpilogue exp(o);
    EXPECT_EQ(exp(-infinity), 0.0F);
    EXPECT_EQ(exp(infinity), infinity);
    EXPECT_EQ(exp(200.0F), infinity);
    EXPECT_TRUE(std::isnan(exp(NAN)));
    o.activation = EdgeActivation::leaky_relu;
    const kernels::EdgeEpilogue leaky(o);
    EXPECT_EQ(leaky(-infinity), -infinity);
    EXPECT_EQ(leaky(infinity), infinity);
    EXPECT_TRUE(std::isnan(leaky(NAN)));
}

}  // namespace
}  // namespace gnntune::reference

// Edges that take no part, for their logit is -infinity, and vertices that no edge touches: whatever their features hold,
// results are those of the rest. CPU variants against the oracle.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "core/dispatch/plan.hpp"
#include "core/reference/oracle.hpp"
#include "core/registry/device.hpp"
#include "kernels/register_all.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class NoPart : public testing::Test {
protected:
    void run(Op op, std::int32_t k, const char* variant) {
        Registry registry;
        register_all(registry);
        Graph graph(registry, cpu_device(), csr_.view());
        Problem problem;
        problem.op = op;
        problem.k = k;
        const Plan plan(graph, problem, Config{variant, registry.find(variant)->default_params(graph.query(problem))},
                        nullptr);
        std::vector<unsigned char> workspace(plan.workspace_bytes() + 256);
        void* start = workspace.data();
        std::size_t room = workspace.size();
        plan.run(o_, std::align(256, plan.workspace_bytes(), start, room), nullptr);
    }

    CsrGraph csr_;
    Operands o_;
};

TEST_F(NoPart, ARowOfGatWithoutFiniteLogits) {
    csr_ = test::csr_of(2, 2, {{0, 0}, {1, 1}});
    const std::vector<float> score_row{0, 0};
    const std::vector<float> score_col{-kInfinity, 0.5F};
    const std::vector<float> x{kInfinity, 3};
    std::vector<float> y(2, 7.0F);
    std::vector<float> lse(2, 7.0F);
    o_.x = x.data();
    o_.score_row = score_row.data();
    o_.score_col = score_col.data();
    o_.y = y.data();
    o_.lse = lse.data();
    run(Op::gat, 1, "gat.cpu_rows");
    EXPECT_EQ(y, (std::vector<float>{0, 3}));
    EXPECT_EQ(lse, (std::vector<float>{-kInfinity, 0.5F}));

    const std::vector<float> finite{2, 3};
    const std::vector<float> grad_y{1, 1};
    std::vector<float> grad_x(2, 7.0F);
    std::vector<float> grad_row(2, 7.0F);
    std::vector<float> grad_col(2, 7.0F);
    o_.x = finite.data();
    o_.grad_y = grad_y.data();
    o_.y_saved = y.data();
    o_.lse_saved = lse.data();
    o_.grad_x = grad_x.data();
    o_.grad_score_row = grad_row.data();
    o_.grad_score_col = grad_col.data();
    run(Op::gat_grad, 1, "gat_grad.cpu_rows_cols");
    EXPECT_EQ(grad_x, (std::vector<float>{0, 1}));
    EXPECT_EQ(grad_row, (std::vector<float>{0, 0}));
    EXPECT_EQ(grad_col, (std::vector<float>{0, 0}));
}

TEST_F(NoPart, TheFirstEdgeOfARowOfAttention) {
    for (const bool first : {true, false}) {
        csr_ = test::csr_of(1, 2, first ? test::EdgeList{{0, 0}, {0, 1}} : test::EdgeList{{0, 1}, {0, 0}});
        const std::vector<float> query{1};
        const std::vector<float> key{-kInfinity, 1};
        const std::vector<float> x{2, 3};
        std::vector<float> y(1);
        std::vector<float> lse(1);
        o_.x = x.data();
        o_.x_row = query.data();
        o_.key = key.data();
        o_.y = y.data();
        o_.lse = lse.data();
        run(Op::attention, 1, "attention.cpu_rows");
        EXPECT_EQ(y.front(), 3.0F) << first;
        EXPECT_EQ(lse.front(), 1.0F) << first;
    }
}

TEST_F(NoPart, VerticesOfAgnnThatNoEdgeTouches) {
    // Row 1 and column 1 have no edge.
    csr_ = test::csr_of(2, 2, {{0, 0}});
    const std::vector<float> x{1, 2, std::nanf(""), kInfinity};
    const std::vector<float> x_row{2, 1, kInfinity, 1};
    const std::vector<float> beta{1};
    const std::vector<float> grad_y{1, 1, 1, 1};
    const std::vector<float> y{1, 2, 0, 0};
    const std::vector<float> lse{0.8F, -kInfinity};
    std::vector<float> grad_x(4, 7.0F);
    std::vector<float> grad_x_row(4, 7.0F);
    std::vector<float> grad_beta(1, 7.0F);
    o_.x = x.data();
    o_.x_row = x_row.data();
    o_.beta = beta.data();
    o_.grad_y = grad_y.data();
    o_.y_saved = y.data();
    o_.lse_saved = lse.data();
    o_.grad_x = grad_x.data();
    o_.grad_x_row = grad_x_row.data();
    o_.grad_beta = grad_beta.data();
    run(Op::agnn_grad, 2, "agnn_grad.cpu_rows_cols");
    EXPECT_EQ(grad_x[2], 0.0F);
    EXPECT_EQ(grad_x[3], 0.0F);
    EXPECT_EQ(grad_x_row[2], 0.0F);
    EXPECT_EQ(grad_x_row[3], 0.0F);
    EXPECT_TRUE(std::isfinite(grad_x[0]) && std::isfinite(grad_x_row[0]));
}

}  // namespace
}  // namespace gnntune

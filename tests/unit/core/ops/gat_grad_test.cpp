// The oracles of gat, gat_grad and edge_softmax: gradients against central finite differences of the forward oracle, with
// and without dropout (the seed fixes the mask), and what softmax promises.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "core/common/float16.hpp"
#include "core/ops/arrays.hpp"
#include "core/ops/inputs.hpp"
#include "core/ops/oracles.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune::reference {
namespace {

// Everything is a multiple of 2^-9, so that a step of 2^-10 is exact in fp32. Scores of rows are multiples of 2^-8 and
// those of columns lie between them: no logit comes closer than 2^-9 to the kink of the leaky ReLU.
constexpr float kStep = 0x1p-10F;

float grid_value(std::uint32_t n) {
    return static_cast<float>(static_cast<std::int32_t>(n * 2654435761U >> 22) - 512) * 0x1p-8F;
}

/// What is stored of `values` as T.
template <typename T>
HostVector<float> rounded(const HostVector<double>& values) {
    HostVector<float> out(values.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = static_cast<float>(values[i]);
        if constexpr (!std::is_same_v<T, float>) out[i] = to_float(from_float<T>(out[i]));
    }
    return out;
}

struct GatCase {
    CsrGraph graph;
    HostVector<std::int32_t> edge_id;
    Problem problem;
    HostVector<float> x, score_row, score_col, grad_y;
    Operands operands;

    GatCase(const test::EdgeList& edges, std::int32_t n_rows, std::int32_t n_cols, std::int32_t heads, float dropout) {
        const test::CooGraph coo = test::coo_of(n_rows, n_cols, edges);
        graph = coo_to_csr(coo.view(), &edge_id);
        problem.op = Op::gat;
        problem.k = 3;
        problem.heads = heads;
        std::uint32_t n = 1;
        const auto fill = [&](HostVector<float>& a, std::int32_t rows, std::int32_t width, float shift) {
            a.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(width));
            for (float& v : a) v = grid_value(n++) + shift;
        };
        fill(x, n_cols, heads * problem.k, 0);
        fill(score_row, n_rows, heads, 0);
        fill(score_col, n_cols, heads, 0x1p-9F);
        fill(grad_y, n_rows, heads * problem.k, 0);
        operands.x = x.data();
        operands.score_row = score_row.data();
        operands.score_col = score_col.data();
        operands.grad_y = grad_y.data();
        operands.negative_slope = 0.25F;
        operands.dropout = dropout;
        operands.seed = 42;
    }

    double loss() const {
        const Oracle y = oracles(problem, graph.view(), edge_id.data(), operands)[0];
        double sum = 0;
        for (std::size_t i = 0; i < grad_y.size(); ++i) sum += y.value[i] * static_cast<double>(grad_y[i]);
        return sum;
    }

    void expect_gradient(HostVector<float>& input, const Oracle& gradient, const char* name) {
        ASSERT_EQ(input.size(), gradient.value.size());
        for (std::size_t i = 0; i < input.size(); ++i) {
            const float at = input[i];
            input[i] = at + kStep;
            const double above = loss();
            input[i] = at - kStep;
            const double below = loss();
            input[i] = at;
            const double difference = (above - below) / (2.0 * static_cast<double>(kStep));
            EXPECT_NEAR(gradient.value[i], difference, 2e-5 * (1.0 + static_cast<double>(gradient.scale[i])))
                << name << "[" << i << "]";
        }
    }

    void expect_gradients() {
        Problem backward = problem;
        backward.op = Op::gat_grad;
        const Oracle forward = oracles(problem, graph.view(), edge_id.data(), operands)[0];
        const HostVector<float> y = rounded<float>(forward.value);
        operands.y_saved = y.data();
        const auto gradients = oracles(backward, graph.view(), edge_id.data(), operands);
        ASSERT_EQ(gradients.size(), 3U);
        expect_gradient(x, gradients[0], "x");
        expect_gradient(score_row, gradients[1], "score_row");
        expect_gradient(score_col, gradients[2], "score_col");
    }
};

// Duplicates, a self loop, an empty row (2) and an edge list in no order.
const test::EdgeList kSquare{{3, 1}, {0, 0}, {1, 4}, {3, 1}, {0, 2}, {1, 3}, {4, 0}, {3, 3}, {0, 4}, {3, 0}, {1, 4}};
const test::EdgeList kWide{{1, 6}, {0, 0}, {2, 5}, {1, 6}, {1, 3}, {0, 4}, {2, 0}, {1, 1}};

TEST(GatGrad, MatchesFiniteDifferences) {
    for (const std::int32_t heads : {1, 3}) {
        for (const float dropout : {0.0F, 0.4F}) {
            SCOPED_TRACE("heads=" + std::to_string(heads) + " dropout=" + std::to_string(dropout));
            GatCase(kSquare, 5, 5, heads, dropout).expect_gradients();
            GatCase(kWide, 4, 7, heads, dropout).expect_gradients();
        }
    }
}

// D_i = <grad_y_i, y_i>: with a rounded y, gradients of a row's scores add up to what is missing, times the slopes.
TEST(GatGrad, StartsFromTheSavedResult) {
    GatCase c(kSquare, 5, 5, 1, 0.0F);
    c.operands.negative_slope = 1.0F;
    Problem backward = c.problem;
    backward.op = Op::gat_grad;
    const Oracle forward = oracles(c.problem, c.graph.view(), c.edge_id.data(), c.operands)[0];
    const HostVector<float> y = rounded<BFloat16>(forward.value);
    c.operands.y_saved = y.data();

    const Oracle score_row = oracles(backward, c.graph.view(), c.edge_id.data(), c.operands)[1];

    for (std::size_t i = 0; i < 5; ++i) {
        double missing = 0;
        for (std::size_t f = 3 * i; f < 3 * i + 3; ++f) missing += c.grad_y[f] * (forward.value[f] - y[f]);
        EXPECT_NEAR(score_row.value[i], missing, 1e-12 * (1.0 + static_cast<double>(score_row.scale[i]))) << i;
    }
    EXPECT_GT(std::abs(score_row.value[3]), 1e-4) << "bf16 rounds y";
}

TEST(GatGrad, DropoutDropsAndScales) {
    const GatCase none(kSquare, 5, 5, 3, 0.0F);
    const GatCase some(kSquare, 5, 5, 3, 0.4F);
    const auto a = oracles(none.problem, none.graph.view(), none.edge_id.data(), none.operands);
    const auto b = oracles(some.problem, some.graph.view(), some.edge_id.data(), some.operands);
    EXPECT_NE(a[0].value, b[0].value);
    EXPECT_EQ(a[1].value, b[1].value) << "lse is that before dropout";
}

TEST(GatOracle, EmptyRowsAreZero) {
    const GatCase c(kSquare, 5, 5, 1, 0.4F);
    const auto y = oracles(c.problem, c.graph.view(), c.edge_id.data(), c.operands);
    EXPECT_EQ(y[1].value[2], -std::numeric_limits<double>::infinity());
    for (std::size_t f = 0; f < 3; ++f) EXPECT_EQ(y[0].value[2 * 3 + f], 0.0);
}

TEST(EdgeSoftmaxOracle, RowsAddUpToOne) {
    const CsrGraph graph = test::csr_of(40, 30, test::random_edges(40, 30, 300, 2, 9));
    Problem problem;
    problem.op = Op::edge_softmax;
    problem.k = 1;
    problem.heads = 3;
    std::vector<float> logits(static_cast<std::size_t>(graph.m()) * 3);
    for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = 200.0F * std::sin(static_cast<float>(i));
    logits[4] = -std::numeric_limits<float>::infinity();
    Operands operands;
    operands.edge_weight = logits.data();
    const Oracle y = oracles(problem, graph.view(), nullptr, operands)[0];
    EXPECT_EQ(y.value[4], 0.0);
    for (std::int32_t i = 0; i < graph.n_rows; ++i) {
        for (std::size_t h = 0; h < 3; ++h) {
            double sum = 0;
            for (auto e = graph.row_ptr[static_cast<std::size_t>(i)];
                 e < graph.row_ptr[static_cast<std::size_t>(i) + 1]; ++e) {
                sum += y.value[static_cast<std::size_t>(e) * 3 + h];
            }
            const bool empty =
                graph.row_ptr[static_cast<std::size_t>(i)] == graph.row_ptr[static_cast<std::size_t>(i) + 1];
            EXPECT_NEAR(sum, empty ? 0.0 : 1.0, 1e-12);
        }
    }
}

}  // namespace
}  // namespace gnntune::reference

// The oracles of agnn and agnn_grad: against sums written down here, and gradients against central differences.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/reference/inputs.hpp"
#include "tests/unit/small_graphs.hpp"

namespace gnntune {
namespace {

using reference::Oracle;
using test::EdgeList;

constexpr std::int32_t kZeroRow = 2;     // of x_row
constexpr std::int32_t kZeroColumn = 3;  // of x

struct Shape {
    std::int32_t n_rows;
    std::int32_t n_cols;
    std::int32_t k;
    std::int32_t heads;
    EdgeList edges;
};

// An empty row, duplicates, a self loop, zero vectors with and without a zero partner, more columns than rows.
Shape rectangle(std::int32_t k, std::int32_t heads) {
    return {5,
            7,
            k,
            heads,
            {{0, 0},
             {0, 3},
             {0, 5},
             {0, 5},
             {1, 1},
             {2, 3},
             {2, 4},
             {2, 6},
             {4, 6},
             {4, 2},
             {4, 0},
             {4, 0},
             {4, 0},
             {4, 5}}};
}

Shape square(std::int32_t k, std::int32_t heads) {
    return {6,
            6,
            k,
            heads,
            {{0, 0},
             {0, 1},
             {0, 4},
             {1, 0},
             {1, 3},
             {2, 2},
             {2, 5},
             {3, 1},
             {3, 1},
             {3, 4},
             {5, 5},
             {5, 3},
             {5, 2},
             {5, 0}}};
}

class Agnn {
public:
    explicit Agnn(const Shape& shape) : shape_(shape), graph_(test::csr_of(shape.n_rows, shape.n_cols, shape.edges)) {
        query_.problem.op = Op::agnn_grad;
        query_.problem.k = shape.k;
        query_.problem.heads = shape.heads;
        query_.n_rows = shape.n_rows;
        query_.n_cols = shape.n_cols;
        query_.m = graph_.m();
        std::mt19937_64 random(static_cast<std::uint64_t>(shape.k * 16 + shape.heads));
        const auto draw = [&](const ArraySpec& spec, std::size_t) {
            HostVector<float> values(static_cast<std::size_t>(spec.size()));
            for (float& v : values) v = static_cast<float>(static_cast<double>(random() >> 11) * 0x1p-52 - 1.0) * 1.5F;
            const std::int32_t zero = spec.name == "x" ? kZeroColumn : spec.name == "x_row" ? kZeroRow : -1;
            for (std::int64_t f = 0; zero >= 0 && f < spec.width; ++f) {
                values[static_cast<std::size_t>(zero * spec.width + f)] = 0.0F;
            }
            return values;
        };
        inputs_ = reference::Inputs(query_, graph_.view(), nullptr, draw, {});
    }

    const Operands& operands() const { return inputs_.operands(); }
    std::int64_t width() const { return std::int64_t{shape_.k} * shape_.heads; }

    std::vector<Oracle> run(Op op, const Operands& operands) const {
        Problem problem = query_.problem;
        problem.op = op;
        return reference::oracles(problem, graph_.view(), nullptr, operands);
    }

    double loss(const Operands& operands) const {
        const Oracle y = run(Op::agnn, operands)[0];
        double sum = 0;
        for (std::size_t i = 0; i < y.value.size(); ++i) sum += y.value[i] * operands.grad_y[i];
        return sum;
    }

    double difference(const float* Operands::*member, std::int64_t count, std::int64_t at) const {
        std::vector<float> moved(operands().*member, operands().*member + count);
        Operands there = operands();
        there.*member = moved.data();
        float& value = moved[static_cast<std::size_t>(at)];
        const float middle = value;
        value = middle + 0x1p-9F;
        const double above = value;
        const double up = loss(there);
        value = middle - 0x1p-9F;
        return (up - loss(there)) / (above - value);
    }

    /// Softmax of row `i`, head `h`, term by term.
    std::vector<double> alpha(std::int32_t i, std::int32_t h) const {
        std::vector<double> out;
        double sum = 0;
        for (std::int32_t e = graph_.row_ptr[static_cast<std::size_t>(i)];
             e < graph_.row_ptr[static_cast<std::size_t>(i) + 1]; ++e) {
            double dot = 0, aa = 0, bb = 0;
            for (std::int32_t f = 0; f < shape_.k; ++f) {
                const double a = operands().x_row[i * width() + h * shape_.k + f];
                const double b = operands().x[graph_.col_idx[static_cast<std::size_t>(e)] * width() + h * shape_.k + f];
                dot += a * b, aa += a * a, bb += b * b;
            }
            const double cosine = aa > 0 && bb > 0 ? dot / std::sqrt(aa * bb) : 0.0;
            out.push_back(std::exp(operands().beta[h] * cosine));
            sum += out.back();
        }
        for (double& a : out) a /= sum;
        return out;
    }

    const CsrGraph& graph() const { return graph_; }

private:
    Shape shape_;
    CsrGraph graph_;
    Query query_;
    reference::Inputs inputs_;
};

std::vector<Shape> shapes() {
    return {rectangle(4, 1), rectangle(3, 3), square(1, 1), square(5, 3)};
}

TEST(AgnnOracle, IsTheSoftmaxOfCosines) {
    for (const Shape& shape : shapes()) {
        const Agnn agnn(shape);
        const auto out = agnn.run(Op::agnn, agnn.operands());
        for (std::int32_t i = 0; i < shape.n_rows; ++i) {
            const auto begin = static_cast<std::size_t>(agnn.graph().row_ptr[static_cast<std::size_t>(i)]);
            for (std::int32_t h = 0; h < shape.heads; ++h) {
                const auto alpha = agnn.alpha(i, h);
                for (std::int32_t f = 0; f < shape.k; ++f) {
                    double y = 0;
                    for (std::size_t t = 0; t < alpha.size(); ++t) {
                        y += alpha[t] *
                             agnn.operands().x[agnn.graph().col_idx[begin + t] * agnn.width() + h * shape.k + f];
                    }
                    EXPECT_NEAR(out[0].value[static_cast<std::size_t>(i * agnn.width() + h * shape.k + f)], y, 1e-12);
                }
                if (alpha.empty()) {
                    EXPECT_EQ(out[1].value[static_cast<std::size_t>(i * shape.heads + h)],
                              -std::numeric_limits<double>::infinity());
                }
            }
        }
    }
}

TEST(AgnnOracle, AZeroVectorWeighsAsALogitOfZero) {
    const Agnn agnn(rectangle(4, 1));
    // Row 2 of x_row is zero: uniform weights and lse = log of the degree.
    EXPECT_NEAR(agnn.run(Op::agnn, agnn.operands())[1].value[kZeroRow], std::log(3.0), 1e-12);
}

TEST(AgnnGradOracle, AgreesWithCentralDifferences) {
    for (const Shape& shape : shapes()) {
        const Agnn agnn(shape);
        const auto gradients = agnn.run(Op::agnn_grad, agnn.operands());
        const float* Operands::*const members[] = {&Operands::x, &Operands::x_row, &Operands::beta};
        const std::int32_t zeros[] = {kZeroColumn, kZeroRow, -1};  // where the cosine has no derivative
        for (std::size_t g = 0; g < 3; ++g) {
            const std::int64_t width = g < 2 ? agnn.width() : 1;
            for (std::int64_t at = 0; at < gradients[g].size(); ++at) {
                if (at / width == zeros[g]) continue;
                const double expected = agnn.difference(members[g], gradients[g].size(), at);
                EXPECT_NEAR(gradients[g].value[static_cast<std::size_t>(at)], expected, 2e-4)
                    << "gradient " << g << " at " << at << ", k=" << shape.k << ", heads=" << shape.heads;
            }
        }
    }
}

TEST(AgnnGradOracle, ZeroVectorsGetNoGradientThroughTheirCosines) {
    const Shape shape = rectangle(3, 3);
    const Agnn agnn(shape);
    const auto gradients = agnn.run(Op::agnn_grad, agnn.operands());
    for (std::int64_t f = 0; f < agnn.width(); ++f) {
        EXPECT_EQ(gradients[1].value[static_cast<std::size_t>(kZeroRow * agnn.width() + f)], 0.0);
        // Column 3 is the second term of row 0 and the first of row 2.
        const auto h = static_cast<std::int32_t>(f / shape.k);
        const double expected = agnn.alpha(0, h)[1] * agnn.operands().grad_y[f] +
                                agnn.alpha(2, h)[0] * agnn.operands().grad_y[2 * agnn.width() + f];
        EXPECT_NEAR(gradients[0].value[static_cast<std::size_t>(kZeroColumn * agnn.width() + f)], expected, 1e-6);
    }
}

TEST(AgnnGradOracle, IsZeroWithoutEdges) {
    const Agnn agnn({4, 5, 2, 3, {}});
    for (const Oracle& gradient : agnn.run(Op::agnn_grad, agnn.operands())) {
        for (const double value : gradient.value) EXPECT_EQ(value, 0.0);
    }
}

// The scale is an upper bound that still notices a missing factor: rounding inputs to fp32 moves results far less.
TEST(AgnnGradOracle, ScalesBoundTheValues) {
    for (const Shape& shape : shapes()) {
        const Agnn agnn(shape);
        for (const Op op : {Op::agnn, Op::agnn_grad}) {
            for (const Oracle& out : agnn.run(op, agnn.operands())) {
                for (std::size_t i = 0; i < out.value.size(); ++i) {
                    if (std::isinf(out.value[i])) continue;
                    EXPECT_LE(std::abs(out.value[i]), out.scale[i] * (1 + 1e-6));
                    EXPECT_LE(out.scale[i], 1e3);
                }
            }
        }
    }
}

}  // namespace
}  // namespace gnntune

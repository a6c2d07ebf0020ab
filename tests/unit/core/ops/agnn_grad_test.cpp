// The oracles of agnn and agnn_grad: against sums written down here, and gradients against central differences.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/core/ops/attention_case.hpp"

namespace gnntune {
namespace {

using reference::Oracle;
using test::rectangle;
using test::Shape;
using test::shapes;

constexpr std::int32_t kZeroRow = 2;     // of x_row
constexpr std::int32_t kZeroColumn = 3;  // of x

class Agnn : public test::AttentionCase {
public:
    explicit Agnn(const Shape& shape)
        : AttentionCase(Op::agnn_grad, shape, {}, [](const ArraySpec& spec, HostVector<float>& values) {
              const std::int32_t zero = spec.name == "x" ? kZeroColumn : spec.name == "x_row" ? kZeroRow : -1;
              for (std::int64_t f = 0; zero >= 0 && f < spec.width; ++f) {
                  values[static_cast<std::size_t>(zero * spec.width + f)] = 0.0F;
              }
          }) {}

    /// Softmax of row `i`, head `h`, term by term.
    std::vector<double> alpha(std::int32_t i, std::int32_t h) const {
        std::vector<double> out;
        double sum = 0;
        for (std::int32_t e = graph().row_ptr[static_cast<std::size_t>(i)];
             e < graph().row_ptr[static_cast<std::size_t>(i) + 1]; ++e) {
            double dot = 0, aa = 0, bb = 0;
            for (std::int32_t f = 0; f < shape().k; ++f) {
                const double a = operands().x_row[i * width() + h * shape().k + f];
                const double b =
                    operands().x[graph().col_idx[static_cast<std::size_t>(e)] * width() + h * shape().k + f];
                dot += a * b, aa += a * a, bb += b * b;
            }
            const double cosine = aa > 0 && bb > 0 ? dot / std::sqrt(aa * bb) : 0.0;
            out.push_back(std::exp(operands().beta[h] * cosine));
            sum += out.back();
        }
        for (double& a : out) a /= sum;
        return out;
    }
};

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

// The scale bounds the value, and no more than a bound of rounding may: values here are of the order of 1 and scales at
// most 15.8. With 25, what fp32 allows (4e-6 of the scale) is a ten-thousandth of such a value: a missing factor is
// more.
TEST(AgnnGradOracle, ScalesBoundTheValues) {
    for (const Shape& shape : shapes()) {
        const Agnn agnn(shape);
        for (const Op op : {Op::agnn, Op::agnn_grad}) {
            for (const Oracle& out : agnn.run(op, agnn.operands())) {
                for (std::size_t i = 0; i < out.value.size(); ++i) {
                    if (std::isinf(out.value[i])) continue;
                    EXPECT_LE(std::abs(out.value[i]), out.scale[i] * (1 + 1e-6));
                    EXPECT_LE(out.scale[i], 25);
                }
            }
        }
    }
}

}  // namespace
}  // namespace gnntune

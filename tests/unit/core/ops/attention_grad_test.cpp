// The oracles of attention and attention_grad: against sums written down here, and gradients against central
// differences.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/common/philox.hpp"
#include "tests/unit/core/ops/attention_case.hpp"

namespace gnntune {
namespace {

using reference::Oracle;
using test::Shape;
using test::shapes;

class Attention : public test::AttentionCase {
public:
    Attention(const Shape& shape, std::optional<float> scale, float dropout = 0.0F)
        : AttentionCase(Op::attention_grad, shape, numbers(scale, dropout)) {}

    /// exp of the logits of row `i`, head `h`, term by term.
    std::vector<double> terms(std::int32_t i, std::int32_t h, double scale) const {
        std::vector<double> out;
        for (std::int32_t e = graph().row_ptr[static_cast<std::size_t>(i)];
             e < graph().row_ptr[static_cast<std::size_t>(i) + 1]; ++e) {
            const std::int64_t col = graph().col_idx[static_cast<std::size_t>(e)];
            double dot = 0;
            for (std::int32_t f = 0; f < shape().k; ++f) {
                dot += static_cast<double>(operands().x_row[i * width() + h * shape().k + f]) *
                       operands().key[col * width() + h * shape().k + f];
            }
            out.push_back(std::exp(scale * dot));
        }
        return out;
    }

private:
    static Operands numbers(std::optional<float> scale, float dropout) {
        Operands o;
        o.scale = scale;
        o.dropout = dropout;
        o.seed = 42;
        return o;
    }
};

constexpr std::optional<float> kScales[] = {std::nullopt, 1.75F, -0.5F, 0.0F};

TEST(AttentionOracle, IsTheSoftmaxOfScaledProducts) {
    for (const Shape& shape : shapes()) {
        for (const std::optional<float> given : kScales) {
            const Attention attention(shape, given);
            // No scale is 1 / sqrt(k), as a float.
            const double scale = given.value_or(1.0F / std::sqrt(static_cast<float>(shape.k)));
            const auto out = attention.run(Op::attention, attention.operands());
            for (std::int32_t i = 0; i < shape.n_rows; ++i) {
                const auto begin = static_cast<std::size_t>(attention.graph().row_ptr[static_cast<std::size_t>(i)]);
                for (std::int32_t h = 0; h < shape.heads; ++h) {
                    const auto terms = attention.terms(i, h, scale);
                    double sum = 0;
                    for (const double t : terms) sum += t;
                    const double lse = out[1].value[static_cast<std::size_t>(i * shape.heads + h)];
                    if (terms.empty()) {
                        EXPECT_EQ(lse, -std::numeric_limits<double>::infinity());
                    } else {
                        EXPECT_NEAR(lse, std::log(sum), 1e-12);
                    }
                    for (std::int32_t f = 0; f < shape.k; ++f) {
                        double y = 0;
                        for (std::size_t t = 0; t < terms.size(); ++t) {
                            const std::int64_t col = attention.graph().col_idx[begin + t];
                            y += terms[t] / sum * attention.operands().x[col * attention.width() + h * shape.k + f];
                        }
                        EXPECT_NEAR(out[0].value[static_cast<std::size_t>(i * attention.width() + h * shape.k + f)], y,
                                    1e-12);
                    }
                }
            }
        }
    }
}

TEST(AttentionGradOracle, AgreesWithCentralDifferences) {
    for (const Shape& shape : shapes()) {
        using Numbers = std::pair<std::optional<float>, float>;
        for (const auto& [scale, dropout] : {Numbers{std::nullopt, 0.0F}, Numbers{1.75F, 0.0F}, Numbers{-0.5F, 0.0F},
                                             Numbers{0.0F, 0.0F}, Numbers{1.75F, 0.5F}, Numbers{-0.5F, 0.3F}}) {
            const Attention attention(shape, scale, dropout);
            const auto gradients = attention.run(Op::attention_grad, attention.operands());
            const float* Operands::*const members[] = {&Operands::x, &Operands::x_row, &Operands::key};
            ASSERT_EQ(gradients.size(), 3U);
            for (std::size_t g = 0; g < 3; ++g) {
                for (std::int64_t at = 0; at < gradients[g].size(); ++at) {
                    const double expected = attention.difference(members[g], gradients[g].size(), at);
                    EXPECT_NEAR(gradients[g].value[static_cast<std::size_t>(at)], expected, 2e-4)
                        << "gradient " << g << " at " << at << ", k=" << shape.k << ", heads=" << shape.heads
                        << ", scale=" << scale.value_or(NAN) << ", dropout=" << dropout;
                }
            }
        }
    }
}

// y = sum of f alpha x, f from the generator, lse as without dropout.
TEST(AttentionOracle, DropsAndScalesAfterTheSoftmax) {
    constexpr float kDropout = 0.5F;
    for (const Shape& shape : shapes()) {
        const Attention attention(shape, std::nullopt, kDropout);
        const double scale = 1.0F / std::sqrt(static_cast<float>(shape.k));
        const auto out = attention.run(Op::attention, attention.operands());
        int dropped = 0;
        for (std::int32_t i = 0; i < shape.n_rows; ++i) {
            const std::int32_t begin = attention.graph().row_ptr[static_cast<std::size_t>(i)];
            for (std::int32_t h = 0; h < shape.heads; ++h) {
                const auto terms = attention.terms(i, h, scale);
                double sum = 0;
                for (const double t : terms) sum += t;
                if (!terms.empty()) {
                    EXPECT_NEAR(out[1].value[static_cast<std::size_t>(i * shape.heads + h)], std::log(sum), 1e-12);
                }
                for (std::int32_t f = 0; f < shape.k; ++f) {
                    double y = 0;
                    for (std::size_t t = 0; t < terms.size(); ++t) {
                        const std::int32_t e = begin + static_cast<std::int32_t>(t);
                        const bool kept =
                            philox_keep(42, static_cast<std::uint32_t>(e), static_cast<std::uint32_t>(h), kDropout);
                        dropped += kept ? 0 : 1;
                        const std::int64_t col = attention.graph().col_idx[static_cast<std::size_t>(e)];
                        if (kept)
                            y += 2 * terms[t] / sum * attention.operands().x[col * attention.width() + h * shape.k + f];
                    }
                    EXPECT_NEAR(out[0].value[static_cast<std::size_t>(i * attention.width() + h * shape.k + f)], y,
                                1e-12);
                }
            }
        }
        EXPECT_GT(dropped, 0);
    }
}

TEST(AttentionGradOracle, IsZeroWithoutEdges) {
    const Attention attention({4, 5, 2, 3, {}}, std::nullopt);
    for (const Oracle& gradient : attention.run(Op::attention_grad, attention.operands())) {
        for (const double value : gradient.value) EXPECT_EQ(value, 0.0);
    }
}

// The scale bounds the value, and no more than a bound of rounding may: values here are of the order of 1 and scales at
// most 11.1. With 25, what fp32 allows (4e-6 of the scale) is a ten-thousandth of such a value: a missing factor is
// more.
TEST(AttentionGradOracle, ScalesBoundTheValues) {
    for (const Shape& shape : shapes()) {
        const Attention attention(shape, std::nullopt);
        for (const Op op : {Op::attention, Op::attention_grad}) {
            for (const Oracle& out : attention.run(op, attention.operands())) {
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

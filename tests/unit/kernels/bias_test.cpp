// A bias and its gradient, against sums in double.
#include "kernels/dense/bias.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/unit/kernels/bias_cases.hpp"
#include "tests/unit/kernels/head_scores_cases.hpp"

namespace gnntune::kernels {
namespace {

class BiasOnCpu {
public:
    template <typename T>
    BiasResults<T> operator()(const BiasShape& shape, const BiasInputs<T>& in) const {
        BiasResults<T> out{in.x, in.x, in.bias};
        bias_add(Backend::cpu, shape, in.x.data(), in.bias.data(), out.y.data(), nullptr);
        bias_add(Backend::cpu, shape, out.in_place.data(), in.bias.data(), out.in_place.data(), nullptr);
        std::vector<float> workspace(bias_grad_workspace(shape) / sizeof(float), NAN);
        bias_grad(Backend::cpu, shape, in.x.data(), out.grad_bias.data(), workspace.data(), nullptr);
        return out;
    }
};

TEST(Bias, AgreesWithDoubleInEveryShapeAndType) {
    for_every_bias_shape([](const BiasShape& shape) { expect_bias_right(BiasOnCpu{}, shape); });
}

TEST(Bias, TheSameBitsForEveryNumberOfThreads) {
    const BiasShape shape{40000, 24};
    const BiasInputs<float> in(shape);
    const BiasResults<float> alone = with_threads(1, [&] { return BiasOnCpu{}(shape, in); });
    const BiasResults<float> together = with_threads(4, [&] { return BiasOnCpu{}(shape, in); });
    EXPECT_EQ(alone.grad_bias, together.grad_bias);
    EXPECT_EQ(alone.y, together.y);
}

TEST(Bias, FewRowsAreOnePart) {
    EXPECT_EQ(bias_grad_parts({2708, 16}), 1);
    EXPECT_GT(bias_grad_parts({1000000, 16}), 1);
    EXPECT_EQ(bias_grad_parts({0, 1 << 30}), 1);
}

}  // namespace
}  // namespace gnntune::kernels

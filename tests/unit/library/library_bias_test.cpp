// gnntune_bias_add and its gradient: numbers and storage types. What is refused: library_nonsense_dense_test.cpp.
#include <gtest/gtest.h>

#include <vector>

#include "core/common/float16.hpp"
#include "tests/unit/library/library_fixture.hpp"

namespace gnntune::library_bias_test {
namespace {

class LibraryBias : public LibraryTest {};

TEST_F(LibraryBias, IsAddedToEachRowAndItsGradientIsTheSumOfRows) {
    const gt::Context context = cpu();
    std::vector<float> x{1, 2, 3, 4, 5, 6};
    const std::vector<float> bias{10, 20, 30};
    std::vector<float> y(6);
    context.bias_add(2, 3, x.data(), bias.data(), y.data());
    EXPECT_EQ(y, (std::vector<float>{11, 22, 33, 14, 25, 36}));
    context.bias_add(2, 3, x.data(), bias.data(), x.data());
    EXPECT_EQ(x, y);

    std::vector<float> grad(3, -1);
    HostWorkspace memory(gnntune_bias_grad_workspace_bytes(2, 3));
    context.bias_grad(2, 3, y.data(), grad.data(), memory.data(), memory.bytes());
    EXPECT_EQ(grad, (std::vector<float>{25, 47, 69}));
}

TEST_F(LibraryBias, OfNoRowsHasAGradientOfZero) {
    const gt::Context context = cpu();
    const std::vector<float> bias{1, 2};
    context.bias_add(0, 2, nullptr, bias.data(), nullptr);
    std::vector<float> grad(2, 5);
    HostWorkspace memory(gnntune_bias_grad_workspace_bytes(0, 2));
    context.bias_grad(0, 2, nullptr, grad.data(), memory.data(), memory.bytes());
    EXPECT_EQ(grad, (std::vector<float>{0, 0}));
}

TEST_F(LibraryBias, OfSixteenBitsIsRoundedOnce) {
    const gt::Context context = cpu();
    const std::vector<BFloat16> ones(300, from_float<BFloat16>(1.0F));
    std::vector<BFloat16> grad(1);
    HostWorkspace memory(gnntune_bias_grad_workspace_bytes(300, 1));
    gt::check(gnntune_bias_grad(context.get(), 300, 1, GNNTUNE_BF16, ones.data(), grad.data(), memory.data(),
                                memory.bytes(), nullptr));
    EXPECT_EQ(to_float(grad[0]), 300.0F);  // a sum in bfloat16 stops at 256
}

}  // namespace
}  // namespace gnntune::library_bias_test

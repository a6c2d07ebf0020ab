// gnntune_head_scores and its gradient: numbers and storage types. What is refused: library_nonsense_dense_test.cpp.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/common/float16.hpp"
#include "tests/unit/library/library_fixture.hpp"

namespace gnntune::library_head_scores_test {
namespace {

// Two vertices, two heads of two features.
const std::vector<float> kX{1, 2, 3, 4, 5, 6, 7, 8};
const std::vector<float> kRow{1, 0, 0.5F, 1};
const std::vector<float> kCol{-1, 1, 2, 0};
const std::vector<float> kGradRow{1, 2, 3, 4};
const std::vector<float> kGradCol{0, -1, 0, 1};

class LibraryHeadScores : public LibraryTest {};

TEST_F(LibraryHeadScores, AreProductsAndTheirGradients) {
    const gt::Context context = cpu();
    std::vector<float> row(4), col(4);
    context.head_scores(2, 2, 2, kX.data(), kRow.data(), kCol.data(), row.data(), col.data());
    EXPECT_EQ(row, (std::vector<float>{1, 5.5F, 5, 11.5F}));
    EXPECT_EQ(col, (std::vector<float>{1, 6, 1, 14}));

    std::vector<float> grad_x(8, 100), grad_row(4), grad_col(4);
    HostWorkspace memory(gnntune_head_scores_workspace_bytes(2, 2, 2));
    context.head_scores_grad(2, 2, 2, kX.data(), kRow.data(), kCol.data(), kGradRow.data(), kGradCol.data(),
                             grad_x.data(), grad_row.data(), grad_col.data(), memory.data(), memory.bytes());
    EXPECT_EQ(grad_x, (std::vector<float>{101, 100, 99, 102, 103, 100, 104, 104}));
    EXPECT_EQ(grad_row, (std::vector<float>{16, 20, 34, 40}));
    EXPECT_EQ(grad_col, (std::vector<float>{0, 0, 4, 4}));
}

TEST_F(LibraryHeadScores, OfNoVerticesHaveGradientsOfZero) {
    const gt::Context context = cpu();
    context.head_scores(0, 2, 2, nullptr, kRow.data(), kCol.data(), nullptr, nullptr);
    std::vector<float> grad_row(4, 5);
    HostWorkspace memory(gnntune_head_scores_workspace_bytes(0, 2, 2));
    context.head_scores_grad(0, 2, 2, nullptr, kRow.data(), kCol.data(), nullptr, nullptr, nullptr, grad_row.data(),
                             nullptr, memory.data(), memory.bytes());
    EXPECT_EQ(grad_row, (std::vector<float>(4, 0)));
}

TEST_F(LibraryHeadScores, OfSixteenBitsAreRoundedOnce) {
    const gt::Context context = cpu();
    const std::vector<BFloat16> x(300, from_float<BFloat16>(1.0F)), att(300, from_float<BFloat16>(1.0F));
    std::vector<BFloat16> row(1), col(1);
    gt::check(gnntune_head_scores(context.get(), 1, 1, 300, GNNTUNE_BF16, x.data(), att.data(), att.data(), row.data(),
                                  col.data(), nullptr));
    EXPECT_EQ(to_float(row[0]), 300.0F);  // a sum in bfloat16 stops at 256
    EXPECT_EQ(to_float(col[0]), 300.0F);
}

}  // namespace
}  // namespace gnntune::library_head_scores_test

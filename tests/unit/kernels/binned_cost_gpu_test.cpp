// What rows binned by degree cost, against numbers worked out by hand. Needs CUDA's headers and no GPU.
#include <gtest/gtest.h>

#include "kernels/common/binned_rows.hpp"

namespace gnntune::kernels {
namespace {

TEST(BinnedCost, CountsTeamsRoundsPiecesAndPadding) {
    const BinShape shape{.lanes = 4, .share = 8, .threads = 128};
    ASSERT_EQ(shape.piece_edges(), 4096);
    EXPECT_EQ(shape.team_shift(8), 2) << "one group";
    EXPECT_EQ(shape.team_shift(9), 3);
    EXPECT_EQ(shape.team_shift(64), 5) << "eight groups, a warp";
    EXPECT_EQ(shape.team_shift(1'000'000), 7) << "a block at most";

    // 10 rows of 6 edges: a group each, one round of 8. Two of 50: eight groups, one round of 64. One of 8,000: two
    // pieces of a block, 32 groups, 16 rounds of 256.
    const std::vector<DegreeClass> classes{{8, 10, 60}, {64, 2, 100}, {8192, 1, 8000}};
    CostTerms terms;
    terms.flops = 8160;
    shape.add_cost(classes, 8, 3, terms);
    EXPECT_EQ(terms.threads, 3 * (10 * 4 + 2 * 32 + 2 * 128));
    EXPECT_EQ(terms.longest, 16);
    EXPECT_EQ(terms.launches, 2) << "pieces are merged";
    EXPECT_DOUBLE_EQ(terms.flops, 10 * 8 + 2 * 64 + 2 * 16 * 256);

    CostTerms nothing;
    shape.add_cost({}, 8, 3, nothing);
    EXPECT_EQ(nothing.threads, 0);
    EXPECT_EQ(nothing.launches, 1);
}

}  // namespace
}  // namespace gnntune::kernels

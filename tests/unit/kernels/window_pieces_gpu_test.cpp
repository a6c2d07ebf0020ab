// Windows of SGT tiles cut into pieces, against pieces written down by hand. Needs CUDA's headers and no GPU.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/formats/sgt/window_pieces.hpp"

namespace gnntune::kernels {
namespace {

using Piece = std::vector<std::int32_t>;  // window, begin, end, index, count

std::vector<Piece> pieces_of(const std::vector<std::int32_t>& window_ptr, int chunk) {
    std::vector<Piece> out;
    for_each_piece(HostVector<std::int32_t>(window_ptr.begin(), window_ptr.end()), chunk,
                   [&](const BlockRange& r, int index, int count) {
                       out.push_back({r.window, r.begin, r.end, index, count});
                   });
    return out;
}

TEST(WindowPieces, AreOfLikeLengthAndInOrder) {
    // Nine blocks in pieces of at most four: three of three, not 4 + 4 + 1. An empty window; four blocks; one.
    const std::vector<Piece> expected{{0, 0, 3, 0, 3}, {0, 3, 6, 1, 3},  {0, 6, 9, 2, 3},
                                      {1, 9, 9, 0, 1}, {2, 9, 13, 0, 1}, {3, 13, 14, 0, 1}};
    EXPECT_EQ(pieces_of({0, 9, 9, 13, 14}, 4), expected);
    EXPECT_TRUE(pieces_of({0}, 4).empty()) << "no windows";
}

TEST(WindowPieces, CoverEveryBlockOnceAndStayBelowTheBound) {
    for (const int chunk : {1, 3, 4, 8, 32, 40}) {
        for (std::int32_t blocks = 0; blocks <= 100; ++blocks) {
            std::int32_t at = 0;
            const std::vector<Piece> pieces = pieces_of({0, blocks}, chunk);
            for (const Piece& p : pieces) {
                EXPECT_EQ(p[1], at);
                EXPECT_LE(p[2] - p[1], chunk);
                at = p[2];
            }
            EXPECT_EQ(at, blocks);
            Query q;
            q.n_rows = 16;
            q.m = blocks > 0 ? 8 * (blocks - 1) + 1 : 0;  // the fewest edges that have so many blocks
            EXPECT_LE(static_cast<std::int64_t>(pieces.size()), most_pieces(q, chunk)) << blocks << " by " << chunk;
        }
    }
}

}  // namespace
}  // namespace gnntune::kernels

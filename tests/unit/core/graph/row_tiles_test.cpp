// Tiles of rows: where they are cut, what they hold, and that a graph's fingerprint does not know of them.
#include "core/graph/row_tiles.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/common/error.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune {
namespace row_tiles_test {

/// A graph with offsets and ids of either width.
struct Wide {
    CsrGraph csr;
    std::vector<std::int64_t> row_ptr;
    std::vector<std::int64_t> col_idx;

    explicit Wide(CsrGraph graph)
        : csr(std::move(graph)),
          row_ptr(csr.row_ptr.begin(), csr.row_ptr.end()),
          col_idx(csr.col_idx.begin(), csr.col_idx.end()) {}

    WideCsrView view(bool wide_offsets, bool wide_ids) const {
        WideCsrView v;
        v.n_rows = csr.n_rows;
        v.n_cols = csr.n_cols;
        v.m = csr.m();
        v.wide_offsets = wide_offsets;
        v.wide_ids = wide_ids;
        v.row_ptr = wide_offsets ? static_cast<const void*>(row_ptr.data()) : csr.row_ptr.data();
        v.col_idx = wide_ids ? static_cast<const void*>(col_idx.data()) : csr.col_idx.data();
        return v;
    }
};

std::string words_of(ErrorKind kind, const std::function<void()>& f) {
    try {
        f();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), kind) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return "";
}

/// Rows in order without a gap, whole, within the limit unless they are one row, and none that could have held more.
void expect_sound(const Wide& graph, const std::vector<RowTile>& tiles, std::int64_t most) {
    std::int64_t row = 0;
    std::int64_t edge = 0;
    for (std::size_t t = 0; t < tiles.size(); ++t) {
        const RowTile& tile = tiles[t];
        ASSERT_EQ(tile.first_row, row);
        ASSERT_EQ(tile.first_edge, edge);
        ASSERT_GT(tile.n_rows, 0);
        if (tile.n_rows > 1) {
            EXPECT_LE(tile.m, most);
        }
        std::int64_t longest = 0;
        for (std::int64_t i = row; i < row + tile.n_rows; ++i) {
            longest = std::max(
                longest, graph.row_ptr[static_cast<std::size_t>(i) + 1] - graph.row_ptr[static_cast<std::size_t>(i)]);
        }
        EXPECT_EQ(tile.longest_row, longest);
        row += tile.n_rows;
        edge += tile.m;
        if (t + 1 == tiles.size()) break;
        // Another kTileRows rows, or the next one where that is not a boundary, would be too many edges.
        const std::int64_t more =
            row % kTileRows == 0 ? std::min<std::int64_t>(row + kTileRows, graph.csr.n_rows) : row + 1;
        EXPECT_GT(graph.row_ptr[static_cast<std::size_t>(more)] - tile.first_edge, most) << "tile " << t;
    }
    EXPECT_EQ(row, graph.csr.n_rows);
    EXPECT_EQ(edge, graph.csr.m());
}

TEST(RowTiles, AreCutAtEveryLimit) {
    for (auto& [name, csr] : test::awkward_graphs()) {
        const Wide graph(std::move(csr));
        for (const std::int64_t most : {1, 2, 7, 143, 1000, 100000}) {
            for (const bool wide : {false, true}) {
                const auto tiles = cut_rows(graph.view(wide, false), most);
                SCOPED_TRACE(name + ", tiles of " + std::to_string(most));
                expect_sound(graph, tiles, most);
                EXPECT_EQ(tiles.empty(), graph.csr.n_rows == 0);
            }
        }
    }
}

TEST(RowTiles, AThousandEdgesAreSevenTiles) {
    test::EdgeList edges;
    for (std::int32_t e = 0; e < 1000; ++e) edges.emplace_back(e, e * 7 % 30);
    const Wide graph(test::csr_of(1000, 30, edges));
    const auto tiles = cut_rows(graph.view(true, false), 150);
    ASSERT_EQ(tiles.size(), 7U);
    for (const RowTile& tile : tiles) EXPECT_EQ(tile.first_row % kTileRows, 0) << "slices of y stay aligned";
    EXPECT_EQ(tiles[0].m, 144);
}

TEST(RowTiles, OffsetsAndIdsOfATileAreThoseOfItsRows) {
    const Wide graph(test::csr_of(301, 77, test::random_edges(301, 77, 5000, 2, 7)));
    for (const bool wide : {false, true}) {
        const WideCsrView view = graph.view(wide, wide);
        for (const RowTile& tile : cut_rows(view, 700)) {
            std::vector<std::int32_t> row_ptr(static_cast<std::size_t>(tile.n_rows) + 1);
            std::vector<std::int32_t> ids(static_cast<std::size_t>(tile.m));
            copy_offsets(view, tile, row_ptr.data());
            copy_ids(view, tile.first_edge, tile.m, ids.data());
            ASSERT_EQ(row_ptr.front(), 0);
            ASSERT_EQ(row_ptr.back(), tile.m);
            for (std::int32_t i = 0; i < tile.n_rows; ++i) {
                const std::int64_t begin = graph.row_ptr[static_cast<std::size_t>(tile.first_row + i)];
                ASSERT_EQ(row_ptr[static_cast<std::size_t>(i)], begin - tile.first_edge);
            }
            for (std::int64_t e = 0; e < tile.m; ++e) {
                ASSERT_EQ(ids[static_cast<std::size_t>(e)],
                          graph.csr.col_idx[static_cast<std::size_t>(tile.first_edge + e)]);
            }
        }
    }
}

TEST(RowTiles, FingerprintsAddUp) {
    for (auto& [name, csr] : test::awkward_graphs()) {
        const Fingerprint whole = fingerprint(csr.view());
        const Wide graph(std::move(csr));
        for (const bool wide : {false, true}) {
            const WideCsrView view = graph.view(wide, wide);
            EXPECT_EQ(fingerprint(view), whole) << name;
            FingerprintSums sums;
            for (const RowTile& tile : cut_rows(view, 143)) sums += fingerprint_sums(view, tile);
            EXPECT_EQ(finished(sums, view.n_rows, view.n_cols, view.m), whole) << name;
        }
    }
}

// Offsets beyond 2^31 without the edges: what only counts must not look at ids.
TEST(RowTiles, OffsetsOverTwoToThe31AreCut) {
    constexpr std::int64_t kEach = std::int64_t{1} << 30;
    std::vector<std::int64_t> row_ptr;
    for (std::int64_t i = 0; i <= 7; ++i) row_ptr.push_back(i * kEach);
    WideCsrView view;
    view.n_rows = 7;
    view.n_cols = 5;
    view.m = 7 * kEach;
    view.row_ptr = row_ptr.data();
    const std::int32_t id = 0;
    view.col_idx = &id;
    validate_offsets(view);
    const auto tiles = cut_rows(view, kMaxEdges);
    ASSERT_EQ(tiles.size(), 7U) << "two rows of 2^30 edges are one edge too many";
    EXPECT_EQ(tiles[6].first_edge, 6 * kEach);
    std::int32_t offsets[2];
    copy_offsets(view, tiles[6], offsets);
    EXPECT_EQ(offsets[1], kEach);

    row_ptr[1] = 3 * kEach;
    row_ptr[2] = 3 * kEach;
    const std::string words = words_of(ErrorKind::unsupported, [&] { cut_rows(view, kMaxEdges); });
    EXPECT_NE(words.find("row 0 alone has 3221225472 edges"), std::string::npos) << words;
}

TEST(RowTiles, RefuseWhatIsNoGraph) {
    const Wide graph(test::csr_of(301, 77, test::random_edges(301, 77, 5000, 2, 7)));
    const auto offsets = [&](std::size_t at, std::int64_t value) {
        Wide broken(graph.csr);
        broken.row_ptr[at] = value;
        return words_of(ErrorKind::input, [&] { validate_offsets(broken.view(true, false)); });
    };
    EXPECT_EQ(offsets(0, 1), "CSR graph: row_ptr[0] is 1, expected 0");
    EXPECT_NE(offsets(150, 1).find("at row 149"), std::string::npos);
    EXPECT_EQ(offsets(301, 5001), "CSR graph: row_ptr ends at 5001, expected the 5000 edges of col_idx");
    for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{77}, std::int64_t{1} << 32}) {
        Wide broken(graph.csr);
        broken.col_idx[4321] = wrong;
        broken.col_idx[4999] = -5;
        EXPECT_EQ(words_of(ErrorKind::input, [&] { validate_ids(broken.view(true, true)); }),
                  "CSR graph: col_idx[4321] is " + std::to_string(wrong) + ", expected 0 to 76");
    }
    for (const std::int64_t most : {std::int64_t{0}, std::int64_t{-1}, kMaxEdges + 1}) {
        words_of(ErrorKind::invalid_argument, [&] { cut_rows(graph.view(true, false), most); });
    }
}

}  // namespace row_tiles_test
}  // namespace gnntune

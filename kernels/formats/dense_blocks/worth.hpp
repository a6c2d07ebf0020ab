// Which graphs have dense blocks, and how many: for variants that use the format, before it is built.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/registry/variant.hpp"
#include "kernels/formats/dense_blocks/dense_blocks.hpp"

namespace gnntune::formats {

inline constexpr double kDenseBlockCells = kDenseBlockSize * kDenseBlockSize;

/// Edges per non-empty tile of 16 x 8 cells below which a graph has no dense blocks worth building a format for: of 77
/// graphs with two and more, none below eight had a variant on dense blocks as its fastest.
inline constexpr std::int64_t kLeastTileEdges = 8;

/// Refuses graphs whose features are known and show no dense blocks.
inline Verdict require_dense_blocks(const Query& q) {
    if (!q.features) return Verdict::yes();
    const std::int64_t tiles = q.features->counts.tc_blocks_16x8;
    if (q.m < kLeastTileEdges * tiles) {
        return Verdict::no("has no dense blocks: " + std::to_string(q.m) + " edges lie in " + std::to_string(tiles) +
                           " tiles of 16 x 8 cells, fewer than " + std::to_string(kLeastTileEdges) + " in each");
    }
    return Verdict::yes();
}

/// Blocks, if edges are enough for `min_cells` in each on average: all are taken to be in blocks then, else none. From
/// the tiles of 16 x 8 and 16 x 16 where they were counted, else as if edges were spread evenly.
inline double expected_dense_blocks(const Query& q, int min_cells) {
    const auto m = static_cast<double>(q.m);
    const double side = kDenseBlockSize;
    double blocks = std::ceil(static_cast<double>(q.n_rows) / side) * std::ceil(static_cast<double>(q.n_cols) / side);
    if (q.features) {
        // Twice as wide a tile, one `fewer`-th of the tiles: twice more, and they are 32 x 32.
        const auto narrow = static_cast<double>(q.features->counts.tc_blocks_16x8);
        const auto wide = static_cast<double>(std::max<std::int64_t>(1, q.features->counts.tc_blocks_16x16));
        const double fewer = std::clamp(narrow / wide, 1.0, 2.0);
        blocks = std::min(blocks, std::max(wide / (fewer * fewer), m / kDenseBlockCells));
    }
    return m >= min_cells * blocks ? blocks : 0.0;
}

}  // namespace gnntune::formats

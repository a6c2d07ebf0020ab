// Which graphs have dense blocks, and how many: for variants that use the format, before it is built.
#pragma once

#include <algorithm>

#include "core/features/features.hpp"
#include "core/registry/variant.hpp"
#include "kernels/formats/dense_blocks/dense_blocks.hpp"

namespace gnntune::formats {

static_assert(kDenseBlockSize == kBlockSide);

inline constexpr double kDenseBlockCells = kDenseBlockSize * kDenseBlockSize;

/// `cells` is one of kBlockEdges.
inline BlockCount counted_blocks(const Features& features, std::int32_t cells) {
    const auto i = std::find(kBlockEdges.begin(), kBlockEdges.end(), cells) - kBlockEdges.begin();
    return features.counts.blocks_32x32.at(static_cast<std::size_t>(i));
}

/// Refuses graphs whose features are known and show less than half of the edges in blocks of `cells` edges and more.
inline Verdict require_dense_blocks(const Query& q, std::int32_t cells) {
    if (!q.features) return Verdict::yes();
    const std::int64_t edges = counted_blocks(*q.features, cells).edges;
    if (2 * edges < q.m) {
        return Verdict::no("has no dense blocks: of " + std::to_string(q.m) + " edges " + std::to_string(edges) +
                           ", less than half, lie in blocks of 32 x 32 cells with " + std::to_string(cells) +
                           " edges or more");
    }
    return Verdict::yes();
}

/// Blocks of at least `min_cells` cells, and the edges in them: counted where features are known (all edges of a block,
/// not its cells), else as if edges were spread evenly.
inline BlockCount expected_dense_blocks(const Query& q, std::int32_t min_cells) {
    if (q.features) return counted_blocks(*q.features, min_cells);
    const auto along = [](std::int64_t n) { return (n + kDenseBlockSize - 1) / kDenseBlockSize; };
    const std::int64_t blocks = along(q.n_rows) * along(q.n_cols);
    return q.m >= min_cells * blocks ? BlockCount{blocks, q.m} : BlockCount{};
}

}  // namespace gnntune::formats

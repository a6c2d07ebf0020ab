// Shape of a kernel in which a group of `lanes` threads holds one tile of features in registers:
// tile = lanes * items * vec floats, feature tiles along grid.y (the slow dimension).
#pragma once

#include <string>

#include "kernels/common/host.hpp"

namespace gnntune::kernels {

/// Feature tiles lie along grid.y.
inline constexpr std::int64_t kMaxFeatureTiles = kMaxGridY;

inline std::int64_t tile_width(int lanes, int items, int vec) {
    return std::int64_t{lanes} * items * vec;
}

/// Refuses shapes that waste most of their lanes, split a row into more than four parts that a wider tile would hold,
/// or access memory with vectors that k does not fill. Kept narrow on purpose: the search has to stay small.
inline Verdict require_useful_tile(std::int32_t k, int lanes, int items, int vec, int least_items = 1) {
    if (k % vec != 0) return Verdict::no("k=" + std::to_string(k) + " is not a multiple of vec=" + std::to_string(vec));
    const std::int64_t tile = tile_width(lanes, items, vec);
    const std::int64_t whole = next_power_of_two(k);
    if (tile > whole && !(lanes == 1 && items == least_items)) {
        return Verdict::no("a tile of " + std::to_string(tile) + " features is wider than k=" + std::to_string(k));
    }
    // Parts of a row are worth a pass each only where they are whole 128-byte lines.
    if (tile < whole && (tile < 32 || (tile * 4 < whole && lanes * items < 32))) {
        return Verdict::no("a tile of " + std::to_string(tile) + " features would cut k=" + std::to_string(k) +
                           " into too many parts");
    }
    if (ceil_div(k, tile) > kMaxFeatureTiles) return Verdict::no("k=" + std::to_string(k) + " needs too many tiles");
    return Verdict::yes();
}

}  // namespace gnntune::kernels

// The shape of kernels/sddmm/common/edge_dots.cuh.
#pragma once

#include <algorithm>

#include "kernels/common/host.hpp"

namespace gnntune::kernels {

inline constexpr int kEdgeDotThreads = 128;

/// Threads of a group for an edge's k features in vectors of `vec`: few, each with several vectors of a row, have few
/// shuffles. The limits are the coarse best of 168 problems (kernels/sddmm/edges/README.md).
inline int edge_dot_lanes(std::int32_t k, int vec) {
    const int whole = next_power_of_two(static_cast<std::int32_t>(ceil_div(k, vec)));
    return std::min(whole, std::clamp(whole / 4, 2, 8));
}

}  // namespace gnntune::kernels

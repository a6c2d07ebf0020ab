// Workspace of kernels/agnn_grad/common/head_sums.cuh.
#pragma once

#include <algorithm>

#include "kernels/common/host.hpp"

namespace gnntune::kernels {

inline constexpr int kHeadSumThreads = 256;

/// Blocks that leave a partial sum for each head; the workspace of head_sums() has as many floats per head.
inline std::int64_t head_sum_blocks(std::int64_t rows) {
    return std::clamp<std::int64_t>(ceil_div(rows, kHeadSumThreads * 8), 1, 256);
}

}  // namespace gnntune::kernels

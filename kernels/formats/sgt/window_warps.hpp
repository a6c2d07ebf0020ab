// Host side of the kernels that walk SGT tiles window by window: warps for a window, traffic, limits.
#pragma once

#include <vector>

#include "kernels/common/host.hpp"

namespace gnntune::kernels {

inline constexpr int kWindowRows = 16;
inline constexpr int kBlockColumns = 8;  ///< of a TC block
inline constexpr int kMaxWindowWarps = 16;

inline const std::vector<int>& window_warp_counts() {
    static const std::vector<int> kCounts{1, 2, 4, 8, 16};
    return kCounts;
}

/// TC-GNN, section 5: floor(mean edges of a row window / 32), rounded down to a legal count.
inline int paper_window_warps(const Query& q) {
    const std::int64_t windows = std::max<std::int64_t>(1, ceil_div(q.n_rows, kWindowRows));
    const std::int64_t wanted = q.m / windows / 32;
    int warps = 1;
    while (warps < kMaxWindowWarps && warps * 2 <= wanted) warps *= 2;
    return warps;
}

/// TC blocks of 16 x 8: counted where features are known, else the most that the sizes allow.
inline double expected_tc_blocks(const Query& q) {
    if (q.features && q.problem.direction == Direction::forward) {
        return static_cast<double>(q.features->counts.sgt_blocks_16x8);
    }
    return static_cast<double>(std::min(q.m, q.m / kBlockColumns + ceil_div(q.n_rows, kWindowRows)));
}

/// What a kernel reads of the graph: window_ptr, block_ptr, block_cols and tile positions, edge ids where it needs
/// them.
inline double sgt_bytes(const Query& q, bool edge_ids) {
    return static_cast<double>(q.m) * (edge_ids ? 5.0 : 1.0) + 36.0 * expected_tc_blocks(q) +
           4.0 * static_cast<double>(ceil_div(q.n_rows, kWindowRows) + 1);
}

}  // namespace gnntune::kernels

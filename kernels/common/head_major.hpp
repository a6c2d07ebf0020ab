// Head-major arrays of compositions: one contiguous array for each head, each aligned for any part.
#pragma once

#include <string>

#include "kernels/common/host.hpp"

namespace gnntune::kernels {

/// Floats from one head's array of `count` floats to the next: 256-byte steps, so that vectors load from each.
constexpr std::int64_t head_stride(std::int64_t count) {
    return (count + 63) / 64 * 64;
}

/// More heads would be more launches than any composition is worth.
inline constexpr std::int32_t kMaxPartRuns = 1024;

/// Refuses what kernels/common/head_major.cuh cannot launch.
inline Verdict require_head_runs(const Query& q) {
    if (q.problem.heads > kMaxPartRuns) {
        return Verdict::no("runs its parts once for each head, " + std::to_string(q.problem.heads) + " are more than " +
                           std::to_string(kMaxPartRuns));
    }
    return require_grid(ceil_div(std::max(q.n_rows, q.n_cols) * q.problem.k, 256));
}

}  // namespace gnntune::kernels

// Building blocks of the CPU variants: function versions per instruction set and rows of floats.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/common/team.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
/// Compiles a function once per instruction set; the loader picks. Vectorised loops need no intrinsics so.
#define GNNTUNE_TARGET_CLONES __attribute__((target_clones("avx512f", "arch=haswell", "default")))
#else
#define GNNTUNE_TARGET_CLONES
#endif

namespace gnntune::kernels {

/// Edges that are added up one after the other. Rounding errors of many like terms do not cancel: a row of more is a
/// sum of sums.
inline constexpr std::int32_t kChain = 256;

/// Who computes one run: the threads of a parallel region, or the calling thread by itself.
class Team {
public:
    explicit Team(bool alone) : alone_(alone) {}

    /// Calls f(first, last) for rows [0, n) in blocks of up to `block`, shared out among the threads; they do not wait
    /// for each other at its end. Counted in 64 bits: n may be 2^31 - 2.
    template <typename F>
    void for_row_blocks(std::int32_t n, std::int32_t block, const F& f) const {
        const auto call = [&](std::int64_t first) {
            const auto row = static_cast<std::int32_t>(first);
            f(row, row + std::min(block, n - row));
        };
        if (alone_) {
            for (std::int64_t first = 0; first < n; first += block) call(first);
            return;
        }
#pragma omp for schedule(dynamic) nowait
        for (std::int64_t first = 0; first < n; first += block) call(first);
    }
    /// All threads wait here for each other.
    void barrier() const {
        if (alone_) return;
#pragma omp barrier
    }

private:
    bool alone_;
};

/// Products of a run from which on threads are woken for it. Below, waking them and waiting for them takes longer than
/// they save: some microseconds, and many more where other processes have the cores.
inline constexpr std::int64_t kTeamTerms = 16384;
/// What an exponential takes of them.
inline constexpr std::int64_t kExpTerms = 32;

/// Calls f(team) on every thread of a team for a run of so many products, or once if they are few.
template <typename F>
void on_team(std::int64_t terms, const F& f) {
    const int threads = terms < kTeamTerms ? 1 : team_size();
    if (threads == 1) {
        f(Team(true));
        return;
    }
    reserve_team(threads);
#pragma omp parallel num_threads(threads)
    f(Team(false));
}

/// acc[f] += w * x[f] for f in [0, count)
__attribute__((always_inline)) inline void axpy(float* __restrict__ acc, float w, const float* __restrict__ x,
                                                std::int32_t count) {
#pragma omp simd
    for (std::int32_t f = 0; f < count; ++f) acc[f] += w * x[f];
}

/// sum of a[f] * b[f] over f in [0, count), in an order that depends on count only
__attribute__((always_inline)) inline float dot(const float* __restrict__ a, const float* __restrict__ b,
                                                std::int32_t count) {
    float sum = 0.0F;
#pragma omp simd reduction(+ : sum)
    for (std::int32_t f = 0; f < count; ++f) sum += a[f] * b[f];
    return sum;
}

}  // namespace gnntune::kernels

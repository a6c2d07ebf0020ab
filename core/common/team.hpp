// Teams of OpenMP's threads for what the library computes on the host. An OpenMP runtime that gets no memory for a team
// ends the process, and libgomp makes one, even of a single thread, wherever a region starts that has another number of
// threads than the one before. So small work starts no region, and what a team takes is asked for before there is one.
#pragma once

#include <cstdint>

namespace gnntune {

/// Edges, or steps like them, from which on it is worth waking threads.
inline constexpr std::int64_t kTeamWork = 16384;

/// Threads that a region of the calling thread would have by now: 1 inside another region that allows none within.
int team_size() noexcept;

/// To be called before a region of so many threads. Where the calling thread has no team of this size yet, asks for
/// memory and threads as such a team takes and starts it. Throws std::bad_alloc if there are none; the region may still
/// find that another thread of the process has taken them meanwhile.
void reserve_team(int threads);

/// Threads for so much work: 1, for which no region is to be started, or a reserved team.
inline int team_for(std::int64_t work) {
    if (work <= kTeamWork) return 1;
    const int threads = team_size();
    if (threads > 1) reserve_team(threads);
    return threads;
}

/// Calls f(i) for i in [0, n), `block` at a time by threads as they become free, or by the calling thread where there is
/// little `work`. f does not throw.
template <typename F>
void team_for_each(std::int64_t n, int block, std::int64_t work, const F& f) {
    if (team_for(work) == 1) {
        for (std::int64_t i = 0; i < n; ++i) f(i);
        return;
    }
#pragma omp parallel for schedule(dynamic, block)
    for (std::int64_t i = 0; i < n; ++i) f(i);
}

}  // namespace gnntune

#include "core/common/team.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace gnntune {
namespace {

/// More than libgomp and LLVM's runtime keep for a team and for each of its threads.
constexpr std::size_t kTeamBytes = 64 << 10;
constexpr std::size_t kThreadBytes = 8 << 10;

/// Of the calling thread: its last team that was reserved here. Another one takes its place.
thread_local int reserved = 1;

/// Has so much memory and so many threads at once, and gives them back. Threads wait for each other: a thread that has
/// ended would leave its stack to the next.
void require_room(int threads) {
    const auto helpers = static_cast<std::size_t>(threads - 1);
    const auto room = std::make_unique<std::byte[]>(kTeamBytes + helpers * kThreadBytes);
    std::mutex mutex;
    std::condition_variable go;
    bool may_end = false;
    std::vector<std::thread> team;
    team.reserve(helpers);
    bool made = true;
    try {
        while (team.size() < helpers) {
            team.emplace_back([&] {
                std::unique_lock lock(mutex);
                go.wait(lock, [&] { return may_end; });
            });
        }
    } catch (...) {  // std::bad_alloc, std::system_error
        made = false;
    }
    {
        const std::lock_guard lock(mutex);
        may_end = true;
    }
    go.notify_all();
    for (std::thread& thread : team) thread.join();
    if (!made) throw std::bad_alloc();
}

}  // namespace

int team_size() noexcept {
#ifdef _OPENMP
    return omp_get_active_level() >= omp_get_max_active_levels() ? 1 : omp_get_max_threads();
#else
    return 1;  // targets for fuzzing
#endif
}

void reserve_team(int threads) {
    if (threads <= 1 || threads == reserved) return;
    require_room(threads);
#pragma omp parallel num_threads(threads)
    {}
    reserved = threads;
}

}  // namespace gnntune

// Loops over the threads of OpenMP whose bodies may throw. An exception that leaves a parallel region ends the process,
// and a body that allocates may throw wherever memory runs out: what one thread throws is kept until all are done.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include "core/common/team.hpp"

namespace gnntune {

/// The first exception that a thread of a team has met.
class TeamException {
public:
    /// Calls f() unless a thread has thrown, and keeps what it throws.
    template <typename F>
    void guard(F&& f) noexcept {
        if (thrown_.load(std::memory_order_relaxed)) return;
        try {
            std::forward<F>(f)();
        } catch (...) {
            if (!thrown_.exchange(true)) first_ = std::current_exception();
        }
    }
    /// After the region: all threads have passed its end.
    void rethrow() const {
        if (first_) std::rethrow_exception(first_);
    }

private:
    std::atomic<bool> thrown_ = false;
    std::exception_ptr first_;
};

/// Calls f(i, scratch) for i in [0, n), `block` at a time by threads as they become free, each with a scratch of its own
/// that make() returns. Throws what one of them throws; the others end early then. A single call starts no threads, so that f
/// may.
template <typename Make, typename F>
void parallel_for(std::int64_t n, int block, const Make& make, const F& f) {
    const int threads = team_size();
    if (threads == 1 || n <= 1) {
        auto scratch = make();
        for (std::int64_t i = 0; i < n; ++i) f(i, scratch);
        return;
    }
    reserve_team(threads);
    TeamException exception;
#pragma omp parallel num_threads(threads)
    {
        std::optional<decltype(make())> scratch;
        exception.guard([&] { scratch.emplace(make()); });
#pragma omp for schedule(dynamic, block)
        for (std::int64_t i = 0; i < n; ++i) exception.guard([&] { f(i, *scratch); });
    }
    exception.rethrow();
}

/// The same of bodies that need no scratch: f(i).
template <typename F>
void parallel_for(std::int64_t n, int block, const F& f) {
    struct None {};
    parallel_for(
        n, block, [] { return None{}; }, [&](std::int64_t i, None&) { f(i); });
}

}  // namespace gnntune

// Whether the threads that a call runs on had their processors while it ran. A thread that waits for its turn beside
// another program waits for whole time slices, of several milliseconds: what a call takes then says nothing of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gnntune::tuner {

/// What has become of the threads so far. All of it only grows.
struct ThreadCounts {
    /// Of each thread: for how long it was ready to run while others ran. Empty where the kernel does not tell.
    std::vector<double> waited_us;
    double cpu_us = 0;          ///< of all threads of the process together
    std::int64_t switches = 0;  ///< of them all: how often another took a thread's processor
};

/// Whether a call that took `us` between the two counts had to wait for a processor. If a thread's waiting is known: for
/// more than 5 % of its time or 5 us, whichever is longer. If not: if every involuntary switch, taken as a time slice of
/// 3 ms, would be more than that, or if for more than half of the time and 300 us no thread ran at all.
bool had_to_wait(const ThreadCounts& before, const ThreadCounts& after, double us);

/// Looks after the calling thread's OpenMP threads for as long as it lives, and keeps each on a processor of its own:
/// on a busy machine the scheduler wakes several on the same one, where they take turns. They stay where they are or go
/// where none of them is; threads that somebody has bound, and more threads than processors, are left alone. Afterwards
/// they may run where they might before.
class ThreadWatch {
public:
    ThreadWatch();
    ~ThreadWatch();
    ThreadWatch(const ThreadWatch&) = delete;
    ThreadWatch& operator=(const ThreadWatch&) = delete;

    ThreadCounts counts() const;
    /// Whether a thread was sent to another processor than it ran on.
    bool moved() const { return moved_; }

private:
    struct Thread;
    explicit ThreadWatch(int threads);
    void keep_apart();

    std::vector<Thread> threads_;
    bool kept_apart_ = false;
    bool moved_ = false;
};

}  // namespace gnntune::tuner

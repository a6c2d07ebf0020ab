#include "core/common/threads.hpp"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "core/common/error.hpp"

namespace gnntune {
namespace {

std::atomic<bool> forked_child{false};

// Before anything may be asked: also where it is the host program, and not this code, whose threads are lost. Should it
// fail, for want of memory when the program starts, a child is taken for a process like any other.
[[maybe_unused]] const int kWatched =
    pthread_atfork(nullptr, nullptr, [] { forked_child.store(true, std::memory_order_relaxed); });

}  // namespace

bool in_forked_child() noexcept {
    return forked_child.load(std::memory_order_relaxed);
}

void require_possible_threads() {
    const int wanted = std::min(omp_get_max_threads(), omp_get_thread_limit());
    if (wanted <= kMostThreads) return;
    throw invalid_argument(
        "OpenMP is told to start " + std::to_string(wanted) + " threads, and at most " + std::to_string(kMostThreads) +
        " can be; set OMP_NUM_THREADS to those that this machine has, " + std::to_string(omp_get_num_procs()));
}

}  // namespace gnntune

// How many OpenMP threads a process may be asked for, and how many a child of fork has.
#pragma once

#include <omp.h>

namespace gnntune {

/// More than any machine has. libgomp keeps what it knows of each thread on the stack of the one that starts them, and
/// a process with tens of thousands crashes inside it.
inline constexpr int kMostThreads = 8192;

/// Throws ErrorKind::invalid_argument in words if parallel regions of this thread would start more than kMostThreads
/// threads: OMP_NUM_THREADS is mistyped.
void require_possible_threads();

/// Whether a process has this code from the parent that forked it. The parent's OpenMP threads did not come along, and
/// libgomp would wait for them without end: whatever the parent did, such a process has one thread.
bool in_forked_child() noexcept;

/// While this lives in a forked child, parallel regions of this thread have one thread: the calling one.
class OneThreadInForkedChild {
public:
    OneThreadInForkedChild() noexcept : before_(in_forked_child() ? omp_get_max_threads() : 0) {
        if (before_ > 1) omp_set_num_threads(1);
    }
    OneThreadInForkedChild(const OneThreadInForkedChild&) = delete;
    OneThreadInForkedChild& operator=(const OneThreadInForkedChild&) = delete;
    ~OneThreadInForkedChild() {
        if (before_ > 1) omp_set_num_threads(before_);
    }

private:
    int before_;
};

}  // namespace gnntune

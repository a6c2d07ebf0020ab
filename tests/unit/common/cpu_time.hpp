// Seconds of a processor, not of a clock on the wall: what other programs of the machine take does not count.
#pragma once

#include <ctime>

namespace gnntune::test {

inline double seconds_of(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Of all threads of this process since it began.
inline double cpu_seconds() {
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

/// Of the calling thread.
inline double thread_cpu_seconds() {
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

}  // namespace gnntune::test

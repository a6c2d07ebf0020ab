#include "core/common/threads.hpp"

#include <omp.h>

#include <algorithm>
#include <string>

#include "core/common/error.hpp"

namespace gnntune {

void require_possible_threads() {
    const int wanted = std::min(omp_get_max_threads(), omp_get_thread_limit());
    if (wanted <= kMostThreads) return;
    throw invalid_argument(
        "OpenMP is told to start " + std::to_string(wanted) + " threads, and at most " + std::to_string(kMostThreads) +
        " can be; set OMP_NUM_THREADS to those that this machine has, " + std::to_string(omp_get_num_procs()));
}

}  // namespace gnntune

#include "tuner/measuring/thread_watch.hpp"

#include <fcntl.h>
#include <omp.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "core/common/team.hpp"

namespace gnntune::tuner {
namespace {

constexpr double kWaitShare = 0.05;
constexpr double kWait_us = 5;
constexpr double kSlice_us = 3000;  // what schedulers give a thread at least when another wants its processor
constexpr double kIdleShare = 0.5;
constexpr double kIdle_us = 300;  // waking a thread on a processor that sleeps deeply takes less

double us_of(const timeval& t) {
    return 1e6 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec);
}

/// The second number of /proc/.../schedstat: nanoseconds in the queue.
std::optional<double> waited_us_of(int schedstat) {
    char text[96];
    const ssize_t length = schedstat < 0 ? -1 : pread(schedstat, text, sizeof text - 1, 0);
    if (length <= 0) return std::nullopt;
    text[length] = 0;
    unsigned long long ran_ns = 0;
    unsigned long long waited_ns = 0;
    if (std::sscanf(text, "%llu %llu", &ran_ns, &waited_ns) != 2) return std::nullopt;
    return static_cast<double>(waited_ns) / 1e3;
}

}  // namespace

bool had_to_wait(const ThreadCounts& before, const ThreadCounts& after, double us) {
    const double bearable_us = std::max(kWait_us, kWaitShare * us);
    if (!after.waited_us.empty() && after.waited_us.size() == before.waited_us.size()) {
        for (std::size_t i = 0; i < after.waited_us.size(); ++i) {
            if (after.waited_us[i] - before.waited_us[i] > bearable_us) return true;
        }
        return false;
    }
    if (static_cast<double>(after.switches - before.switches) * kSlice_us > bearable_us) return true;
    const double idle_us = us - (after.cpu_us - before.cpu_us);
    return idle_us > std::max(kIdle_us, kIdleShare * us);
}

struct ThreadWatch::Thread {
    int schedstat = -1;  // can be read from any thread
    cpu_set_t allowed;
    int processor = -1;  // -1: not known
    bool may_move = false;
};

ThreadWatch::ThreadWatch(int threads) : threads_(static_cast<std::size_t>(threads)) {}

// Delegates, so that the destructor closes what is open where the body throws.
ThreadWatch::ThreadWatch() : ThreadWatch(omp_get_max_threads()) {
    std::size_t team = 1;
    reserve_team(team_size());
#pragma omp parallel
    {
        const auto i = static_cast<std::size_t>(omp_get_thread_num());
        if (i == 0) team = static_cast<std::size_t>(omp_get_num_threads());
        if (i < threads_.size()) {
            Thread& t = threads_[i];
            t.schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
            if (sched_getaffinity(0, sizeof t.allowed, &t.allowed) == 0) {
                t.processor = sched_getcpu();
                t.may_move = CPU_COUNT(&t.allowed) > 1;
            }
        }
    }
    threads_.resize(std::min(team, threads_.size()));
    if (threads_.size() > 1 && omp_get_proc_bind() == omp_proc_bind_false) keep_apart();
}

void ThreadWatch::keep_apart() {
    cpu_set_t taken;
    CPU_ZERO(&taken);
    std::vector<Thread*> homeless;
    for (Thread& t : threads_) {
        if (t.processor < 0 || t.processor >= CPU_SETSIZE) return;
        if (!CPU_ISSET(t.processor, &taken)) {
            CPU_SET(t.processor, &taken);
        } else {
            homeless.push_back(&t);
        }
    }
    for (Thread* t : homeless) {
        int free = 0;
        while (free < CPU_SETSIZE && (!CPU_ISSET(free, &t->allowed) || CPU_ISSET(free, &taken))) ++free;
        if (free == CPU_SETSIZE) return;  // more threads than processors
        CPU_SET(free, &taken);
        t->processor = free;
    }
    kept_apart_ = true;
    moved_ = !homeless.empty();
#pragma omp parallel
    {
        const auto i = static_cast<std::size_t>(omp_get_thread_num());
        if (i < threads_.size() && threads_[i].may_move) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(threads_[i].processor, &one);
            sched_setaffinity(0, sizeof one, &one);
        }
    }
}

ThreadWatch::~ThreadWatch() {
    if (kept_apart_) {
#pragma omp parallel
        {
            const auto i = static_cast<std::size_t>(omp_get_thread_num());
            if (i < threads_.size() && threads_[i].may_move) {
                sched_setaffinity(0, sizeof threads_[i].allowed, &threads_[i].allowed);
            }
        }
    }
    for (const Thread& t : threads_) {
        if (t.schedstat >= 0) close(t.schedstat);
    }
}

ThreadCounts ThreadWatch::counts() const {
    ThreadCounts out;
    for (const Thread& t : threads_) {
        const auto waited_us = waited_us_of(t.schedstat);
        if (!waited_us) {
            out.waited_us.clear();
            break;
        }
        out.waited_us.push_back(*waited_us);
    }
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    out.cpu_us = us_of(used.ru_utime) + us_of(used.ru_stime);
    out.switches = used.ru_nivcsw;
    return out;
}

}  // namespace gnntune::tuner

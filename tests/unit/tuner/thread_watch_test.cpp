// Who had to wait for a processor, by counts made up and by those of a machine whose processors are all taken.
#include "tuner/measuring/thread_watch.hpp"

#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <set>
#include <vector>

#include "tests/unit/common/child_process.hpp"

namespace gnntune::tuner {
namespace {

ThreadCounts waits(std::vector<double> waited_us) {
    return {std::move(waited_us), 0, 0};
}

TEST(ThreadWatch, AThreadThatWaitedSpoilsTheCall) {
    const ThreadCounts before = waits({100, 7000});
    EXPECT_FALSE(had_to_wait(before, waits({100, 7000}), 100));
    EXPECT_FALSE(had_to_wait(before, waits({104, 7004}), 20)) << "up to 5 us are no time slice";
    EXPECT_TRUE(had_to_wait(before, waits({100, 7006}), 20));
    EXPECT_TRUE(had_to_wait(before, waits({4100, 7000}), 4100));
    EXPECT_FALSE(had_to_wait(before, waits({4100, 7000}), 100'000)) << "4 % of a long call";
    EXPECT_TRUE(had_to_wait(before, waits({6100, 7000}), 100'000)) << "6 %";
    EXPECT_FALSE(had_to_wait(before, waits({3100, 10000}), 100'000)) << "threads wait at the same time";
}

TEST(ThreadWatch, WhereWaitingIsNotKnownSwitchesAndIdleTimeTell) {
    const ThreadCounts before{{}, 5000, 3};
    EXPECT_FALSE(had_to_wait(before, {{}, 5100, 3}, 100));
    EXPECT_TRUE(had_to_wait(before, {{}, 5100, 4}, 100)) << "another took a processor";
    EXPECT_FALSE(had_to_wait(before, {{}, 205'000, 4}, 200'000)) << "once in a long call";
    EXPECT_TRUE(had_to_wait(before, {{}, 205'000, 9}, 200'000));
    EXPECT_FALSE(had_to_wait(before, {{}, 5010, 3}, 200)) << "woken from a deep sleep";
    EXPECT_TRUE(had_to_wait(before, {{}, 5100, 3}, 8000)) << "nobody ran for nearly all of it";
    // Known before and not after, or the other way round, is not known.
    EXPECT_TRUE(had_to_wait(waits({1, 2}), {{}, 0, 1}, 100));
    EXPECT_FALSE(had_to_wait(waits({1, 2}), {{50}, 100, 0}, 100));
}

std::vector<cpu_set_t> masks() {
    std::vector<cpu_set_t> out(static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel
    {
        cpu_set_t& mask = out[static_cast<std::size_t>(omp_get_thread_num())];
        CPU_ZERO(&mask);
        sched_getaffinity(0, sizeof mask, &mask);
    }
    return out;
}

TEST(ThreadWatch, ThreadsHaveAProcessorEachAndGetBackWhatTheyHad) {
    const auto before = masks();
    {
        const ThreadWatch watch;
        const auto meanwhile = masks();
        std::set<int> processors;
        std::size_t bound = 0;
        for (const cpu_set_t& mask : meanwhile) {
            if (CPU_COUNT(&mask) != 1) continue;
            ++bound;
            for (int i = 0; i < CPU_SETSIZE; ++i) {
                if (CPU_ISSET(i, &mask)) processors.insert(i);
            }
        }
        EXPECT_EQ(processors.size(), bound) << "two threads share a processor";
        const auto fits = static_cast<int>(meanwhile.size()) <= CPU_COUNT(&before.front());
        if (meanwhile.size() > 1 && fits && omp_get_proc_bind() == omp_proc_bind_false) {
            EXPECT_EQ(bound, meanwhile.size());
        }
    }
    const auto after = masks();
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(CPU_EQUAL(&before[i], &after[i])) << i;
}

TEST(ThreadWatch, SeesThatEveryProcessorIsTaken) {
    const int processors = omp_get_num_procs();
    std::vector<pid_t> children;
    for (int i = 0; i < 2 * processors; ++i) {
        children.push_back(test::in_child([] {
            alarm(20);  // whatever becomes of the test
            for (volatile int forever = 1; forever;) {
            }
        }));
    }
    bool waited = false;
    {
        const ThreadWatch watch;
        const ThreadCounts before = watch.counts();
        const auto begin = std::chrono::steady_clock::now();
        const auto us = [&] {
            return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
        };
        while (us() < 5e6 && !waited) {
            const auto until = us() + 20'000;
            while (us() < until) {
            }
            waited = had_to_wait(before, watch.counts(), us());
        }
    }
    for (const pid_t child : children) kill(child, SIGKILL);
    for (const pid_t child : children) test::wait_for(child);
    EXPECT_TRUE(waited) << "it ran for five seconds beside " << children.size() << " others on " << processors
                        << " processors";
}

}  // namespace
}  // namespace gnntune::tuner

// Teams of OpenMP's threads: work is done once whoever does it, and a team that memory does not hold is an exception,
// where libgomp would end the process.
#include <gtest/gtest.h>
#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <new>
#include <vector>

#include "core/common/parallel_for.hpp"
#include "core/common/team.hpp"
#include "core/features/features.hpp"
#include "core/graph/convert.hpp"
#include "core/graph/fingerprint.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GNNTUNE_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GNNTUNE_TEST_SANITIZED 1
#endif
#endif

namespace gnntune {
namespace {

/// A ring, large enough for a team, columns and rows falling, so that conversions have to sort.
struct Ring {
    explicit Ring(std::int32_t n) : rows(static_cast<std::size_t>(n)), cols(rows.size()) {
        for (std::int32_t e = 0; e < n; ++e) {
            rows[static_cast<std::size_t>(e)] = n - 1 - e;
            cols[static_cast<std::size_t>(e)] = (2 * n - e) % n;
        }
    }
    CooView view() const {
        const auto n = static_cast<std::int32_t>(rows.size());
        return {n, n, n, rows.data(), cols.data(), nullptr, MemorySpace::host};
    }
    std::vector<std::int32_t> rows;
    std::vector<std::int32_t> cols;
};

class Team : public testing::Test {
protected:
    void SetUp() override { before_ = omp_get_max_threads(); }
    void TearDown() override { omp_set_num_threads(before_); }

private:
    int before_ = 1;
};

TEST_F(Team, DoesEachPartOnce) {
    for (const int threads : {1, 3}) {
        omp_set_num_threads(threads);
        for (const std::int64_t n : {0, 1, 1000, 40000}) {
            std::vector<std::atomic<int>> seen(static_cast<std::size_t>(n));
            team_for_each(n, 7, n, [&](std::int64_t i) { ++seen[static_cast<std::size_t>(i)]; });
            for (const auto& count : seen) ASSERT_EQ(count.load(), 1) << threads << " threads, " << n;
        }
    }
}

TEST_F(Team, ResultsDoNotDependOnThreads) {
    const Ring ring(50000);
    omp_set_num_threads(1);
    const CsrGraph one = coo_to_csr(ring.view());
    const Fingerprint mark = fingerprint(ring.view());
    const FeatureCounts counts = count_features(one.view());
    for (const int threads : {2, 5}) {
        omp_set_num_threads(threads);
        const CsrGraph many = coo_to_csr(ring.view());
        EXPECT_TRUE(std::equal(one.row_ptr.begin(), one.row_ptr.end(), many.row_ptr.begin()));
        EXPECT_TRUE(std::equal(one.col_idx.begin(), one.col_idx.end(), many.col_idx.begin()));
        EXPECT_EQ(fingerprint(ring.view()).text(), mark.text());
        EXPECT_EQ(fingerprint(many.view()).text(), mark.text());
        EXPECT_EQ(count_features(many.view()).tc_blocks_16x8, counts.tc_blocks_16x8);
    }
}

TEST_F(Team, IsTheCallingThreadInsideARegion) {
    omp_set_num_threads(2);
    EXPECT_EQ(team_size(), 2);
    std::atomic<int> largest = 0;
#pragma omp parallel
    if (team_size() > 1) largest = team_size();
    EXPECT_EQ(largest.load(), 0);
}

/// What this process may still map.
bool leave_room(std::size_t bytes) {
    std::size_t pages = 0;
    if (!(std::ifstream("/proc/self/statm") >> pages)) return false;
    const rlim_t most = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + bytes;
    const rlimit limit{most, most};
    return setrlimit(RLIMIT_AS, &limit) == 0;
}

/// 0 if the work threw std::bad_alloc where threads have no room, and is done by one thread afterwards.
template <typename F>
int without_room(const F& work) {
    omp_set_num_threads(64);
    if (!leave_room(64 << 20)) return 3;  // eight stacks
    try {
        work();
        return 4;
    } catch (const std::bad_alloc&) {
    }
    omp_set_num_threads(1);
    work();
    return 0;
}

TEST_F(Team, ThatHasNoRoomIsAnException) {
#ifdef GNNTUNE_TEST_SANITIZED
    GTEST_SKIP() << "sanitizers map more than any limit leaves";
#else
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const Ring ring(50000);
    const CsrGraph csr = coo_to_csr(ring.view());
    const auto lives = testing::ExitedWithCode(0);
    EXPECT_EXIT(std::exit(without_room([&] { (void)fingerprint(ring.view()); })), lives, "^$");
    EXPECT_EXIT(std::exit(without_room([&] { (void)fingerprint(csr.view()); })), lives, "^$");
    EXPECT_EXIT(std::exit(without_room([&] { (void)coo_to_csr(ring.view()); })), lives, "^$");
    EXPECT_EXIT(std::exit(without_room([&] { (void)count_features(csr.view()); })), lives, "^$");
    EXPECT_EXIT(std::exit(without_room([&] { parallel_for(100, 1, [](std::int64_t) {}); })), lives, "^$");
#endif
}

}  // namespace
}  // namespace gnntune

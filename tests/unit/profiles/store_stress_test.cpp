// What the store promises of processes that meet at one file, for a few seconds: GNNTUNE_STRESS_SECONDS says how many.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "profiles/snapshot/snapshot.hpp"
#include "tests/unit/common/child_process.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

using Steady = std::chrono::steady_clock;

constexpr int kProcesses = 4;
constexpr int kThreads = 16;  // in each of them

class StoreStressTest : public StoreTest {
protected:
    static std::chrono::duration<double> duration() {
        const char* seconds = std::getenv("GNNTUNE_STRESS_SECONDS");
        return std::chrono::duration<double>(seconds ? std::atof(seconds) : 3.0);
    }
    static Steady::time_point end_of_test() {
        return Steady::now() + std::chrono::duration_cast<Steady::duration>(duration());
    }
    static std::string variant(int process, int thread) {
        return "spmm.p" + std::to_string(process) + "_" + std::to_string(thread);
    }

    /// What one thread of one process writes: measurements of its own variant, one commit each, everything around them
    /// upserted anew as a tool would. Returns how many were committed.
    std::int64_t write_until(Steady::time_point end, int process, int thread) const {
        Store store = open();
        const std::int64_t run = store.begin_run(run_info());
        const std::vector<PartVersion> parts{{Config::parse("spmm.part"), 1}};
        std::int64_t count = 0;
        while (Steady::now() < end) {
            const Key key = key_in(store, 1 + static_cast<std::int32_t>(count % 7));
            const std::string config = variant(process, thread) + "{i=" + std::to_string(count) + "}";
            store.add_measurement(run, key, with_parts(measurement(config, 1), parts));
            ++count;
        }
        store.end_run(run);
        return count;
    }

    /// All threads of one process. Writes to `out` how many rows each has committed; throws what one of them threw.
    void write_in_threads(Steady::time_point end, int process, int out) const {
        std::vector<std::int64_t> counts(kThreads);
        std::vector<std::exception_ptr> errors(kThreads);
        std::vector<std::thread> threads;
        for (int t = 0; t < kThreads; ++t) {
            threads.emplace_back([&, t] {
                const auto at = static_cast<std::size_t>(t);
                try {
                    counts[at] = write_until(end, process, t);
                } catch (...) {
                    errors[at] = std::current_exception();
                }
            });
        }
        for (auto& thread : threads) thread.join();
        for (const auto& error : errors) {
            if (error) std::rethrow_exception(error);
        }
        const auto bytes = static_cast<ssize_t>(counts.size() * sizeof counts[0]);
        if (write(out, counts.data(), static_cast<std::size_t>(bytes)) != bytes) throw std::runtime_error("pipe");
    }

    struct Reading {
        std::int64_t loads = 0;
        std::int64_t missing = 0;
        std::string wrong;  ///< the first thing
    };
    /// Loads snapshots until told to stop. A reader sees whole commits, and never fewer than it has seen before.
    Reading read_until(const std::atomic<bool>& stop) const {
        Reading reading;
        std::int64_t rows = 0;
        while (!stop && reading.wrong.empty()) {
            try {
                const Snapshot snapshot = Snapshot::load(file(), environment());
                ++reading.loads;
                if (snapshot.files().front().state == SnapshotFile::State::missing) {
                    ++reading.missing;
                    if (rows > 0) reading.wrong = "the file has vanished";
                    continue;
                }
                const std::int64_t now = snapshot.measurements(snapshot.files().front()).value_or(-1);
                if (now < rows) reading.wrong = "rows have vanished";
                rows = now;
                for (std::int32_t k = 1; k <= 7; ++k) {
                    const auto entry = snapshot.find(graph().fingerprint, problem(k), Policy::hot);
                    if (!entry) continue;
                    for (const SnapshotRow& row : entry->rows) {
                        if (row.part_count != 1) reading.wrong = std::string(row.config) + " has no part";
                    }
                }
            } catch (const std::exception& error) {
                reading.wrong = error.what();
            }
        }
        return reading;
    }
};

TEST_F(StoreStressTest, ProcessesAndThreadsThatWriteAtOnceLoseNothingAndReadersSeeWholeCommits) {
    const auto end = end_of_test();
    // The file does not exist yet: all of them create it.
    std::vector<pid_t> writers;
    std::vector<int> ends(kProcesses * 2);
    for (int p = 0; p < kProcesses; ++p) {
        ASSERT_EQ(pipe(&ends[static_cast<std::size_t>(2 * p)]), 0);
        writers.push_back(
            test::in_child([&, p] { write_in_threads(end, p, ends[static_cast<std::size_t>(2 * p + 1)]); }));
    }
    std::atomic<bool> stop = false;
    Reading readings[2];
    std::vector<std::thread> readers;
    for (Reading& reading : readings) readers.emplace_back([&] { reading = read_until(stop); });
    int failed = 0;
    for (const pid_t writer : writers) failed += test::wait_for(writer) == 0 ? 0 : 1;
    stop = true;
    for (std::thread& reader : readers) reader.join();
    ASSERT_EQ(failed, 0) << "processes have ended with an error, which stands above";

    const Store store = Store::open(file(), Mode::read_only);
    std::int64_t written = 0;
    std::int64_t fewest = 0;
    for (int p = 0; p < kProcesses; ++p) {
        std::vector<std::int64_t> counts(kThreads);
        const auto bytes = static_cast<ssize_t>(counts.size() * sizeof counts[0]);
        ASSERT_EQ(read(ends[static_cast<std::size_t>(2 * p)], counts.data(), static_cast<std::size_t>(bytes)), bytes);
        for (int t = 0; t < kThreads; ++t) {
            const std::int64_t count = counts[static_cast<std::size_t>(t)];
            written += count;
            fewest = p == 0 && t == 0 ? count : std::min(fewest, count);
            Statement found = store.database().prepare(
                "SELECT count(*), count(DISTINCT config) FROM measurement WHERE variant = ? AND status = 'ok'",
                "counting");
            found.bind(variant(p, t)).step();
            EXPECT_EQ(found.integer(0), count) << variant(p, t);
            EXPECT_EQ(found.integer(1), count) << variant(p, t);
        }
    }
    const auto integer = [&](const char* sql) { return store.database().integer(sql, "counting"); };
    EXPECT_EQ(integer("SELECT count(*) FROM measurement"), written);
    EXPECT_EQ(integer("SELECT count(*) FROM part"), written);
    EXPECT_EQ(integer("SELECT count(*) FROM graph"), 1);
    EXPECT_EQ(integer("SELECT count(*) FROM problem"), 7);
    EXPECT_EQ(integer("SELECT count(*) FROM run WHERE ended_at NOT NULL"), kProcesses * kThreads);
    EXPECT_EQ(store.check(), std::vector<std::string>{});
    const Snapshot snapshot = Snapshot::load(file(), environment());
    EXPECT_EQ(snapshot.measurements(snapshot.files().front()), written);
    std::int64_t loads = 0;
    for (const Reading& reading : readings) {
        EXPECT_EQ(reading.wrong, "");
        loads += reading.loads;
    }
    EXPECT_GT(loads, 2);
    std::printf(
        "%d processes x %d threads in %.0f s: %lld rows written and found, %lld at least by each thread; "
        "%lld snapshots loaded beside them\n",
        kProcesses, kThreads, duration().count(), static_cast<long long>(written), static_cast<long long>(fewest),
        static_cast<long long>(loads));
}

TEST_F(StoreStressTest, ReadersNeverMeetADatabaseThatIsHalfMade) {
    const auto end = end_of_test();
    int made = 0;
    Reading all;
    // On a busy machine it takes longer until a reader has met both.
    const auto met_both = [&] { return all.missing > 0 && all.loads > all.missing; };
    while ((Steady::now() < end || (!met_both() && made < 1000)) && all.wrong.empty()) {
        for (const char* side : {"", "-wal", "-shm"}) std::filesystem::remove(file().string() + side);
        pid_t creators[2];
        for (pid_t& creator : creators) creator = test::in_child([&] { open().begin_run(run_info()); });
        std::atomic<bool> stop = false;
        Reading reading;
        std::thread reader([&] { reading = read_until(stop); });
        for (const pid_t creator : creators) EXPECT_EQ(test::wait_for(creator), 0);
        stop = true;
        reader.join();
        all.loads += reading.loads;
        all.missing += reading.missing;
        all.wrong = reading.wrong;
        ++made;
    }
    EXPECT_EQ(all.wrong, "");
    EXPECT_GT(all.missing, 0);
    EXPECT_GT(all.loads, all.missing);
    std::printf("%d databases made by two processes each: %lld loads, of which %lld found none yet\n", made,
                static_cast<long long>(all.loads), static_cast<long long>(all.missing));
}

TEST_F(StoreStressTest, AProcessKilledWhileItMakesADatabaseLeavesAWholeOneOrNone) {
    int none = 0;
    int whole = 0;
    const auto before = Steady::now();
    ASSERT_EQ(test::wait_for(test::in_child([&] { open(); })), 0);
    const auto once = Steady::now() - before;
    const auto end = end_of_test();
    for (int i = 0; Steady::now() < end || ((none == 0 || whole == 0) && i < 10000); ++i) {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directory(folder_);
        const pid_t creator = test::in_child([&] {
            open();
            pause();
        });
        // Up to twice what it took, then four times, and so on: the machine may have become busy.
        std::this_thread::sleep_for(once * (i % 64) * (1 + i / 64) / 32);
        kill(creator, SIGKILL);
        test::wait_for(creator);
        if (!std::filesystem::exists(file())) {
            ++none;
            continue;
        }
        ++whole;
        ASSERT_EQ(Store::open(file(), Mode::read_only).check(), std::vector<std::string>{});
    }
    EXPECT_GT(none, 0);
    EXPECT_GT(whole, 0);
    std::printf("killed %d times: %d times no database, %d times a whole one\n", none + whole, none, whole);
}

}  // namespace
}  // namespace gnntune::store

// Many writers, killed writers, full disks: what was committed is there, and nothing else is.
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "tests/unit/common/child_process.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

using test::in_child;
using test::wait_for;

class StoreConcurrencyTest : public StoreTest {
protected:
    /// Adds `count` rows as writer `writer`, everything upserted anew as a tool would.
    void write_rows(int writer, int count) const {
        Store store = open();
        const std::int64_t run = store.begin_run(run_info());
        for (int i = 0; i < count; ++i) {
            const Key key = key_in(store, 1 + i % 7);
            store.add_measurement(
                run, key, measurement("spmm.w" + std::to_string(writer) + "{i=" + std::to_string(i) + "}", 1 + i));
        }
        store.end_run(run);
    }
    std::int64_t count(const std::string& sql) const {
        return Store::open(file(), Mode::read_only).database().integer(sql, "counting");
    }
};

TEST_F(StoreConcurrencyTest, TwoProcessesLoseNothingAndAgreeOnIds) {
    // The file does not exist yet: both create it.
    const pid_t a = in_child([&] { write_rows(1, 200); });
    const pid_t b = in_child([&] { write_rows(2, 200); });
    EXPECT_EQ(wait_for(a), 0);
    EXPECT_EQ(wait_for(b), 0);
    EXPECT_EQ(count("SELECT count(*) FROM measurement"), 400);
    EXPECT_EQ(count("SELECT count(DISTINCT config) FROM measurement"), 400);
    EXPECT_EQ(count("SELECT count(*) FROM graph"), 1);
    EXPECT_EQ(count("SELECT count(*) FROM problem"), 7);
    EXPECT_EQ(count("SELECT count(*) FROM run WHERE ended_at NOT NULL"), 2);
    EXPECT_EQ(Store::open(file(), Mode::read_only).check(), std::vector<std::string>{});
}

TEST_F(StoreConcurrencyTest, SixteenThreadsLoseNothing) {
    constexpr int kThreads = 16;
    constexpr int kRows = 40;
    std::vector<std::thread> threads;
    std::vector<std::string> errors(kThreads);
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            try {
                write_rows(t, kRows);
            } catch (const std::exception& error) {
                errors[static_cast<std::size_t>(t)] = error.what();
            }
        });
    }
    for (auto& thread : threads) thread.join();
    for (const auto& error : errors) EXPECT_EQ(error, "");
    EXPECT_EQ(count("SELECT count(*) FROM measurement"), kThreads * kRows);
    EXPECT_EQ(count("SELECT count(DISTINCT config) FROM measurement"), kThreads * kRows);
    EXPECT_EQ(Store::open(file(), Mode::read_only).check(), std::vector<std::string>{});
}

// Locks of fcntl(2) belong to the process. A connection that lost them would see its log deleted by the next process
// that closes the file, and write into nothing.
TEST_F(StoreConcurrencyTest, AStoreKeepsItsLocksWhileItsProcessOpensTheFileAgain) {
    { write_rows(0, 1); }
    int to_writer[2];
    int to_reader[2];
    ASSERT_EQ(pipe(to_writer), 0);
    ASSERT_EQ(pipe(to_reader), 0);
    const auto await = [](const int* ends) {
        char go = 0;
        if (read(ends[0], &go, 1) != 1) throw std::runtime_error("the test is gone");
    };
    const auto tell = [](const int* ends) { return write(ends[1], "!", 1); };
    const pid_t writer = in_child([&] {
        await(to_writer);
        write_rows(1, 1);
    });
    const pid_t reader = in_child([&] {
        await(to_reader);
        if (count("SELECT count(*) FROM measurement") != 3) throw std::runtime_error("a row is lost");
    });

    Store store = open();
    const std::int64_t run = store.begin_run(run_info());
    open();
    Database::damage_of(file());
    ASSERT_EQ(tell(to_writer), 1);
    EXPECT_EQ(wait_for(writer), 0);
    store.add_measurement(run, key_in(store), measurement("spmm.kept", 1));
    ASSERT_EQ(tell(to_reader), 1);
    EXPECT_EQ(wait_for(reader), 0);
}

TEST_F(StoreConcurrencyTest, AKilledWriterLosesNothingThatWasCommitted) {
    for (const Journal journal : {Journal::wal, Journal::rollback}) {
        std::filesystem::remove(file());
        int pipe_ends[2];
        ASSERT_EQ(pipe(pipe_ends), 0);
        const pid_t child = in_child([&] {
            OpenOptions options;
            options.journal = journal;
            Store store = Store::open(file(), Mode::read_write_create, options);
            const std::int64_t run = store.begin_run(run_info());
            const Key key = key_in(store);
            const std::vector<PartVersion> parts{{Config::parse("spmm.part"), 1}};
            for (int i = 0;; ++i) {
                store.add_measurement(run, key,
                                      with_parts(measurement("spmm.a{i=" + std::to_string(i) + "}", 1), parts));
                if (write(pipe_ends[1], &i, sizeof i) != sizeof i) _exit(3);
            }
        });
        int last = -1;
        while (last < 300 && read(pipe_ends[0], &last, sizeof last) == sizeof last) {
        }
        kill(child, SIGKILL);
        EXPECT_EQ(wait_for(child), -SIGKILL);
        close(pipe_ends[1]);
        while (read(pipe_ends[0], &last, sizeof last) == sizeof last) {  // told before it died
        }
        close(pipe_ends[0]);

        Store store = open();
        const Key key = key_in(store);
        const AttemptSet done = store.done(key);
        ASSERT_GE(last, 300);
        for (int i = 0; i <= last; ++i) {
            EXPECT_TRUE(
                done.contains({"spmm.a{i=" + std::to_string(i) + "}", 1, Policy::hot, Clock::span, "spmm.part@1"}))
                << i;
        }
        // At most the one that it was not able to tell of; none without its part.
        EXPECT_LE(done.size(), static_cast<std::size_t>(last) + 2);
        EXPECT_EQ(store.check(), std::vector<std::string>{});
        EXPECT_FALSE(store.runs()[0].ended_at);
        store.add_measurement(store.begin_run(run_info()), key, measurement("spmm.next", 1));
    }
}

TEST_F(StoreConcurrencyTest, AFullDiskIsAnErrorInWordsAndLeavesTheFileSound) {
    { write_rows(0, 5); }
    const pid_t child = in_child([&] {
        signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{2000000, 2000000};  // no file may grow beyond this
        setrlimit(RLIMIT_FSIZE, &limit);
        try {
            write_rows(1, 100000);
        } catch (const Error& error) {
            const std::string words = error.what();
            const bool fine =
                error.kind() == ErrorKind::database && words.find("what was committed before is safe") != words.npos;
            std::fprintf(stderr, "said: %s\n", error.what());
            _exit(fine ? 42 : 43);
        }
    });
    EXPECT_EQ(wait_for(child), 42);
    Store store = open();
    EXPECT_EQ(store.check(), std::vector<std::string>{});
    EXPECT_GT(store.database().integer("SELECT count(*) FROM measurement", "counting"), 50);
    write_rows(2, 10);
}

TEST_F(StoreConcurrencyTest, WaitsForALockAndThenSaysWhoIsAtFault) {
    Store store = open();
    const Database other = Database::open(file(), Access::read_write_create);
    {
        std::thread release;
        std::atomic<bool> asking = false;
        std::atomic<bool> released = false;
        Transaction held(other);
        release = std::thread([&] {
            while (!asking) std::this_thread::yield();
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            released = true;
            held.commit();
        });
        asking = true;
        EXPECT_NO_THROW(store.graph_id(graph()));
        EXPECT_TRUE(released) << "it did not wait for the lock";
        release.join();
    }
    const Transaction held(other);
    store.database().execute("PRAGMA busy_timeout = 50", "losing patience");
    const std::string words = error_of(ErrorKind::database, [&] { store.begin_run(run_info()); });
    EXPECT_TRUE(contains(words, "another process kept the file locked"));
}

}  // namespace
}  // namespace gnntune::store

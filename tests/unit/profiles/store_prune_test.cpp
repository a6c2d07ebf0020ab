// What prune() takes, and what it leaves.
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <map>
#include <thread>

#include "tests/unit/common/cpu_time.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

std::map<std::string, int> configs_of(const Store& store, const Key& key) {
    std::map<std::string, int> count;
    for (const Measurement& m : store.measurements(key)) ++count[m.config.text()];
    return count;
}

TEST_F(StoreTest, PruningLeavesTheNewestOfEachConfigWithItsCounters) {
    Store store = open();
    const std::int64_t run = store.begin_run(run_info());
    const Key key = key_in(store);
    Measurement counted = measurement("spmm.a", 5);
    counted.counters.emplace();
    (*counted.counters).*kCounterFields[0].value = 1;
    store.add_measurement(run, key, counted);
    store.add_measurement(run, key, measurement("spmm.a", 4));
    store.add_measurement(run, key, measurement("spmm.a", 3));
    store.add_measurement(run, key, measurement("spmm.b", 2));
    store.add_measurement(run, key_in(store, 128), measurement("spmm.a", 9));

    EXPECT_EQ(store.prune(true).superseded, 2);
    EXPECT_EQ(store.measurements(key).size(), 4u) << "a dry run has changed something";
    const PruneReport report = store.prune(false);

    EXPECT_EQ(report.superseded, 2);
    EXPECT_EQ(report.outdated, 0);
    const auto left = store.measurements(key);
    ASSERT_EQ(left.size(), 2u);
    EXPECT_EQ(left[0].median_us, 3);
    EXPECT_EQ(store.measurements(key_in(store, 128)).size(), 1u);
    EXPECT_EQ(store.database().integer("SELECT count(*) FROM counter", "counting"), 0);
    EXPECT_EQ(store.prune(false).superseded, 0);
}

TEST_F(StoreTest, PruningSaysThatTheFileCouldNotBeMadeSmaller) {
    Store store = open();
    const std::int64_t run = store.begin_run(run_info());
    const Key key = key_in(store);
    store.add_measurement(run, key, measurement("spmm.a", 4));
    store.add_measurement(run, key, measurement("spmm.a", 3));
    {
        Statement reading = store.database().prepare("SELECT * FROM graph", "reading");
        ASSERT_TRUE(reading.step());
        const PruneReport report = store.prune(false);
        EXPECT_EQ(report.superseded, 1);
        EXPECT_TRUE(contains(report.not_smaller, "while making the file smaller: "));
    }
    EXPECT_EQ(store.measurements(key).size(), 1U);
    EXPECT_EQ(store.prune(false).not_smaller, "");
}

TEST_F(StoreTest, PruningDoesNotLetAFailureReplaceASuccess) {
    Store store = open();
    const std::int64_t run = store.begin_run(run_info());
    const Key key = key_in(store);
    store.add_measurement(run, key, measurement("spmm.a", 5));
    store.add_measurement(run, key, not_ok("spmm.a", MeasurementStatus::failed, "out of memory"));
    store.add_measurement(run, key, not_ok("spmm.b", MeasurementStatus::failed, "out of memory"));
    store.add_measurement(run, key, measurement("spmm.b", 6));
    // One failure stands in the place of another.
    store.add_measurement(run, key, not_ok("spmm.c", MeasurementStatus::failed, "out of memory"));
    store.add_measurement(run, key, not_ok("spmm.c", MeasurementStatus::failed, "out of memory"));

    EXPECT_EQ(store.prune(false).superseded, 2);
    EXPECT_EQ(configs_of(store, key), (std::map<std::string, int>{{"spmm.a", 2}, {"spmm.b", 1}, {"spmm.c", 1}}));
}

TEST_F(StoreTest, PruningTakesOlderVersionsThatNobodyChose) {
    Store store = open();
    const std::int64_t run = store.begin_run(run_info());
    const Key key = key_in(store);
    const auto versioned = [](const char* config, std::int32_t version) {
        Measurement m = measurement(config, 5);
        m.variant_version = version;
        return m;
    };
    for (const std::int32_t version : {1, 2}) {
        store.add_measurement(run, key, versioned("spmm.a{x=1}", version));
        store.add_measurement(run, key, versioned("spmm.a{x=2}", version));
    }
    Choice choice;
    choice.config = Config::parse("spmm.a{x=1}");
    choice.variant_version = 1;
    choice.source = "measured";
    choice.expected_us = 5;
    store.set_choice(run, key, Policy::hot, Clock::span, choice);

    const PruneReport report = store.prune(false);

    EXPECT_EQ(report.outdated, 1);
    EXPECT_EQ(configs_of(store, key), (std::map<std::string, int>{{"spmm.a{x=1}", 2}, {"spmm.a{x=2}", 1}}));
}

/// `rows` attempts on each of as many configs as give `total`, every seventh of them failed.
void add_repeats(const Store& store, std::int64_t total, std::int64_t rows) {
    const Database& file = store.database();
    set_patience({std::nullopt, nullptr});
    file.execute("PRAGMA synchronous = OFF", "hurrying");
    file.execute("WITH RECURSIVE n (x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n WHERE x < " +
                     std::to_string(total - 1) +
                     ") INSERT INTO measurement (graph_id, environment_id, problem_id, run_id, config, variant, "
                     "variant_version, policy, clock, status, median_us, samples, sm_clock_mhz, prepare_us, "
                     "workspace_bytes, format_bytes, deterministic, approximate, taken_at) "
                     "SELECT graph_id, environment_id, problem_id, run_id, 'spmm.a{x=' || (x / " +
                     std::to_string(rows) +
                     ") || '}', variant, variant_version, policy, clock, iif(x % 7 = 0, 'failed', 'ok'), median_us, "
                     "samples, sm_clock_mhz, prepare_us, workspace_bytes, format_bytes, deterministic, approximate, "
                     "taken_at FROM n, (SELECT * FROM measurement WHERE id = 1)",
                 "adding repeats");
    set_patience({});
}

// Repeats are neither compared by pairs nor removed under one long lock.
TEST_F(StoreTest, PruningManyRepeatsTakesSecondsOfAProcessorAndKeepsNobodyWaiting) {
    constexpr std::int64_t kRows = 300'000;
    constexpr std::int64_t kRepeats = 50'000;
    Store store = open();
    const std::int64_t run = store.begin_run(run_info());
    const Key key = key_in(store);
    store.add_measurement(run, key, measurement("spmm.a", 5));
    add_repeats(store, kRows, kRepeats);
    std::atomic<bool> done{false};
    double longest_s = 0;  // that this thread has computed while the other waited once
    clockid_t own_clock{};
    ASSERT_EQ(pthread_getcpuclockid(pthread_self(), &own_clock), 0);
    std::thread other([&] {
        Store writer = open();
        while (!done) {
            const double begin = test::seconds_of(own_clock);
            writer.add_measurement(run, key, measurement("spmm.b", 5));
            longest_s = std::max(longest_s, test::seconds_of(own_clock) - begin);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    });
    const double begin = test::thread_cpu_seconds();
    const PruneReport report = store.prune(false);
    const double took_s = test::thread_cpu_seconds() - begin;
    done = true;
    other.join();
    EXPECT_GE(report.superseded, kRows - 2 * kRows / kRepeats) << "a failure that came last stays too";
    EXPECT_LT(took_s, 30) << "by pairs it would be many minutes";
    EXPECT_LT(longest_s, 4) << "another writer gives up after five seconds";
    const auto left = configs_of(store, key);
    EXPECT_EQ(left.size(), static_cast<std::size_t>(kRows / kRepeats) + 2);
    EXPECT_EQ(left.at("spmm.a{x=3}"), 1);
}

// What was listed may have other numbers when it is removed: nothing is removed that nothing stands for.
TEST_F(StoreTest, PruningBesideAMergeKeepsOneOfEach) {
    Store store = open();
    const std::int64_t run = store.begin_run(run_info());
    const Key key = key_in(store);
    store.add_measurement(run, key, measurement("spmm.a", 5));
    add_repeats(store, 40'000, 20);
    std::atomic<bool> done{false};
    std::thread other([&] {
        Store writer = open();
        while (!done) {
            Transaction transaction = writer.transaction();
            writer.database().execute(
                "PRAGMA defer_foreign_keys = ON; UPDATE measurement SET id = -1 - id; UPDATE measurement SET id = -id",
                "numbering anew");
            transaction.commit();
        }
    });
    store.prune(false);
    done = true;
    other.join();
    for (const auto& [config, count] : configs_of(store, key)) EXPECT_GE(count, 1) << config;
    EXPECT_EQ(configs_of(store, key).size(), 2001U);
}

/// Names, sizes, times and content of everything in a folder.
std::map<std::string, std::string> state_of(const std::filesystem::path& folder) {
    std::map<std::string, std::string> state;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        std::ifstream in(entry.path(), std::ios::binary);
        std::string bytes((std::istreambuf_iterator<char>(in)), {});
        state[entry.path().filename().string()] =
            std::to_string(entry.last_write_time().time_since_epoch().count()) + " " + std::move(bytes);
    }
    state["."] = std::to_string(std::filesystem::last_write_time(folder).time_since_epoch().count());
    return state;
}

TEST_F(StoreTest, UntouchedIsReadWithoutAnyTrace) {
    const auto expect_no_trace = [&](const char* what, std::int64_t superseded) {
        const auto before = state_of(folder_);
        EXPECT_EQ(Store::open(file(), Mode::untouched).prune(true).superseded, superseded) << what;
        EXPECT_EQ(Database::damage_of(file(), Access::untouched), std::nullopt) << what;
        Store::copy_untouched(file(), std::filesystem::temp_directory_path() / (folder_.filename().string() + ".copy"));
        std::filesystem::remove(std::filesystem::temp_directory_path() / (folder_.filename().string() + ".copy"));
        EXPECT_TRUE(state_of(folder_) == before) << what;
    };
    {
        Store store = open();
        const std::int64_t run = store.begin_run(run_info());
        const Key key = key_in(store);
        store.add_measurement(run, key, measurement("spmm.a", 4));
        store.add_measurement(run, key, measurement("spmm.a", 3));
        // As a process that is killed leaves it.
        std::filesystem::copy_file(file(), file("killed.db"));
        std::filesystem::copy_file(file("test.db-wal"), file("killed.db-wal"));
        std::filesystem::copy_file(file("test.db-shm"), file("killed.db-shm"));
    }
    expect_no_trace("closed", 1);
    for (const char* side : {"", "-wal", "-shm"}) {
        std::filesystem::rename(file(std::string("killed.db") + side), file(std::string("test.db") + side));
    }
    expect_no_trace("killed", 1);
    std::filesystem::remove(file("test.db-shm"));
    expect_no_trace("a log without its index", 1);
    {
        OpenOptions options;
        options.journal = Journal::rollback;
        Store::open(file(), Mode::read_write_create, options);
    }
    expect_no_trace("no log", 1);
    const auto before = state_of(folder_);
    EXPECT_TRUE(
        contains(error_of(ErrorKind::database, [&] { Store::open(file("none.db"), Mode::untouched); }), "no such"));
    EXPECT_TRUE(state_of(folder_) == before);
}

}  // namespace
}  // namespace gnntune::store

// What prune() takes, and what it leaves.
#include <map>

#include "tests/unit/store_fixture.hpp"

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

    EXPECT_EQ(store.prune(false).superseded, 1);
    EXPECT_EQ(configs_of(store, key), (std::map<std::string, int>{{"spmm.a", 2}, {"spmm.b", 1}}));
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

}  // namespace
}  // namespace gnntune::store

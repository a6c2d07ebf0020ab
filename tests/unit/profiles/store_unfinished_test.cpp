// Attempts whose times could not be had: they are taken again, and never stand in for a time.
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

class StoreUnfinishedTest : public StoreTest {
protected:
    static constexpr const char* kConfig = "spmm.rows{vec=4}";

    static Measurement disturbed(const std::string& at) {
        Measurement m = not_ok(kConfig, MeasurementStatus::failed,
                               std::string(kDisturbed) + "40 of 40 calls waited for a processor");
        m.taken_at = at;
        return m;
    }
    static Measurement timed(double us, const std::string& at) {
        Measurement m = measurement(kConfig, us);
        m.taken_at = at;
        return m;
    }
    Store at(const std::string& name) const { return Store::open(file(name), Mode::read_write_create); }
    static void add(Store& store, const std::string& command, const Measurement& m) {
        store.add_measurement(store.begin_run({command, "0.1.0", "abc", 1, "host"}), key_in(store), m);
    }
    static void expect_good(const Store& store, double us) {
        ASSERT_EQ(store.best().size(), 1U) << "the good time is hidden";
        const auto rows = store.measurements(key_in(const_cast<Store&>(store)));
        ASSERT_EQ(rows.size(), 1U);
        EXPECT_EQ(rows.front().median_us, us);
        EXPECT_TRUE(store.unfinished().empty());
        EXPECT_EQ(store.check(), std::vector<std::string>{});
    }
};

TEST_F(StoreUnfinishedTest, WhatCouldNotBeTimedIsListedAndTakenAgain) {
    Store store = open();
    add(store, "tune", disturbed("2026-11-21T09:30:00Z"));

    EXPECT_TRUE(store.done(key_in(store)).empty());
    const auto unfinished = store.unfinished();
    ASSERT_EQ(unfinished.size(), 1U);
    EXPECT_EQ(unfinished.front().graph_name, "cora");
    EXPECT_EQ(unfinished.front().disturbed, 1);
    EXPECT_EQ(unfinished.front().stopped_early, 0);
    EXPECT_EQ(store.check(), std::vector<std::string>{}) << "no fault of the file";

    add(store, "tune again", timed(10, "2026-11-21T09:40:00Z"));
    EXPECT_TRUE(store.unfinished().empty());
    EXPECT_EQ(store.done(key_in(store)).size(), 1U);
    EXPECT_EQ(store.best().size(), 1U);
}

TEST_F(StoreUnfinishedTest, ATimeThatIsThereStays) {
    Store store = open();
    add(store, "tune", timed(10, "2026-11-21T09:30:00Z"));
    add(store, "tune --again", disturbed("2026-11-21T09:40:00Z"));
    expect_good(store, 10);
}

TEST_F(StoreUnfinishedTest, OfAnotherVersionOrPolicyItIsAnotherAttempt) {
    Store store = open();
    add(store, "tune", timed(10, "2026-11-21T09:30:00Z"));
    Measurement newer = disturbed("2026-11-21T09:40:00Z");
    newer.variant_version = 2;
    add(store, "tune", newer);
    Measurement cold = disturbed("2026-11-21T09:40:00Z");
    cold.policy = Policy::cold;
    add(store, "tune", cold);
    EXPECT_EQ(store.measurements(key_in(store)).size(), 3U);
}

TEST_F(StoreUnfinishedTest, AMergeLetsItReplaceNoTimeWhicheverIsNewer) {
    for (const bool disturbed_later : {false, true}) {
        for (const bool disturbed_here : {false, true}) {
            const std::string name = std::string(disturbed_later ? "later" : "earlier") + (disturbed_here ? "1" : "2");
            Store here = at(name + "_here.db");
            Store there = at(name + "_there.db");
            add(disturbed_here ? here : there, "tune",
                disturbed(disturbed_later ? "2026-11-21T10:00:00Z" : "2026-11-21T09:00:00Z"));
            add(disturbed_here ? there : here, "other", timed(10, "2026-11-21T09:30:00Z"));

            here.merge(there.path());
            expect_good(here, 10);
            const MergeReport again = here.merge(there.path());
            EXPECT_EQ(again.measurements, 0);
            expect_good(here, 10);
        }
    }
}

TEST_F(StoreUnfinishedTest, AMergeKeepsWhatNeitherCouldTime) {
    Store here = at("here.db");
    Store there = at("there.db");
    add(there, "tune", disturbed("2026-11-21T09:30:00Z"));
    here.merge(there.path());
    EXPECT_EQ(here.unfinished().size(), 1U);
}

TEST_F(StoreUnfinishedTest, ARowThatStoppedEarlyCountsAndIsTakenAgain) {
    Store store = open();
    Measurement early = timed(10, "2026-11-21T09:30:00Z");
    early.reason = std::string(kStoppedEarly) + "5 of at least 20 calls were timed";
    early.samples = 5;
    add(store, "tune --budget 1s", early);

    EXPECT_EQ(store.best().size(), 1U);
    EXPECT_TRUE(store.done(key_in(store)).empty());
    ASSERT_EQ(store.unfinished().size(), 1U);
    EXPECT_EQ(store.unfinished().front().stopped_early, 1);

    add(store, "tune", timed(11, "2026-11-21T09:40:00Z"));
    EXPECT_EQ(store.done(key_in(store)).size(), 1U);
    EXPECT_TRUE(store.unfinished().empty());
}

}  // namespace
}  // namespace gnntune::store

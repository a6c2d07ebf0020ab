// What is taken again, and what is not judged by it: stored times, times that could not be had, and a limited time.
#include <set>

#include "tests/unit/tuner/tune_fixture.hpp"

namespace gnntune::tuner {
namespace {

class TuneAgainTest : public TuneTest {
protected:
    /// Tunes, makes every row of `config` a million times too fast, as of old code or a wrong clock, and tunes again.
    void tune_again_over_a_stale_row(store::Store& store, const Config& config) {
        const auto at = key(store, options_.problems.front());
        run_ = store.begin_run(run_info());
        for (Measurement m : store.measurements(at)) {
            if (m.config != config) continue;
            for (double* us : {&m.median_us, &m.q1_us, &m.q3_us, &m.min_us, &m.ci_low_us, &m.ci_high_us}) *us /= 1e6;
            store.add_measurement(run_, at, m);
            break;
        }
        options_.again = true;
        options_.measuring.abandon_factor = 1e4;
        ASSERT_TRUE(tune(store));
    }
    std::int64_t run_ = 0;
};

TEST_F(TuneAgainTest, JudgesNoNewTimeByAnOldOne) {
    options_.problems = {spmm(Direction::forward)};
    store::Store store = open();
    ASSERT_TRUE(tune(store));
    const auto at = key(store, options_.problems.front());
    const Config stale = Config::parse("spmm.eigen");
    ASSERT_NO_FATAL_FAILURE(tune_again_over_a_stale_row(store, stale));

    std::size_t taken = 0;
    for (const auto& row : store.stored_measurements(at)) {
        if (row.run <= run_ || row.measurement.status == MeasurementStatus::refused) continue;
        EXPECT_EQ(row.measurement.status, MeasurementStatus::ok)
            << row.measurement.config.text() << ": " << row.measurement.reason;
        ++taken;
    }
    GraphWorkload graph(registry_, cpu_device(), csr_);
    options_.again = false;
    EXPECT_EQ(taken, Tuner(registry_, cpu_device(), store).plan(graph, record_, options_).front().configs);
    const auto choice = store.choice(at, Policy::hot, Clock::host);
    ASSERT_TRUE(choice);
    EXPECT_GT(choice->expected_us, 1e-2);
}

TEST_F(TuneAgainTest, ASearchTakesWhatAnOldTimeWouldDecide) {
    options_.problems = {spmm(Direction::forward)};
    store::Store store = open();
    ASSERT_TRUE(tune(store));
    const auto at = key(store, options_.problems.front());
    // None that the search has to look at.
    GraphWorkload graph(registry_, cpu_device(), csr_);
    const Query query = graph.graph().query(options_.problems.front());
    Config stale;
    for (const Measurement& m : store.measurements(at)) {
        const Variant* v = registry_.find(m.config.variant);
        if (m.status == MeasurementStatus::ok && !(m.config.params == v->default_params(query))) stale = m.config;
    }
    ASSERT_FALSE(stale.variant.empty());
    options_.exhaustive = false;
    options_.max_configs = 1;
    ASSERT_NO_FATAL_FAILURE(tune_again_over_a_stale_row(store, stale));

    const auto choice = store.choice(at, Policy::hot, Clock::host);
    ASSERT_TRUE(choice);
    EXPECT_GT(choice->expected_us, 1e-2) << choice->config.text();
    std::int64_t newest = 0;
    for (const auto& row : store.stored_measurements(at)) {
        if (row.measurement.config == stale) newest = row.run;
    }
    EXPECT_GT(newest, run_) << "the time that would decide was not taken again";
}

/// Stored as it is where other programs had the processor.
Measurement could_not_be_timed(Measurement m) {
    m.status = MeasurementStatus::failed;
    m.reason = kDisturbed;
    m.reason += "40 of 40 calls waited for a processor";
    m.samples = 0;
    return m;
}

TEST_F(TuneTest, WhatCouldNotBeTimedIsMeasuredLater) {
    options_.problems = {spmm(Direction::forward)};
    store::Store store = open();
    ASSERT_TRUE(tune(store));
    const auto at = key(store, options_.problems.front());
    const auto all = store.measurements(at);
    store::Store busy = store::Store::open(file("busy.db"), store::Mode::read_write_create);
    const auto there = key(busy, options_.problems.front());
    const std::int64_t run = busy.begin_run(run_info());
    std::set<std::string> missing;
    for (const Measurement& m : all) {
        const bool lost = missing.size() < 2 && m.status == MeasurementStatus::ok;
        busy.add_measurement(run, there, lost ? could_not_be_timed(m) : m);
        if (lost) missing.insert(m.config.text());
    }
    ASSERT_EQ(missing.size(), 2U);
    ASSERT_EQ(busy.unfinished().size(), 1U);
    EXPECT_EQ(busy.unfinished().front().disturbed, 2);
    GraphWorkload graph(registry_, cpu_device(), csr_);
    EXPECT_EQ(Tuner(registry_, cpu_device(), busy).plan(graph, record_, options_).front().open, 2U);

    ASSERT_TRUE(tune(busy));

    std::set<std::string> measured;
    for (const auto& row : busy.stored_measurements(there)) {
        if (row.run > run) measured.insert(row.measurement.config.text());
    }
    EXPECT_EQ(measured, missing);
    EXPECT_TRUE(busy.unfinished().empty());
}

TEST_F(TuneTest, ATimeThatIsUpLeavesTheDefaultAndAChoice) {
    for (const bool exhaustive : {false, true}) {
        options_.exhaustive = exhaustive;
        options_.problems = {spmm(Direction::forward, 16), spmm(Direction::forward, 64)};
        options_.limited = true;
        options_.measuring.enough_when_stopped = 3;
        options_.measuring.min_samples = 20;
        options_.measuring.max_samples = 100;
        store::Store store =
            store::Store::open(file(exhaustive ? "all.db" : "some.db"), store::Mode::read_write_create);

        EXPECT_FALSE(tune(store, [] { return true; }));

        GraphWorkload graph(registry_, cpu_device(), csr_);
        const Config standard = registry_.default_config(graph.graph().query(options_.problems.front()), {});
        const auto at = key(store, options_.problems.front());
        std::vector<Measurement> taken;
        for (Measurement& m : store.measurements(at)) {
            if (m.status != MeasurementStatus::refused) taken.push_back(std::move(m));
        }
        ASSERT_EQ(taken.size(), 1U);
        EXPECT_EQ(taken.front().config, standard);
        EXPECT_EQ(taken.front().status, MeasurementStatus::ok) << taken.front().reason;
        EXPECT_GE(taken.front().samples, 3);
        EXPECT_LT(taken.front().samples, 20);
        EXPECT_TRUE(taken.front().reason.starts_with(kStoppedEarly)) << taken.front().reason;
        const auto choice = store.choice(at, Policy::hot, Clock::host);
        ASSERT_TRUE(choice) << "what was measured is chosen from";
        EXPECT_EQ(choice->config, standard);
        EXPECT_TRUE(store.measurements(key(store, options_.problems.back())).empty());
        ASSERT_EQ(store.unfinished().size(), 1U);
        EXPECT_EQ(store.unfinished().front().stopped_early, 1);

        // With the time it needs it goes on: the default too gets all of its samples, and nothing is left out.
        EXPECT_TRUE(tune(store));
        std::size_t full = 0;
        for (const Measurement& m : store.measurements(at)) full += m.config == standard && m.samples >= 20 ? 1 : 0;
        EXPECT_EQ(full, 1U);
        EXPECT_TRUE(store.unfinished().empty());
        EXPECT_TRUE(store.choice(key(store, options_.problems.back()), Policy::hot, Clock::host));
        EXPECT_GT(store.format_builds(at.graph, at.environment).size(), 3U);
    }
}

TEST_F(TuneTest, WhatIsTakenAgainAndStoppedLeavesTheChoice) {
    options_.problems = {spmm(Direction::forward)};
    store::Store store = open();
    ASSERT_TRUE(tune(store));
    const auto at = key(store, options_.problems.front());
    const auto before = store.choice(at, Policy::hot, Clock::host);
    ASSERT_TRUE(before);
    options_.again = true;
    options_.limited = true;
    options_.measuring.enough_when_stopped = 3;

    EXPECT_FALSE(tune(store, [] { return true; }));

    const auto after = store.choice(at, Policy::hot, Clock::host);
    ASSERT_TRUE(after);
    EXPECT_EQ(after->config, before->config);
    EXPECT_EQ(after->expected_us, before->expected_us);
}

}  // namespace
}  // namespace gnntune::tuner

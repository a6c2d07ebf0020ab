// Tuning into a store: wrong variants beside the real ones are kept as wrong and never chosen; stopped tunings go on.
#include "tuner/tune.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/conformance/faulty/faulty.hpp"
#include "tests/unit/tuner/tune_fixture.hpp"
#include "tuner/fit.hpp"

namespace gnntune::tuner {
namespace {

TEST_F(TuneTest, AWrongVariantIsStoredAsWrongAndNeverChosen) {
    const Device device = cpu_device();
    std::set<std::string> wrong;
    for (const auto& faulty : conformance::faulty_variants(Backend::cpu)) {
        // The others break promises that the oracle does not see, or have other problems than the one below: the
        // conformance suite is there for them.
        if (faulty.caught_by != "oracle" && faulty.caught_by != "written") continue;
        Variant v = faulty.variant;
        if (!registry_.applicable(v, {spmm(Direction::reversed), 100, 100, 1000, nullptr, &device})) continue;
        v.default_rank = 1000;  // the default stays a right one
        registry_.add(v);
        wrong.insert(v.id);
    }
    ASSERT_GE(wrong.size(), 9u);
    // Weights, a width that is no multiple of four and more than 32, and an edge order that is not the caller's: every
    // fault shows.
    options_.problems = {spmm(Direction::reversed)};
    options_.constraints.allow_sampling = true;  // one of the faulty ones samples
    store::Store store = open();

    ASSERT_TRUE(tune(store));

    const auto at = key(store, options_.problems.front());
    std::set<std::string> stored;
    std::int64_t right = 0;
    for (const Measurement& m : store.measurements(at)) {
        if (!wrong.contains(m.config.variant)) {
            EXPECT_TRUE(m.status == MeasurementStatus::ok || m.status == MeasurementStatus::abandoned)
                << m.config.text() << ": " << m.reason;
            right += m.status == MeasurementStatus::ok ? 1 : 0;
            continue;
        }
        stored.insert(m.config.variant);
        EXPECT_EQ(m.status, MeasurementStatus::wrong) << m.config.text();
        EXPECT_EQ(m.samples, 0) << m.config.text();
        EXPECT_GT(m.worst_ratio, 1) << m.config.text();
        EXPECT_NE(m.reason, "") << m.config.text();
    }
    EXPECT_EQ(stored, wrong);
    EXPECT_GT(right, 0);
    const auto choice = store.choice(at, Policy::hot, Clock::host);
    ASSERT_TRUE(choice);
    EXPECT_FALSE(wrong.contains(choice->config.variant)) << choice->config.text();
    for (const Config& tied : choice->tied) EXPECT_FALSE(wrong.contains(tied.variant)) << tied.text();
    EXPECT_EQ(store.check(), std::vector<std::string>{});
}

TEST_F(TuneTest, SampledConfigsAreJudgedByTheExactResultAndChosenOnlyIfAllowed) {
    // Rows of about 800 edges: a sample of eight is the fastest by far. Nothing is given up, so that a busy machine, where
    // a call may wait for its threads, loses no rows.
    options_.measuring.abandon_factor = 1e9;
    csr_ = test::csr_of(400, 400, test::random_edges(400, 400, 400 * 800, 1, 7));
    sort_columns(csr_);
    options_.problems = {spmm(Direction::forward, 64)};
    store::Store store = open();
    ASSERT_TRUE(tune(store));
    const auto at = key(store, options_.problems.front());
    for (const Measurement& m : store.measurements(at)) {
        EXPECT_FALSE(registry_.find(m.config.variant)->sampling) << "measured unasked: " << m.config.text();
    }
    const auto exact = store.choice(at, Policy::hot, Clock::host);
    if (!exact) GTEST_SKIP() << "other programs left no processor to time anything";
    EXPECT_FALSE(registry_.find(exact->config.variant)->approximate);

    options_.constraints.allow_sampling = true;
    ASSERT_TRUE(tune(store));
    const auto approximate = [&](const Config& config) { return registry_.find(config.variant)->approximate; };
    int left_out_edges = 0;
    int kept_all = 0;
    for (const Measurement& m : store.measurements(at)) {
        if (m.status != MeasurementStatus::ok) continue;
        EXPECT_LE(m.worst_ratio, 1) << m.config.text();  // right by its own definition
        const std::string* width = m.config.params.find("S");
        if (approximate(m.config) && width && *width != "1024") {
            ++left_out_edges;
            EXPECT_GT(m.max_error, 1e-3) << m.config.text();
            EXPECT_GT(m.mean_error, 1e-4) << m.config.text();
        } else {
            kept_all += approximate(m.config) ? 1 : 0;
            EXPECT_LT(m.max_error, 1e-5) << m.config.text();
        }
    }
    EXPECT_GT(left_out_edges, 5);
    EXPECT_GT(kept_all, 1);

    // Sampling alone allows no error, and an error alone no sampling.
    EXPECT_FALSE(approximate(store.choice(at, Policy::hot, Clock::host)->config));
    options_.constraints.allow_sampling = false;
    options_.constraints.max_error = 1;
    ASSERT_TRUE(tune(store));
    EXPECT_FALSE(approximate(store.choice(at, Policy::hot, Clock::host)->config));
    options_.constraints.allow_sampling = true;
    ASSERT_TRUE(tune(store));
    const auto sampled = store.choice(at, Policy::hot, Clock::host);
    EXPECT_TRUE(approximate(sampled->config)) << sampled->config.text();
}

TEST_F(TuneTest, AStoppedTuningGoesOnWithWhatIsMissing) {
    options_.problems = {spmm(Direction::forward, 16), spmm(Direction::forward, 64)};
    options_.group = 2;
    store::Store store = open();
    int asked = 0;

    EXPECT_FALSE(tune(store, [&] { return ++asked > 15; }));
    const auto before = store.measurements(key(store, options_.problems[0]));
    EXPECT_TRUE(tune(store));
    EXPECT_TRUE(tune(store));

    EXPECT_FALSE(before.empty());
    for (const Problem& problem : options_.problems) {
        std::set<std::string> configs;
        const auto rows = store.measurements(key(store, problem));
        for (const Measurement& m : rows) EXPECT_TRUE(configs.insert(m.config.text()).second) << m.config.text();
        GraphWorkload graph(registry_, cpu_device(), csr_);
        options_.problems = {problem};
        const auto plan = Tuner(registry_, cpu_device(), store).plan(graph, record_, options_);
        ASSERT_EQ(plan.size(), 1u);
        EXPECT_EQ(plan.front().configs, configs.size());
        EXPECT_EQ(plan.front().open, 0u);
        EXPECT_TRUE(store.choice(key(store, problem), Policy::hot, Clock::host));
    }
}

TEST_F(TuneTest, ASearchMeasuresFewerAndTheDefaultAlways) {
    options_.problems = {spmm(Direction::forward, 64)};
    options_.exhaustive = false;
    options_.max_configs = 4;
    store::Store store = open();

    ASSERT_TRUE(tune(store));

    const auto at = key(store, options_.problems.front());
    const auto rows = store.measurements(at);
    GraphWorkload graph(registry_, cpu_device(), csr_);
    const Query query = graph.graph().query(options_.problems.front());
    std::set<std::string> measured;
    std::size_t baselines = 0;
    for (const Measurement& m : rows) {
        if (m.status == MeasurementStatus::refused) continue;
        measured.insert(m.config.text());
        const Variant& v = *registry_.find(m.config.variant);
        baselines += v.baseline && m.config.params == v.default_params(query) ? 1 : 0;
    }
    EXPECT_TRUE(measured.contains(registry_.default_config(query, {}).text()));
    EXPECT_EQ(baselines, 1u);  // for ratios, beside the limit
    EXPECT_LE(measured.size(), 5u);
    EXPECT_TRUE(store.choice(at, Policy::hot, Clock::host));
    auto plan = Tuner(registry_, cpu_device(), store).plan(graph, record_, options_);
    EXPECT_GT(plan.front().configs, 5u);
    EXPECT_EQ(plan.front().open, 0u);

    // The same again measures nothing; more room measures more; everything, the rest.
    ASSERT_TRUE(tune(store));
    EXPECT_EQ(store.measurements(at).size(), rows.size());
    options_.max_configs = 6;
    plan = Tuner(registry_, cpu_device(), store).plan(graph, record_, options_);
    EXPECT_LE(plan.front().open, 2u);
    ASSERT_TRUE(tune(store));
    EXPECT_LE(store.measurements(at).size() - rows.size() + measured.size(), 7u);
    options_.exhaustive = true;
    ASSERT_TRUE(tune(store));
    plan = Tuner(registry_, cpu_device(), store).plan(graph, record_, options_);
    EXPECT_EQ(plan.front().open, 0u);
    EXPECT_EQ(store.measurements(at).size(), plan.front().configs + rows.size() - measured.size());
}

TEST_F(TuneTest, ASearchAsksTheModelOfItsProblem) {
    options_.problems = {spmm(Direction::forward, 64)};
    store::Store store = open();
    ASSERT_TRUE(tune(store));
    TrainingProblem learned;
    learned.problem = options_.problems.front();
    learned.device = cpu_device();
    learned.features = std::make_shared<const Features>(features_of(csr_.view()));
    for (const Measurement& m : store.measurements(key(store, learned.problem))) {
        if (m.median_us > 0) learned.configs.push_back({m.config, m.median_us, true, false});
    }
    const model::Model fitted = fit({learned}, registry_);
    int asked = 0;
    options_.exhaustive = false;
    options_.model = [&](const Problem& problem, Policy policy, Clock clock) {
        EXPECT_EQ(problem, options_.problems.front());
        EXPECT_EQ(policy, Policy::hot);
        EXPECT_EQ(clock, Clock::host);
        ++asked;
        return &fitted;
    };
    store::Store other = store::Store::open(file("other.db"), store::Mode::read_write_create);
    ASSERT_TRUE(tune(other));
    EXPECT_GT(asked, 0);
    EXPECT_TRUE(other.choice(key(other, options_.problems.front()), Policy::hot, Clock::host));
}

TEST_F(TuneTest, AStoppedSearchGoesOnWithWhatItKnows) {
    options_.problems = {spmm(Direction::forward, 64)};
    options_.exhaustive = false;
    store::Store store = open();
    int asked = 0;

    EXPECT_FALSE(tune(store, [&] { return ++asked > 5; }));
    const auto at = key(store, options_.problems.front());
    const std::size_t before = store.measurements(at).size();
    EXPECT_TRUE(tune(store));

    const auto rows = store.measurements(at);
    EXPECT_GT(rows.size(), before);
    std::set<std::string> configs;
    for (const Measurement& m : rows) EXPECT_TRUE(configs.insert(m.config.text()).second) << m.config.text();
    EXPECT_TRUE(store.choice(at, Policy::hot, Clock::host));
}

TEST_F(TuneTest, CostsOfFormatsThatAKillLeftOutAreMeasuredLater) {
    options_.problems = {spmm(Direction::forward)};
    store::Store store = open();
    ASSERT_TRUE(tune(store));
    const auto at = key(store, options_.problems.front());
    const auto all = store.format_builds(at.graph, at.environment);
    ASSERT_GT(all.size(), 1u);
    store::Store killed = store::Store::open(file("killed.db"), store::Mode::read_write_create);
    const auto half = key(killed, options_.problems.front());
    killed.put_format_build(half.graph, half.environment, all.front());

    ASSERT_TRUE(tune(killed));

    const auto completed = killed.format_builds(half.graph, half.environment);
    EXPECT_EQ(completed.size(), all.size());
    // What stood there was not measured again.
    EXPECT_NE(std::find(completed.begin(), completed.end(), all.front()), completed.end());
}

TEST_F(TuneTest, OnlyTheNewestRightRowOfAKnownConfigIsACandidate) {
    GraphWorkload graph(registry_, cpu_device(), csr_);
    const Query query = graph.graph().query(spmm(Direction::forward));
    const auto current = [&](Measurement m) {
        const Variant* v = registry_.find(m.config.variant);
        if (v) m.variant_version = v->version;
        return m;
    };
    const auto row = [&](const std::string& config, double median_us) {
        Measurement m = current(measurement(config, median_us));
        m.clock = Clock::host;
        return m;
    };
    Measurement older = row("spmm.cpu_rows{tile=16,row_block=16}", 1);
    older.variant_version = 99;
    const auto abandoned = [&] {
        Measurement m = row("spmm.cpu_rows{tile=16,row_block=64}", 2);
        m.status = MeasurementStatus::abandoned;
        return m;
    }();
    const std::vector<Measurement> rows{
        row("spmm.cpu_rows{tile=64,row_block=16}", 30),
        row("spmm.cpu_rows{tile=64,row_block=16}", 40),
        row("spmm.cpu_rows{tile=64,row_block=64}", 5),
        current(not_ok("spmm.cpu_rows{tile=64,row_block=64}", MeasurementStatus::wrong, "wrong after all")),
        older,
        abandoned,
        row("spmm.from_another_build", 3),
        row("spmm.cpu_rows{tile=17,row_block=16}", 4),
    };

    const auto candidates = candidates_of(registry_, query, rows);

    ASSERT_EQ(candidates.size(), 1u);
    EXPECT_EQ(candidates[0].config.text(), "spmm.cpu_rows{tile=64,row_block=16}");
    EXPECT_EQ(candidates[0].median_us, 40);
}

TEST_F(TuneTest, TuningAgainKeepsAChoiceThatIsAsGood) {
    options_.problems = {spmm(Direction::forward)};
    options_.measuring.abandon_factor = 1e9;
    store::Store store = open();
    ASSERT_TRUE(tune(store));
    const auto at = key(store, options_.problems.front());
    auto rows = store.measurements(at);
    const auto first = store.choice(at, Policy::hot, Clock::host);
    ASSERT_TRUE(first);
    // Newer rows: all as slow as each other, but for two that are a little faster, one of them chosen before.
    const std::int64_t run = store.begin_run(run_info());
    bool other = false;
    for (Measurement& m : rows) {
        if (m.status != MeasurementStatus::ok) continue;
        const bool before = m.config == first->config;
        m.median_us = before ? 101.5 : other ? 200 : 100;
        other = other || !before;
        m.prepare_us = 0;
        m.ci_low_us = 0.999 * m.median_us;
        m.ci_high_us = 1.001 * m.median_us;
        store.add_measurement(run, at, m);
    }
    ASSERT_TRUE(other);

    ASSERT_TRUE(tune(store));  // has nothing left to measure, and decides

    const auto second = store.choice(at, Policy::hot, Clock::host);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->config, first->config);
    EXPECT_TRUE(store::contains(second->reason, "chosen before"));
}

}  // namespace
}  // namespace gnntune::tuner

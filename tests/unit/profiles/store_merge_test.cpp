// Two databases become one: nothing lost, nothing twice, the newest counts.
#include "core/model/model_features.hpp"
#include "profiles/fields/features_json.hpp"
#include "tests/unit/common/small_graphs.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

class StoreMergeTest : public StoreTest {
protected:
    static Measurement taken(const std::string& config, double us, const std::string& at) {
        Measurement m = measurement(config, us);
        m.taken_at = at;
        return m;
    }
    Store at(const std::string& name) const { return Store::open(file(name), Mode::read_write_create); }
    static Key key_in(Store& store, const std::string& graph_name = "cora", std::uint64_t seed = 1, int k = 64) {
        return {store.graph_id(graph(graph_name, seed)), store.environment_id(environment()),
                store.problem_id(problem(k))};
    }
    static std::int64_t run_in(Store& store, const std::string& command) {
        return store.begin_run({command, "0.1.0", "abc", 1, "host"});
    }
    static std::vector<std::string> configs(const Store& store, const Key& key) {
        std::vector<std::string> out;
        for (const Measurement& m : store.measurements(key)) out.push_back(m.config.text());
        return out;
    }
};

TEST_F(StoreMergeTest, EverythingIsTakenOnceHoweverOften) {
    Store a = at("a.db");
    const Key key = key_in(a);
    a.add_measurement(run_in(a, "tune a"), key, measurement("spmm.rows{vec=4}", 10));
    {
        Store b = at("b.db");
        // Other ids there: another graph, environment and problem come first.
        (void)b.environment_id({Backend::cpu, "a CPU", "", 8, 1, 1, "", "", ""});
        const Key other = key_in(b, "pubmed", 2, 16);
        const std::int64_t run = run_in(b, "tune b");
        const std::int64_t counted = b.add_measurement(run, other, measurement("spmm.edges{items=2}", 20));
        Counters counters;
        counters.dram_read_bytes = 4096;
        b.put_counters(counted, counters);
        b.add_measurement(
            run, key_in(b, "Cora", 1),
            with_parts(measurement("spmm.pair{spmm=default}", 30), {{Config::parse("spmm.rows{vec=4}"), 3}}));
        b.put_format_build(other.graph, other.environment, {"csr", "sgt", Direction::forward, 55, 100});
        b.put_device_constant(other.environment, {"copy_gbps", 0, 0, 4000, "GB/s", ""});
    }

    const MergeReport first = a.merge(file("b.db"));

    EXPECT_EQ(first.measurements, 2);
    EXPECT_EQ(first.known, 0);
    EXPECT_EQ(first.graphs, 1);
    EXPECT_EQ(first.environments, 1) << "the CPU; the GPU is known";
    EXPECT_EQ(first.runs, 1);
    EXPECT_EQ(first.conflicts, std::vector<std::string>{});
    EXPECT_EQ(a.check(), std::vector<std::string>{});
    const Key pubmed = key_in(a, "pubmed", 2, 16);
    ASSERT_EQ(configs(a, pubmed), std::vector<std::string>{"spmm.edges{items=2}"});
    EXPECT_EQ(a.measurements(pubmed).front().counters->dram_read_bytes, 4096);
    ASSERT_EQ(configs(a, key).size(), 2U);
    ASSERT_EQ(a.measurements(key).back().parts.size(), 1U);
    EXPECT_EQ(a.measurements(key).back().parts.front().variant_version, 3);
    EXPECT_EQ(a.format_builds(pubmed.graph, pubmed.environment).size(), 1U);
    EXPECT_EQ(a.device_constants(pubmed.environment).size(), 1U);
    EXPECT_EQ(a.find_graphs("Cora").size(), 1U) << "the other name is kept";
    EXPECT_EQ(a.runs().size(), 2U);

    const MergeReport again = a.merge(file("b.db"));

    EXPECT_EQ(again.measurements, 0);
    EXPECT_EQ(again.known, 2);
    EXPECT_EQ(again.graphs + again.environments + again.runs, 0);
    EXPECT_EQ(configs(a, key).size(), 2U);
}

TEST_F(StoreMergeTest, TheNewestAttemptCountsWhicheverFileItComesFrom) {
    Store a = at("a.db");
    const Key key = key_in(a);
    const std::int64_t run = run_in(a, "tune a");
    Counters counters;
    counters.l2_hit_percent = 77;
    a.put_counters(a.add_measurement(run, key, taken("spmm.rows{vec=4}", 10, "2026-11-21T12:00:00Z")), counters);
    a.add_measurement(
        run, key,
        with_parts(taken("spmm.edges{items=2}", 9, "2026-11-21T12:00:01Z"), {{Config::parse("spmm.rows{vec=4}"), 1}}));
    {
        Store b = at("b.db");
        b.add_measurement(run_in(b, "tune b"), key_in(b), taken("spmm.rows{vec=4}", 50, "2026-11-20T12:00:00Z"));
    }

    a.merge(file("b.db"));

    const auto rows = a.stored_measurements(key);
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].measurement.median_us, 50) << "older ones first";
    EXPECT_EQ(rows[1].measurement.median_us, 10);
    ASSERT_TRUE(rows[1].measurement.counters);
    EXPECT_EQ(rows[1].measurement.counters->l2_hit_percent, 77) << "counters follow their measurement";
    EXPECT_EQ(rows[2].measurement.parts.size(), 1U) << "and parts";
    EXPECT_EQ(a.best().front().time_us, 9);
    EXPECT_EQ(a.check(), std::vector<std::string>{});
}

TEST_F(StoreMergeTest, FeaturesThatThisBuildUnderstandsStay) {
    const std::string known = features_text(features_of(test::csr_of(2, 2, {{0, 0}, {0, 1}, {1, 0}}).view()));
    const auto replaced = [&](const std::string& what, const std::string& by) {
        std::string text = known;
        text.replace(text.find(what), what.size(), by);
        EXPECT_FALSE(features_from(text)) << text;
        return text;
    };
    const auto features = [](const Store& s) { return s.graphs().front().record.features_json; };
    ASSERT_TRUE(features_from(known));
    EXPECT_TRUE(known.starts_with(R"({"blocks_32x32":1,"blocks_32x32_128":0,)")) << known;
    EXPECT_TRUE(known.ends_with(R"("tc_blocks_16x16":1,"tc_blocks_16x8":1})")) << known;
    EXPECT_TRUE(contains(known, R"("degree_mean":1.5,)")) << known;
    EXPECT_TRUE(contains(known, R"("row_degrees":[[1,1],[2,1]],)")) << known;
    int number = 0;
    for (const std::string& other :
         {std::string(R"({"m":3})"), replaced("\"blocks_32x32\":1,", ""),
          replaced("\"blocks_32x32\":1", "\"blocks_32x32\":-4"), replaced("\"blocks_32x32\":1", "\"blocks_32x32\":4"),
          replaced("[[1,1],[2,1]]", "[[1,1],[2,2]]"), replaced("\"distinct_cols_8\":2", "\"distinct_cols_8\":\"2\"")}) {
        SCOPED_TRACE(other);
        const std::string name = std::to_string(++number);
        Store a = at("a" + name + ".db");
        Store b = at("b" + name + ".db");
        GraphRecord record = graph("cora", 1);
        record.n_rows = record.n_cols = 2;
        record.m = 3;
        record.features_json = other;
        (void)a.graph_id(record);
        record.features_json = known;
        (void)b.graph_id(record);

        b.merge(file("a" + name + ".db"));
        EXPECT_EQ(features(b), known) << "what cannot be replaces nothing";
        a.merge(file("b" + name + ".db"));
        EXPECT_EQ(features(a), known);
    }
}

TEST_F(StoreMergeTest, WhatTheyDisagreeAboutIsSaidAndTheNewerChoiceStays) {
    Store a = at("a.db");
    const Key key = key_in(a);
    const std::int64_t run = run_in(a, "tune a");
    a.add_measurement(run, key, measurement("spmm.rows{vec=4}", 10));
    a.add_measurement(run, key, measurement("spmm.edges{items=2}", 12));
    Choice choice;
    choice.config = Config::parse("spmm.rows{vec=4}");
    choice.source = "measured";
    choice.reason = "fastest";
    choice.expected_us = 10;
    a.set_choice(run, key, Policy::hot, Clock::span, choice);
    {
        Store b = at("b.db");
        const Key there = key_in(b);
        const std::int64_t other = run_in(b, "tune b");
        b.add_measurement(other, there, not_ok("spmm.rows{vec=4}", MeasurementStatus::wrong, "element 3"));
        b.add_measurement(other, there, measurement("spmm.edges{items=2}", 11));
        choice.config = Config::parse("spmm.edges{items=2}");
        choice.expected_us = 11;
        b.set_choice(other, there, Policy::hot, Clock::span, choice);
    }

    const MergeReport report = a.merge(file("b.db"));

    ASSERT_EQ(report.conflicts.size(), 1U);
    EXPECT_NE(
        report.conflicts[0].find("spmm.rows{vec=4} is wrong there and ok here; both stay, and the one measured last"),
        std::string::npos)
        << report.conflicts[0];
    ASSERT_EQ(report.choice_conflicts.size(), 1U);
    const ChoiceConflict& chosen = report.choice_conflicts.front();
    EXPECT_NE(chosen.words.find("spmm.edges{items=2} was chosen there and spmm.rows{vec=4} here"), std::string::npos)
        << chosen.words;
    EXPECT_EQ(chosen.where.key, key);
    EXPECT_EQ(chosen.where.clock, Clock::span);
    ASSERT_EQ(report.open_choices.size(), 1U);
    EXPECT_EQ(report.open_choices.front().key, key);
    EXPECT_EQ(report.open_choices.front().clock, Clock::span);

    const MergeReport again = a.merge(file("b.db"));
    EXPECT_EQ(again.conflicts, std::vector<std::string>{}) << "it was said";
    EXPECT_TRUE(again.choice_conflicts.empty()) << again.choice_conflicts.front().words;
}

TEST_F(StoreMergeTest, OfModelsTheOneOfMoreGraphsStaysThenTheNewer) {
    const auto model = [](const std::string& bytes, const std::string& graphs, const std::string& fitted_at) {
        ModelRow row;
        row.bytes = bytes;
        row.training = R"({"graphs":)" + graphs + "}";
        row.scores = "{}";
        row.fitted_at = fitted_at;
        return row;
    };
    Store a = at("a.db");
    a.put_model(model("many", R"(["actor","bell","cora"])", "2026-11-20T00:00:00Z"));
    at("b.db").put_model(model("few", R"(["wing"])", "2026-11-22T00:00:00Z"));
    at("c.db").put_model(model("as many", R"(["x","y","z"])", "2026-11-21T00:00:00Z"));

    const MergeReport few = a.merge(file("b.db"));
    EXPECT_EQ(few.models, 0);
    EXPECT_EQ(a.models().front().bytes, "many");
    ASSERT_EQ(few.conflicts.size(), 1U);
    EXPECT_NE(few.conflicts[0].find("to 1 graphs there"), std::string::npos) << few.conflicts[0];
    EXPECT_NE(few.conflicts[0].find("to 3 here; the one here stands"), std::string::npos) << few.conflicts[0];
    EXPECT_EQ(a.merge(file("c.db")).models, 1);
    EXPECT_EQ(a.models().front().bytes, "as many");
    EXPECT_EQ(a.merge(file("c.db")).models, 0);
}

TEST_F(StoreMergeTest, AModelThatThisBuildReadsStays) {
    const auto model = [](std::int32_t features, const std::string& bytes) {
        ModelRow row;
        row.feature_version = features;
        row.bytes = bytes;
        row.training = R"({"graphs":["cora"]})";
        row.scores = "{}";
        row.fitted_at = "2026-11-20T00:00:00Z";
        return row;
    };
    // Other ops than the models' own, so that nobody looks into these bytes.
    Store a = at("a.db");
    a.put_model(model(model::kFeatureVersion + 1, "newer features"));
    at("b.db").put_model(model(model::kFeatureVersion - 1, "older features"));
    EXPECT_EQ(a.merge(file("b.db")).models, 0);
    EXPECT_EQ(a.models().front().bytes, "newer features");
    at("c.db").put_model(model(model::kFeatureVersion - 1, "older"));
    Store c = at("c.db");
    EXPECT_EQ(c.merge(file("a.db")).models, 1);
    EXPECT_EQ(c.models().front().bytes, "newer features");
}

TEST_F(StoreMergeTest, ReadsAFileThatAnotherProcessWrites) {
    Store a = at("a.db");
    Store b = at("b.db");
    b.add_measurement(run_in(b, "tune b"), key_in(b), measurement("spmm.rows{vec=4}", 10));
    Store writer = at("b.db");
    writer.database().execute("BEGIN IMMEDIATE", "holding the write lock");
    EXPECT_EQ(a.merge(file("b.db")).measurements, 1);
    writer.database().execute("ROLLBACK", "letting go");
}

TEST_F(StoreMergeTest, NewerRowsStayNewerWhereTheClockWasSetBack) {
    Store a = at("a.db");
    const Key key = key_in(a);
    const std::int64_t run = run_in(a, "tune a");
    a.add_measurement(run, key, taken("spmm.rows{vec=4}", 10, "2026-11-21T12:00:00Z"));
    a.add_measurement(run, key, taken("spmm.rows{vec=4}", 50, "2026-11-20T12:00:00Z"));
    {
        Store b = at("b.db");
        b.add_measurement(run_in(b, "tune b"), key_in(b, "pubmed", 2),
                          taken("spmm.rows{vec=4}", 7, "2026-11-19T12:00:00Z"));
    }
    a.merge(file("b.db"));
    ASSERT_EQ(a.measurements(key).size(), 2U);
    EXPECT_EQ(a.measurements(key).back().median_us, 50) << "taken last, whatever the clock said";
    for (const auto& best : a.best()) EXPECT_EQ(best.time_us, best.graph == "cora" ? 50 : 7);
    EXPECT_EQ(a.check(), std::vector<std::string>{});
}

TEST_F(StoreMergeTest, ARunThatHasEndedThereHasEndedHere) {
    Store a = at("a.db");
    const std::int64_t run = run_in(a, "tune a");
    a.add_measurement(run, key_in(a), measurement("spmm.a", 5));
    a.database().copy_to(file("ended.db"));
    a.database().copy_to(file("open.db"));
    at("ended.db").end_run(run);

    a.merge(file("ended.db"));

    ASSERT_EQ(a.runs().size(), 1U);
    EXPECT_TRUE(a.runs()[0].ended_at);
    a.merge(file("open.db"));
    EXPECT_TRUE(a.runs()[0].ended_at) << "a copy of before knows less";
}

TEST_F(StoreMergeTest, FilesOfAnyName) {
    Store a = at("a.db");
    for (const char* name : {":memory:", "file:x?mode=memory", "b c%20#d?.db"}) {
        const std::filesystem::path path = file("named") / name;
        std::filesystem::create_directories(file("named"));
        {
            Store b = Store::open(path, Mode::read_write_create);
            b.add_measurement(run_in(b, name), key_in(b, name, 7), measurement("spmm.rows{vec=4}", 10));
        }
        EXPECT_EQ(a.merge(path).runs, 1) << name;
    }
}

TEST_F(StoreMergeTest, RefusesItselfOtherFilesAndContradictions) {
    Store a = at("a.db");
    a.add_measurement(run_in(a, "tune a"), key_in(a), measurement("spmm.rows{vec=4}", 10));
    EXPECT_THROW((void)a.merge(file("a.db")), Error);
    EXPECT_THROW((void)a.merge(file("missing.db")), Error);
    EXPECT_FALSE(std::filesystem::exists(file("missing.db"))) << "looking does not create";
    write_file("text.db", "no database at all, just a longer text");
    EXPECT_THROW((void)a.merge(file("text.db")), Error);
    {
        Store b = at("b.db");
        GraphRecord other = graph();
        other.m += 1;
        (void)b.graph_id(other);
    }
    try {
        (void)a.merge(file("b.db"));
        FAIL() << "two sizes under one fingerprint";
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("10557 edges there, and 2708, 2708 and 10556 here"), std::string::npos)
            << e.what();
    }
    EXPECT_EQ(a.graphs().size(), 1U);
    EXPECT_EQ(a.check(), std::vector<std::string>{});
}

}  // namespace
}  // namespace gnntune::store

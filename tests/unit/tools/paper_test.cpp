// The engine behind `gnntune paper`: sheets and the crossing, on a small made-up database.
#include <gtest/gtest.h>

#include "core/common/error.hpp"
#include "profiles/fields/features_json.hpp"
#include "tests/unit/common/store_fixture.hpp"
#include "tools/paper/crossing.hpp"
#include "tools/paper/facts.hpp"
#include "tools/paper/sheet.hpp"

namespace gnntune::tools::paper {
namespace {

constexpr const char* kPapers = R"({"papers": [{
  "id": "made_up", "title": "t", "venue": "v", "device": "d",
  "graphs": {"A": {"paper": "Alpha", "name": "cora", "file": "cora.mtx"},
             "B": {"paper": "Beta", "name": "standin/b", "file": "standin/b"}},
  "items": [{
    "kind": "table", "number": "II", "alias": "2", "title": "t", "source": "s", "says": "p", "ours": "o",
    "model_title": "S",
    "sums": {"x": {"both": [{"op": "spmm", "variant": "spmm.gas", "times": 2}, {"build": "csr", "base": "coo"}]}},
    "columns": [
      {"key": "paper_ms", "title": "paper", "unit": "ms", "paper": true},
      {"key": "gar_us", "title": "gar", "unit": "us", "time": [{"op": "spmm", "variant": "spmm.gar"}]},
      {"key": "block64_us", "title": "gar of 64", "unit": "us",
       "time": [{"op": "spmm", "variant": ["spmm.gar"], "params": {"block": "64"}}]},
      {"key": "sum_ms", "title": "sum", "unit": "ms", "time": "both"},
      {"key": "share", "title": "share", "ratio": {"of": "gar_us", "over": ["gar_us", "block64_us"], "scale": 100}},
      {"key": "best", "title": "best", "argleast": {"any": "gar_us", "64": "block64_us"}},
      {"key": "gflops", "title": "rate", "gflops": [{"op": "spmm", "k": 64, "variant": "spmm.gar"}]},
      {"key": "edges", "title": "edges", "graph": "edges"}],
    "rows": [{"graph": "A", "model": "x", "widths": [64, 32], "paper": {"paper_ms": 1.5}},
             {"graph": "B", "model": "x", "k": 64, "paper": {"paper_ms": "OOM"}}],
    "average": {"of": ["gar_us"], "paper": {"paper_ms": 2.5}}}]}]})";

class PaperTest : public store::StoreTest {
protected:
    store::Key key(store::Store& store, std::int32_t k) { return key_in(store, k); }

    /// cora at k = 64 and 32, on two clocks and with history.
    void fill_store(store::Store& store) {
        const std::int64_t run = store.begin_run(run_info());
        const auto put = [&](std::int32_t k, const Measurement& m) { store.add_measurement(run, key(store, k), m); };
        put(64, measurement("spmm.gar{block=64}", 400));
        put(64, measurement("spmm.gar{block=64}", 40));  // newer: this one counts
        put(64, measurement("spmm.gar{block=128}", 20));
        put(64, measurement("spmm.gas{block=64}", 100));
        put(32, measurement("spmm.gar{block=64}", 10));
        Measurement early = measurement("spmm.gas{block=64}", 50);
        early.status = MeasurementStatus::abandoned;
        early.reason = "its fastest call took 5.0 times the best median";
        put(32, early);
        Measurement other_clock = measurement("spmm.gar{block=64}", 1);
        other_clock.clock = Clock::events;
        put(64, other_clock);
        for (const char* base : {"coo", "csr"}) {
            const bool raw = std::string(base) == "coo";
            store.put_format_build(1, 1, {base, "csr", Direction::forward, raw ? 1000.0 : 0.0, 4096});
            store.put_format_build(1, 1, {base, "coo", Direction::forward, raw ? 0.0 : 5.0, 4096});
        }
    }

    static const Cell& cell(const Sheet& sheet, std::size_t row, const std::string& column) {
        for (std::size_t c = 0; c < sheet.columns.size(); ++c) {
            if (sheet.columns[c].key == column) return sheet.rows.at(row).at(c);
        }
        ADD_FAILURE() << "no column " << column;
        static const Cell kNothing;
        return kNothing;
    }
    static double number(const Sheet& sheet, std::size_t row, const std::string& column) {
        const double* value = std::get_if<double>(&cell(sheet, row, column));
        EXPECT_NE(value, nullptr) << column;
        return value ? *value : 0.0;
    }
    static bool is_empty(const Sheet& sheet, std::size_t row, const std::string& column) {
        return std::holds_alternative<std::monostate>(cell(sheet, row, column));
    }

    Sheet fill_made_up(store::Store& store) {
        const auto papers = parse_papers(kPapers);
        Evidence evidence(registry_, &store);
        SheetOptions options;
        options.db = "my.db";
        return fill(papers[0], papers[0].items[0], evidence, options);
    }

    Registry registry_;  // empty, as a build without CUDA is to variants of the GPU
};

TEST_F(PaperTest, TimesComeFromTheNewestRowsOfOneClock) {
    store::Store store = open();
    fill_store(store);
    const Sheet sheet = fill_made_up(store);
    ASSERT_EQ(sheet.rows.size(), 3u);
    ASSERT_TRUE(sheet.source.has_value());
    EXPECT_EQ(sheet.source->clock, Clock::span) << "span fills more cells than events";
    EXPECT_DOUBLE_EQ(number(sheet, 0, "gar_us"), 30) << "20 at k=64 and 10 at k=32";
    EXPECT_DOUBLE_EQ(number(sheet, 0, "block64_us"), 50) << "40 and 10; 400 is older";
    EXPECT_DOUBLE_EQ(number(sheet, 0, "sum_ms"), (2 * 100 + 2 * 50 + 1000) / 1000.0);
    EXPECT_DOUBLE_EQ(number(sheet, 0, "share"), 100.0 * 30 / 80);
    EXPECT_EQ(std::get<std::string>(cell(sheet, 0, "best")), "any");
    EXPECT_DOUBLE_EQ(number(sheet, 0, "gflops"), 2.0 * 10556 * 64 / 20 / 1000);
    EXPECT_DOUBLE_EQ(number(sheet, 0, "paper_ms"), 1.5);
}

TEST_F(PaperTest, WhatIsMissingIsEmptyAndItsCommandIsNamed) {
    store::Store store = open();
    fill_store(store);
    const Sheet sheet = fill_made_up(store);
    for (const char* column : {"gar_us", "sum_ms", "share", "best", "gflops", "edges"}) {
        EXPECT_TRUE(is_empty(sheet, 1, column)) << column;
    }
    EXPECT_EQ(std::get<std::string>(cell(sheet, 1, "paper_ms")), "OOM") << "quoted, whatever is measured";
    EXPECT_TRUE(is_empty(sheet, 0, "edges")) << "the made-up features lack it";
    ASSERT_EQ(sheet.commands.size(), 3u);
    EXPECT_EQ(sheet.commands[0],
              "gnntune tune standin/b --op spmm --dim 64 --variant spmm.gar,spmm.gas --exhaustive --db my.db");
    EXPECT_EQ(sheet.commands[1], "gnntune tune standin/b --op coo_to_csr --exhaustive --db my.db");
    EXPECT_EQ(sheet.commands[2], "gnntune paper made_up --table II cora.mtx standin/b --db my.db");
}

TEST_F(PaperTest, EarlyEndsAndPartialAveragesAreNoted) {
    store::Store store = open();
    fill_store(store);
    const Sheet sheet = fill_made_up(store);
    ASSERT_EQ(sheet.notes.size(), 2u);
    EXPECT_TRUE(store::contains(sheet.notes[0], "few samples"));
    EXPECT_TRUE(store::contains(sheet.notes[1], "over 1 of 2 graphs"));
    EXPECT_DOUBLE_EQ(number(sheet, 2, "gar_us"), 30);
    EXPECT_DOUBLE_EQ(number(sheet, 2, "paper_ms"), 2.5);
}

TEST_F(PaperTest, ARefusalIsSaidAndNotAskedForAgain) {
    store::Store store = open();
    const std::int64_t run = store.begin_run(run_info());
    store.add_measurement(run, key(store, 64), not_ok("spmm.gar", MeasurementStatus::refused, "too wide"));
    for (const std::int32_t k : {64, 32}) {
        store.add_measurement(run, key(store, k), measurement("spmm.gas{block=64}", 100));
    }
    store.put_format_build(1, 1, {"coo", "csr", Direction::forward, 1000.0, 4096});
    const Sheet sheet = fill_made_up(store);
    EXPECT_TRUE(is_empty(sheet, 0, "gflops"));
    bool said = false;
    for (const std::string& note : sheet.notes) said = said || note.find("too wide") != std::string::npos;
    EXPECT_TRUE(said);
}

TEST_F(PaperTest, WhatWasCountedStandsBeforeWhatIsModelled) {
    const auto papers = parse_papers(R"({"papers": [{
      "id": "counted", "title": "t", "venue": "v", "device": "d",
      "graphs": {"A": {"paper": "Alpha", "name": "cora", "file": "cora.mtx"},
                 "B": {"paper": "Beta", "name": "standin/b", "file": "standin/b"}},
      "items": [{
        "kind": "table", "number": "5", "title": "t", "source": "s", "says": "p", "ours": "o",
        "sums": {"gas": {"spmm": [{"op": "spmm", "variant": "spmm.gas"}]}},
        "columns": [
          {"key": "read", "title": "read", "unit": "MiB", "counted": "l2_read", "terms": "spmm"},
          {"key": "atomic", "title": "atomic", "unit": "MiB", "counted": "l2_atomic", "terms": "spmm"},
          {"key": "modelled_mib", "title": "m", "unit": "MiB", "modelled": "l2_bytes", "unless": "read", "terms": "spmm"}],
        "rows": [{"graph": "A", "model": "gas", "k": 64}, {"graph": "B", "model": "gas", "k": 64}]}]}]})");
    store::Store store = open();
    const std::int64_t run = store.begin_run(run_info());
    Measurement counted = measurement("spmm.gas{block=64}", 100);
    counted.counters.emplace();
    counted.counters->l2_read_sectors = 2 * 32768;
    counted.counters->l2_atomic_sectors = 0;
    counted.counters->l2_reduction_sectors = 32768;
    store.add_measurement(run, key(store, 64), counted);
    store.add_measurement(run, key(store, 64), measurement("spmm.gas{block=128}", 50));  // faster, and not profiled
    Evidence evidence(registry_, &store);

    const Sheet sheet = fill(papers[0], papers[0].items[0], evidence, {});

    EXPECT_DOUBLE_EQ(number(sheet, 0, "read"), 2);
    EXPECT_DOUBLE_EQ(number(sheet, 0, "atomic"), 1);
    EXPECT_TRUE(is_empty(sheet, 0, "modelled_mib"));
    EXPECT_TRUE(is_empty(sheet, 1, "read"));
    ASSERT_TRUE(sheet.source.has_value());
    ASSERT_FALSE(sheet.notes.empty());
    EXPECT_TRUE(store::contains(sheet.notes[0], "counted in spmm.gas{block=64}"));
    ASSERT_FALSE(sheet.commands.empty());
    EXPECT_EQ(sheet.commands[0], "gnntune profile standin/b --config spmm.gas --dim 64");
}

TEST_F(PaperTest, WithoutADatabaseOnlyTheGraphSpeaks) {
    const auto papers = parse_papers(kPapers);
    Evidence evidence(registry_, nullptr);
    const Sheet sheet = fill(papers[0], papers[0].items[0], evidence, {});
    EXPECT_FALSE(sheet.source.has_value());
    EXPECT_TRUE(is_empty(sheet, 0, "gar_us"));
    EXPECT_FALSE(sheet.commands.empty());
}

TEST_F(PaperTest, GasWinsOneCallAndGarTwoHundred) {
    store::Store store = open();
    fill_store(store);
    Evidence evidence(registry_, &store);
    ASSERT_FALSE(evidence.sources().empty());
    const auto rows = crossings(evidence, evidence.sources().front(), {1, 200});
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[1].problem.k, 64);
    EXPECT_DOUBLE_EQ(rows[1].gas_us, 100);
    EXPECT_DOUBLE_EQ(rows[1].gar_us, 20);
    EXPECT_EQ(rows[1].winners, (std::vector<std::string>{"gas", "gar"}));
    ASSERT_TRUE(rows[1].calls_for_gar.has_value());
    EXPECT_NEAR(*rows[1].calls_for_gar, 1000.0 / 80, 1.0);
    EXPECT_FALSE(rows[1].few_samples);
    EXPECT_TRUE(rows[0].few_samples) << "at k = 32 GAS was given up early";
}

TEST(PaperFacts, CountWhatTheFeaturesSay) {
    Features features;
    features.counts.n_rows = 32;
    features.counts.m = 330;
    features.counts.row_degrees = {{0, 10}, {5, 2}, {16, 20}};
    features.counts.tc_blocks_16x8 = 40;
    features.counts.sgt_blocks_16x8 = 10;
    EXPECT_DOUBLE_EQ(std::get<double>(graph_fact(features, "fewer_16x8_percent", 0)), 75);
    EXPECT_DOUBLE_EQ(std::get<double>(graph_fact(features, "sampling_percent", 8)), 100.0 * 170 / 330);
    EXPECT_EQ(std::get<std::int64_t>(graph_fact(features, "rule_warps", 0)), 5) << "165 edges a window";
    EXPECT_THROW(graph_fact(features, "colour", 0), Error);
    EXPECT_FALSE(store::features_from("{}").has_value());
}

TEST(PaperData, WhatIsShippedParses) {
    const auto& all = papers();
    ASSERT_EQ(all.size(), 3u);
    std::size_t items = 0;
    for (const Paper& paper : all) {
        for (const Item& item : paper.items) {
            SCOPED_TRACE(paper.id + " " + item.name());
            ++items;
            EXPECT_FALSE(item.rows.empty());
            for (const Column& c : item.columns) {
                // Quoted figures carry the word; ours never do.
                EXPECT_EQ(c.kind == Column::Kind::paper, c.shown.key.starts_with("paper_") && c.of.empty());
                if (c.kind == Column::Kind::paper) {
                    EXPECT_TRUE(c.shown.title.starts_with("paper"));
                }
            }
        }
    }
    EXPECT_EQ(items, 15u);
}

TEST(PaperData, MistakesAreNamed) {
    const std::string text = kPapers;
    const auto broken = [&](const std::string& from, const std::string& to) {
        std::string changed = text;
        changed.replace(changed.find(from), from.size(), to);
        try {
            parse_papers(changed);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("no error");
    };
    EXPECT_TRUE(store::contains(broken("\"variant\": \"spmm.gas\"", "\"varaint\": \"spmm.gas\""), "varaint"));
    EXPECT_TRUE(store::contains(broken("\"of\": \"gar_us\"", "\"of\": \"gar\""), "no column 'gar'"));
    EXPECT_TRUE(store::contains(broken("\"time\": \"both\"", "\"time\": \"none\""), "no sum 'none'"));
    EXPECT_TRUE(store::contains(broken("{\"graph\": \"B\"", "{\"graph\": \"C\""), "no graph 'C'"));
}

}  // namespace
}  // namespace gnntune::tools::paper

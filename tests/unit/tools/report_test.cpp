// The engine behind `gnntune report`: which numbers count, and that nothing from outside gets into a page as markup.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "profiles/fields/features_json.hpp"
#include "tests/unit/common/store_fixture.hpp"
#include "tools/report/collect.hpp"
#include "tools/report/figures.hpp"
#include "tools/report/json.hpp"
#include "tools/report/page.hpp"
#include "tools/report/scale.hpp"
#include "tools/report/sections.hpp"
#include "tools/report/text.hpp"

namespace gnntune::tools::report {
namespace {

constexpr const char* kBinned = "spmm.binned{lanes=8}";
constexpr const char* kRows = "spmm.rows{vec=4}";
constexpr const char* kLibrary = "spmm.cusparse{alg=default,preprocess=0}";
constexpr const char* kLibraryBest = "spmm.cusparse{alg=csr_alg3,preprocess=1}";

std::size_t occurrences(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
}

class ReportTest : public store::StoreTest {
protected:
    static Measurement approximate(const std::string& config, double us, double error) {
        Measurement m = measurement(config, us);
        m.approximate = true;
        m.max_error = error;
        return m;
    }

    /// A graph of 4 vertices whose features the database has.
    static GraphRecord small(const std::string& name) {
        FeatureCounts c;
        c.n_rows = c.n_cols = 4;
        c.m = 6;
        c.row_degrees = {{0, 1}, {2, 3}};
        c.col_degrees = {{1, 2}, {2, 2}};
        c.distinct_cols_8 = c.distinct_cols_16 = 4;
        c.tc_blocks_16x8 = c.tc_blocks_16x16 = c.sgt_blocks_16x8 = c.sgt_blocks_16x16 = 1;
        c.blocks_32x32[0] = {1, 6};
        GraphRecord record = graph(name, 7);
        record.n_rows = record.n_cols = 4;
        record.m = 6;
        record.features_json = store::features_text(finalise(c));
        return record;
    }

    void put(store::Store& store, const Measurement& m, std::int32_t k = 64) {
        if (run_ == 0) run_ = store.begin_run(run_info());
        store.add_measurement(run_, key_in(store, k), m);
    }

    Report report_of(const store::Store& store, const store::Store* score = nullptr) {
        CollectOptions options;
        options.score = score;
        options.folds = 0;
        options.tool = "gnntune test";
        return collect(store, registry_, options);
    }

    Registry registry_;  // empty, as a build without CUDA is to variants of the GPU
    std::int64_t run_ = 0;
};

TEST_F(ReportTest, TheNewestRowOfTheNewestVersionCounts) {
    store::Store store = open();
    put(store, measurement(kBinned, 10));
    put(store, measurement(kBinned, 30));  // measured again: this one counts
    Measurement older = measurement(kRows, 5);
    older.variant_version = 1;
    Measurement newer = measurement("spmm.rows{vec=2}", 20);
    newer.variant_version = 2;
    put(store, older);
    put(store, newer);
    put(store, approximate("spmm.mma_tf32{vec=1}", 2, 1e-3));
    const Report report = report_of(store);
    ASSERT_EQ(report.settings.size(), 1u);
    const Case& c = report.settings[0].cases.at(0);
    ASSERT_TRUE(c.fastest.has_value());
    EXPECT_EQ(c.rows[*c.fastest].config, "spmm.rows{vec=2}");
    EXPECT_DOUBLE_EQ(c.rows[*c.fastest].measured.median_us, 20);
    EXPECT_EQ(std::count_if(c.rows.begin(), c.rows.end(), [](const Row& r) { return r.config == kRows; }), 0)
        << "of an older version";
    const auto best = store.best();
    ASSERT_EQ(best.size(), 1u);
    EXPECT_EQ(best[0].config, c.rows[*c.fastest].config) << "as the view `best` has it";
    EXPECT_EQ(c.rows[0].answer, Answer::approximate);
    EXPECT_EQ(report.measurements, 5);
}

TEST_F(ReportTest, ChoicesAreHeldAgainstTheLibrary) {
    store::Store store = open();
    put(store, measurement(kRows, 10));
    put(store, measurement(kBinned, 10.05));
    put(store, measurement(kLibrary, 40));
    put(store, measurement(kLibraryBest, 20));
    put(store, approximate("spmm.cusparse_bell{block_size=32}", 5, 1e-3));
    store.set_choice(run_, key_in(store), Policy::hot, Clock::span,
                     {Config::parse(kBinned), 1, "measured", "tied", 10.05, {}});
    const Report report = report_of(store);
    const Case& c = report.settings.at(0).cases.at(0);
    ASSERT_TRUE(c.chosen && c.default_library && c.best_library);
    EXPECT_EQ(c.rows[*c.chosen].config, kBinned);
    EXPECT_EQ(c.rows[*c.fastest].config, kRows);
    EXPECT_EQ(c.won(), c.chosen) << "what an application gets";
    EXPECT_DOUBLE_EQ(*c.scores.over_library_default(), 40 / 10.05);
    EXPECT_DOUBLE_EQ(*c.scores.over_library_best(), 20 / 10.05) << "its config of reduced precision is no rival";
    EXPECT_FALSE(c.scores.over_untuned()) << "this build does not have the variants";
}

TEST_F(ReportTest, AnotherRunScores) {
    store::Store store = open();
    put(store, measurement(kRows, 10));
    put(store, measurement(kLibrary, 40));
    store::Store other = store::Store::open(file("other.db"), store::Mode::read_write_create);
    const std::int64_t run = other.begin_run(run_info());
    (void)other.graph_id(graph("another", 99));  // so that the ids differ
    other.add_measurement(run, key_in(other), measurement(kRows, 11));
    other.add_measurement(run, key_in(other), measurement(kLibrary, 33));
    const Report report = report_of(store, &other);
    const Case& c = report.settings.at(0).cases.at(0);
    EXPECT_DOUBLE_EQ(*c.scores.over_library_default(), 3);
    EXPECT_DOUBLE_EQ(c.winner()->measured.median_us, 10) << "what is shown is the run's own";
}

TEST_F(ReportTest, ATimeThatIsNoNumberIsLeftOutWithAWord) {
    for (const char* damage :
         {"median_us = 9e999", "q3_us = 9e999", "ci_high_us = 9e999", "prepare_us = 9e999", "min_us = -9e999"}) {
        const auto path = file("spoilt.db");
        std::filesystem::remove(path);
        store::Store store = store::Store::open(path, store::Mode::read_write_create);
        run_ = 0;
        put(store, measurement(kBinned, 10));
        put(store, measurement(kRows, 20));
        put(store, measurement(kLibrary, 40));
        store.database().execute(std::string("UPDATE measurement SET ") + damage + " WHERE config LIKE 'spmm.binned%'",
                                 "damaging");
        const Report report = report_of(store, &store);
        const Case& c = report.settings.at(0).cases.at(0);
        ASSERT_EQ(c.rows.size(), 2u) << damage;
        EXPECT_EQ(c.rows[*c.fastest].config, kRows) << damage;
        ASSERT_EQ(report.remarks.size(), 1u) << damage;
        EXPECT_NE(report.remarks[0].find("1 measurement is left out, spmm.binned{lanes=8} on "), std::string::npos)
            << report.remarks[0];
        EXPECT_NE(page_of(report, sections_of(report)).find(report.remarks[0].substr(0, 25)), std::string::npos);
    }
}

TEST_F(ReportTest, ErrataAndFailuresAreNotWinners) {
    store::Store store = open();
    put(store, measurement(kRows, 10));
    Measurement early = measurement(kBinned, 5);
    early.status = MeasurementStatus::abandoned;
    put(store, early);
    put(store, not_ok("spmm.edges{chunk=32}", MeasurementStatus::wrong, "off by one"));
    put(store, not_ok("spmm.tcgnn", MeasurementStatus::refused, "too wide"));
    const Report report = report_of(store);
    const Case& c = report.settings.at(0).cases.at(0);
    EXPECT_EQ(c.rows[*c.fastest].config, kRows);
    ASSERT_EQ(c.rows.size(), 4u);
    EXPECT_TRUE(c.rows[1].timed()) << "given up early: behind those that were timed to the end";
    EXPECT_FALSE(c.rows[2].timed());
    EXPECT_EQ(report.failures.size(), 2u);
}

TEST_F(ReportTest, CallsAndErrorsComeFromTheRulesOfTheDispatcher) {
    store::Store store = open();
    Measurement cheap = measurement(kRows, 30);
    cheap.prepare_us = 1;
    Measurement fast = measurement(kBinned, 10);
    fast.prepare_us = 201;
    put(store, cheap);
    put(store, fast);
    put(store, approximate("spmm.mma_tf32{vec=1}", 4, 1e-3));
    const Report report = report_of(store);
    const Case& c = report.settings.at(0).cases.at(0);
    ASSERT_EQ(c.calls.size(), 2u);
    EXPECT_EQ(c.rows[c.calls[0].candidate].config, kRows);
    EXPECT_EQ(c.rows[c.calls[1].candidate].config, kBinned);
    EXPECT_DOUBLE_EQ(c.calls[1].from_calls, 10);
    ASSERT_EQ(c.errors.size(), 2u);
    EXPECT_EQ(c.rows[c.errors[1].candidate].config, "spmm.mma_tf32{vec=1}");
}

TEST_F(ReportTest, EveryFigureHasWordsNumbersAndWhereTheyAreFrom) {
    store::Store store = open();
    for (const std::int32_t k : {16, 64}) {
        for (const auto& [config, us] : {std::pair(kRows, 10.0), {kBinned, 8.0}, {kLibrary, 21.0}}) {
            put(store, measurement(config, us * k), k);
        }
        put(store, approximate("spmm.mma_tf32{vec=1}", 4.0 * k, 1e-3), k);
    }
    const std::int64_t id = store.graph_id(small("small"));
    store.add_measurement(run_, {id, 1, store.problem_id(problem(16))}, measurement(kRows, 3));
    store.put_device_constant(1, {"copy_gbps", 0, 0, 4200, "GB/s", ""});
    store.put_device_constant(1, {"gather_gbps", 4 << 20, 64, 9000, "GB/s", ""});
    const Report report = report_of(store);
    const auto sections = sections_of(report);
    ASSERT_EQ(sections.size(), kParts);
    std::vector<std::string> ids;
    for (const Section& section : sections) {
        EXPECT_TRUE(section.question.ends_with("?"));
        const bool shown = std::any_of(section.groups.begin(), section.groups.end(), [](const Group& g) {
            return std::any_of(g.figures.begin(), g.figures.end(), [](const Figure& f) { return !f.svg.empty(); });
        });
        EXPECT_TRUE(shown || !section.missing.empty()) << section.question << " shows nothing and does not say why";
        for (const Group& group : section.groups) {
            for (const Figure& f : group.figures) {
                ids.push_back(f.id);
                EXPECT_FALSE(f.alt.empty()) << f.id;
                EXPECT_FALSE(f.title.empty()) << f.id;
                if (f.svg.empty()) continue;
                EXPECT_FALSE(f.table.rows.empty()) << f.id << " has no numbers behind it";
                for (const auto& row : f.table.rows) EXPECT_EQ(row.size(), f.table.columns.size()) << f.id;
                EXPECT_TRUE(store::contains(f.note, "n = "));
                const bool of_graph = f.id.find("degrees") != std::string::npos;
                EXPECT_TRUE(of_graph || f.note.find("H200") != std::string::npos) << f.note;
                EXPECT_TRUE(store::contains(f.note, "clock"));
                EXPECT_EQ(f.svg.find("nan"), std::string::npos) << f.id;
            }
        }
    }
    std::sort(ids.begin(), ids.end());
    EXPECT_TRUE(std::adjacent_find(ids.begin(), ids.end()) == ids.end()) << "two figures of one name";
}

TEST_F(ReportTest, HostileNamesStayText) {
    const std::string hostile =
        "</script><script>alert(1)</script>\"'&\n\x1b[31m\xff\xe2\x80\xae" + std::string(4096, 'x');
    store::Store store = open();
    run_ = store.begin_run({hostile, "0.1.0", "", 1, hostile});
    Environment device = environment();
    device.device_name = "H200 <b onmouseover=alert(2)>";
    const store::Key key{store.graph_id(small(hostile)), store.environment_id(device), store.problem_id(problem())};
    store.add_measurement(run_, key, measurement(kRows, 10));
    store.add_measurement(run_, key, measurement(kLibrary, 20));
    store.add_measurement(run_, key, not_ok("spmm.tcgnn", MeasurementStatus::failed, hostile));
    Report report = report_of(store);
    report.only = report.score_database = hostile;
    report.remarks = report.damage = {hostile};
    const auto sections = sections_of(report);
    const std::string page = page_of(report, sections);
    EXPECT_EQ(occurrences(page, "<script"), 1u);
    EXPECT_EQ(occurrences(page, "</script"), 1u);
    EXPECT_EQ(occurrences(page, "<b onmouseover"), 0u);
    EXPECT_EQ(page.find('\x1b'), std::string::npos);
    EXPECT_EQ(page.find("\xe2\x80\xae"), std::string::npos) << "what turns text round";
    EXPECT_TRUE(store::contains(page, "&lt;script&gt;alert(1)"));
    EXPECT_LT(page.size(), 400000u) << "4 KB of a name are not said in full everywhere";
    for (const Section& section : sections) {
        for (const Group& group : section.groups) {
            for (const Figure& f : group.figures) {
                if (f.svg.empty()) continue;
                const std::string file = svg_file(f);
                EXPECT_EQ(occurrences(file, "<script"), 0u) << f.id;
                EXPECT_EQ(occurrences(file, "<b "), 0u) << f.id;
            }
        }
    }
}

TEST_F(ReportTest, APageLoadsNothing) {
    store::Store store = open();
    put(store, measurement(kRows, 10));
    const Report report = report_of(store);
    const std::string page = page_of(report, sections_of(report));
    for (const char* part :
         {"src=", "url(", "@import", "<link", "http:", "https:", "<img", "<iframe", "fetch(", "XMLHttpRequest"}) {
        EXPECT_EQ(page.find(part), std::string::npos) << part;
    }
    EXPECT_TRUE(store::contains(page, "default-src 'none'"));
}

TEST_F(ReportTest, AnEmptyDatabaseSaysWhatFillsIt) {
    store::Store store = open();
    const Report report = report_of(store);
    EXPECT_EQ(report.problems(), 0u);
    for (const Section& section : sections_of(report)) {
        EXPECT_FALSE(section.missing.empty()) << section.question;
    }
    EXPECT_TRUE(store::contains(page_of(report, sections_of(report)), "gnntune tune GRAPH"));
}

TEST_F(ReportTest, JsonHasTheNumbersUnrounded) {
    store::Store store = open();
    put(store, measurement(kRows, 10.123456789));
    const Json json = json_of(report_of(store));
    const Json& one = json["settings"][0]["problems"][0];
    EXPECT_EQ(one["won"], kRows);
    EXPECT_DOUBLE_EQ(one["configs"][0]["median_us"].get<double>(), 10.123456789);
    EXPECT_EQ(one["over_library_default"], nullptr);
}

TEST(ReportText, NumbersHaveThreeDigits) {
    EXPECT_EQ(number(8.6089), "8.61");
    EXPECT_EQ(number(38.24), "38.2");
    EXPECT_EQ(number(152.6), "153");
    EXPECT_EQ(number(1240.4), "1,240");
    EXPECT_EQ(number(0.0123), "0.012");
    EXPECT_EQ(time(999.6), "1.00 ms");
    EXPECT_EQ(time(12.5e6), "12.5 s");
    EXPECT_EQ(bytes(60.0 * 1024 * 1024), "60 MiB");
    EXPECT_EQ(count(10556), "10.6 k");
    EXPECT_EQ(whole(-1234567), "-1,234,567");
    EXPECT_EQ(factor(1.914), "1.91×");
    EXPECT_EQ(percent(0.637), "64 %");
    EXPECT_EQ(some(1, "graph"), "1 graph");
    EXPECT_EQ(some(2000, "query"), "2,000 queries");
    EXPECT_EQ(px(-0.01), "0");
    EXPECT_EQ(px(12.25), "12.2");
}

TEST(ReportText, NamesAreCutBetweenCharacters) {
    EXPECT_EQ(shortened("äöü", 3), "äöü");
    EXPECT_EQ(shortened("äöüß", 3), "äö…");
    EXPECT_EQ(characters("äö…"), 3u);
    EXPECT_EQ(escaped("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
    EXPECT_EQ(escaped("\xEF\xBF\xBE"), "\\uFFFE") << "no character of XML";
}

TEST(ReportScale, TicksAreRoundAndWithinTheEnds) {
    const Scale linear = Scale::linear(0, 97, 0, 100);
    EXPECT_EQ(linear.ticks(5), (std::vector<double>{0, 20, 40, 60, 80}));
    EXPECT_DOUBLE_EQ(linear(48.5), 50);
    EXPECT_DOUBLE_EQ(linear(1000), 100) << "held to the end";
    const Scale log = Scale::logarithmic(1, 1000, 0, 300);
    EXPECT_DOUBLE_EQ(log(10), 100);
    for (const double tick : log.ticks(8)) {
        EXPECT_GE(tick, 0.999);
        EXPECT_LE(tick, 1001);
    }
    EXPECT_LE(log.ticks(4).size(), 4u);
    EXPECT_GE(Scale::logarithmic(5, 5, 0, 1).ticks(8).size(), 2u) << "one number has a range too";
    EXPECT_EQ(Scale::logarithmic(3e5, 5e6, 0, 1).powers_of_two(9),
              (std::vector<double>{524288, 1048576, 2097152, 4194304}));
}

TEST(ReportScale, EndsOfAnyKindHaveFewTicksThatAreNumbers) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const std::vector<double> ends{0,         -1,         1,
                                   5e-324,    1e-300,     1e17,
                                   1e17 + 16, 1e300,      std::numeric_limits<double>::max(),
                                   kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()};
    for (const double low : ends) {
        for (const double high : ends) {
            for (const Scale& scale : {Scale::linear(low, high, 0, 100), Scale::logarithmic(low, high, 0, 100)}) {
                for (const int most : {0, 1, 5, 9}) {
                    const auto ticks = scale.ticks(most);
                    EXPECT_LE(ticks.size(), 12u) << low << " to " << high;
                    for (const double tick : ticks) EXPECT_TRUE(std::isfinite(tick)) << low << " to " << high;
                }
                for (const double value : ends) EXPECT_TRUE(std::isfinite(scale(value))) << low << " to " << high;
            }
            const auto powers = Scale::logarithmic(low, high, 0, 100).powers_of_two(9);
            EXPECT_LE(powers.size(), 9u) << low << " to " << high;
        }
    }
}

}  // namespace
}  // namespace gnntune::tools::report

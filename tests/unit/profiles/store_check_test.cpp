// What check() finds in the fields of rows: all that import refuses.
#include <map>

#include "tests/unit/profiles/document_fixture.hpp"

namespace gnntune::store {
namespace {

struct Damage {
    const char* sql;    ///< applied to what document() holds
    const char* words;  ///< what check() must say
};

constexpr Damage kDamage[] = {
    {"UPDATE run SET started_at = 'now' WHERE id = 2",
     "row 2 of run, started_at: expected a time in UTC such as 2026-11-21T09:30:00Z, found \"now\""},
    {"UPDATE run SET ended_at = '' WHERE id = 1", "row 1 of run, ended_at: expected a time in UTC"},
    {"UPDATE measurement SET taken_at = '2026-11-21' WHERE id = 2", "row 2 of measurement, taken_at: expected a time"},
    {"UPDATE counter SET taken_at = 'x'", "counter of row 1 of measurement, taken_at: expected a time"},
    {"UPDATE environment SET backend = 'hip' WHERE id = 1", "row 1 of environment, backend: expected a backend that"},
    {"UPDATE graph SET m = 3000000000 WHERE id = 1", "row 1 of graph, m: expected a whole number from 0 to 2147483647"},
    {"UPDATE graph SET features = '[]' WHERE id = 1", "row 1 of graph, features: expected an object, found a list"},
    {"UPDATE device_constant SET value = 9e999",
     "row 1 of device_constant, value: expected a number, found \"Infinity\""},
    {"UPDATE measurement SET max_error = -1 WHERE id = 1",
     "max_error: expected \"Infinity\" or a number from 0, found -1"},
    {"UPDATE variant SET op = CAST(x'ff' AS TEXT) WHERE op NOT NULL", "of variant, op: it is not UTF-8"},
    {"UPDATE choice SET tied = '[7]'", "row 1 of choice, tied: expected a text, found 7"},
    {"UPDATE erratum SET added_at = 'x'", "row 1 of erratum, added_at: expected a time"},
    {"UPDATE format_build SET direction = 'up'", "row 1 of format_build, direction: expected a direction that"},
    {"UPDATE graph SET fingerprint = upper(fingerprint) WHERE fingerprint GLOB '*[a-f]*'", "malformed fingerprint"},
};

TEST_F(DocumentTest, CheckNamesEachFieldThatImportRefuses) {
    import(document());
    ASSERT_EQ(at("imported.db").check(), std::vector<std::string>{});
    for (const Damage& damage : kDamage) {
        SCOPED_TRACE(damage.sql);
        std::filesystem::remove(file("damaged.db"));
        std::filesystem::copy_file(file("imported.db"), file("damaged.db"));
        const Store store = at("damaged.db");
        store.database().execute(damage.sql, "damaging");
        std::string all;
        for (const std::string& problem : store.check()) all += problem + '\n';
        EXPECT_TRUE(contains(all, damage.words));
        EXPECT_THROW(import(written(store), "again.db"), Error) << "import takes it: check need not complain";
    }
}

TEST_F(StoreTest, CheckNamesTwentyRowsWithTheSameFault) {
    Store store = open();
    for (int i = 0; i < 25; ++i) store.begin_run(run_info());
    store.database().execute("UPDATE run SET started_at = 'now'", "damaging");
    const auto problems = store.check();
    ASSERT_EQ(problems.size(), 21U);
    EXPECT_EQ(problems.back(), "5 rows of run more whose started_at is wrong");
}

TEST_F(StoreTest, CheckLooksAtTheTextOfOlderVersionsToo) {
    Store store = open();
    const std::int64_t run = store.begin_run(run_info());
    Measurement older = measurement("spmm.a{x=1}", 3);
    older.variant_version = 1;
    Measurement newer = older;
    newer.variant_version = 2;
    store.add_measurement(run, key_in(store), older);
    store.add_measurement(run, key_in(store), newer);
    store.database().execute("UPDATE measurement SET config = 'spmm.a{}' WHERE variant_version = 1", "damaging");
    int asked = 0;
    const auto problems = store.check([&](const Config&, std::int32_t version, bool) -> std::optional<std::string> {
        EXPECT_EQ(version, 2) << "older versions are history";
        ++asked;
        return std::nullopt;
    });
    EXPECT_EQ(asked, 1);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0], "config spmm.a{} version 1 (1 row): is not in canonical form");
}

TEST_F(StoreTest, CheckAsksOfARefusedConfigOnlyWhetherItIsKnown) {
    Store store = open();
    const std::int64_t run = store.begin_run(run_info());
    store.add_measurement(run, key_in(store), not_ok("spmm.refused", MeasurementStatus::refused, "too sparse"));
    store.add_measurement(run, key_in(store), not_ok("spmm.both{x=1}", MeasurementStatus::refused, "too sparse"));
    store.add_measurement(run, key_in(store), measurement("spmm.both{x=1}", 3));
    std::map<std::string, bool> untaken;
    const auto problems = store.check([&](const Config& config, std::int32_t, bool flag) -> std::optional<std::string> {
        untaken[config.variant] = flag;
        return std::nullopt;
    });
    EXPECT_EQ(problems, std::vector<std::string>{});
    EXPECT_EQ(untaken, (std::map<std::string, bool>{{"spmm.refused", true}, {"spmm.both", false}}));
}

TEST_F(StoreTest, ARowWithAPartThatIsNoConfigIsLeftOut) {
    Store store = open();
    const std::int64_t run = store.begin_run(run_info());
    const Key key = key_in(store);
    const std::vector<PartVersion> parts{{Config::parse("spmm.part"), 1}};
    store.add_measurement(run, key, with_parts(measurement("spmm.a", 5), parts));
    store.add_measurement(run, key, with_parts(measurement("spmm.b", 6), parts));
    store.database().execute("UPDATE part SET config = 'spmm.part{' WHERE measurement_id = 1", "spoiling a part");

    const auto rows = store.measurements(key);

    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].config.text(), "spmm.b");
    EXPECT_EQ(rows[0].parts.size(), 1U);
}

}  // namespace
}  // namespace gnntune::store

// What must not come into a database does not: it is refused whole before it is committed. And what stands there
// already does not keep the rest from being read.
#include <algorithm>

#include "profiles/document/document.hpp"
#include "profiles/snapshot/snapshot.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

constexpr const char* kHip =
    "INSERT INTO environment (backend, device_name, compute_capability, multiprocessors, memory_bytes, l2_bytes, "
    "driver, "
    "cuda_runtime, libraries) VALUES ('hip', 'MI300', 'gfx942', 304, 1, 1, '', '', '')";
constexpr const char* kNewOp =
    "INSERT INTO problem (op, k, heads, dtype, reduce, weighted, direction, self_loop, text) "
    "VALUES ('convolution', 8, 1, 'f32', 'sum', 0, 'forward', 0, 'convolution k=8')";

class StoreMergeRefusesTest : public StoreTest {
protected:
    /// A database as `tune` leaves it.
    Store made(const std::string& name) const {
        Store store = Store::open(file(name), Mode::read_write_create);
        const Key key = key_in(store);
        const std::int64_t run = store.begin_run(run_info());
        store.add_measurement(run, key, measurement("spmm.rows{vec=4}", name == "a.db" ? 10 : 11));
        Choice choice;
        choice.config = Config::parse("spmm.rows{vec=4}");
        choice.source = "measured";
        choice.reason = "fastest";
        choice.expected_us = 10;
        store.set_choice(run, key, Policy::hot, Clock::span, choice);
        store.end_run(run);
        return store;
    }
    static std::string document(const Store& store) {
        std::string out;
        write_document(store, [&out](std::string_view bytes) { out += bytes; });
        return out;
    }
};

TEST_F(StoreMergeRefusesTest, EveryFaultOfASourceWholeAndBeforeTheCommit) {
    const std::pair<const char*, const char*> faults[] = {
        {kHip, "row 2 of environment, backend: expected a backend that this gnntune knows, found \"hip\""},
        {kNewOp, "the op 'convolution' is none that this gnntune knows"},
        {"UPDATE problem SET dtype = 'f8'", "the storage type 'f8' is none that this gnntune knows"},
        {"UPDATE problem SET text = 'another'", "but says 'another'"},
        {"UPDATE measurement SET median_us = 9e999", "has numbers that no measuring gives"},
        {"UPDATE measurement SET max_error = -1", "row 1 of measurement, max_error"},
        {"UPDATE measurement SET taken_at = '2026-13-41T00:00:00Z'", "row 1 of measurement, taken_at"},
        {"UPDATE measurement SET config = 'spmm.rows{vec=4'; UPDATE choice SET config = 'spmm.rows{vec=4'",
         "config spmm.rows{vec=4 version 1"},
        {"UPDATE measurement SET config = CAST(x'73706d6dff' AS TEXT); UPDATE choice SET config = CAST(x'73706d6dff' "
         "AS TEXT)",
         "config "},
        {"UPDATE measurement SET policy = 'warm'; UPDATE choice SET policy = 'warm'", "row 1 of measurement, policy"},
        {"UPDATE run SET started_at = 'today'", "row 1 of run, started_at"},
        {"UPDATE graph SET features = '[1]'", "row 1 of graph, features"},
        {"UPDATE graph SET fingerprint = upper(substr(fingerprint, 1, 31)) || 'X'", "malformed fingerprint"},
        {"UPDATE choice SET config = 'spmm.rows{vec=2}'", "of which no ok measurement is stored"},
        {"UPDATE choice SET tied = '[7]'", "row 1 of choice, tied"},
        {"UPDATE variant SET backend = 'hip'", "row 1 of variant, backend"},
        {"INSERT INTO erratum (condition, reason, added_at) VALUES ('moon=full', 'r', '2026-11-21T09:30:00Z')",
         "is not understood"},
        {"UPDATE measurement SET problem_id = 77", "a row of "},
        {"CREATE TRIGGER tr AFTER INSERT ON measurement BEGIN DELETE FROM choice; END",
         "the trigger tr on measurement"},
        {"CREATE INDEX on_reason ON measurement (reason)", "the index on_reason on measurement"},
    };
    Store a = made("a.db");
    const std::string before = document(a);
    int number = 0;
    for (const auto& [sql, words] : faults) {
        SCOPED_TRACE(sql);
        const std::string name = "b" + std::to_string(++number) + ".db";
        {
            const Store b = made(name);
            b.database().execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON", "unguarding it");
            b.database().execute(sql, "spoiling it");
        }
        const std::string refused = error_of(ErrorKind::database, [&] { (void)a.merge(file(name)); });
        EXPECT_TRUE(contains(refused, words));
        EXPECT_TRUE(contains(refused, name + ": nothing of it was taken in"));
        EXPECT_TRUE(contains(refused, "gnntune db check"));
        EXPECT_EQ(document(a), before);
        const Store b = Store::open(file(name), Mode::read_only);
        EXPECT_NE(b.check(), std::vector<std::string>{});
        EXPECT_EQ(error_of(ErrorKind::database, [&] { b.require_mergeable(); }), refused) << "as it was foretold";
    }
    EXPECT_EQ(a.check(), std::vector<std::string>{});
    made("sound.db");
    EXPECT_EQ(a.merge(file("sound.db")).measurements, 1) << "and nothing of the looking is left in the way";
    EXPECT_EQ(a.check(), std::vector<std::string>{});
}

TEST_F(StoreMergeRefusesTest, ConfigsThatTheCallerHasSomethingAgainst) {
    Store a = made("a.db");
    made("b.db");
    const std::string before = document(a);
    const auto check = [](const Config& config, std::int32_t, bool) -> std::optional<std::string> {
        if (config.params.find("vec")) return "has no param 'vec'";
        return std::nullopt;
    };
    const std::string refused = error_of(ErrorKind::database, [&] { (void)a.merge(file("b.db"), check); });
    EXPECT_TRUE(contains(refused, "config spmm.rows{vec=4} version 1 (2 rows): has no param 'vec'"));
    EXPECT_EQ(document(a), before);
    const std::string text = document(a);
    std::size_t at = 0;
    const ByteSource source = [&](char* to, std::size_t n) {
        const std::size_t taken = std::min(n, text.size() - at);
        std::copy_n(text.data() + at, taken, to);
        at += taken;
        return taken;
    };
    const std::string import =
        error_of(ErrorKind::input, [&] { import_document(source, "a.json", file("imported.db"), check); });
    EXPECT_TRUE(contains(import, "measurement[0].config: spmm.rows{vec=4}: has no param 'vec'"));
    EXPECT_FALSE(std::filesystem::exists(file("imported.db")));
}

TEST_F(StoreMergeRefusesTest, AFileOfAnOlderSchemaIsLookedAtAsItIs) {
    Store a = made("a.db");
    {
        const Store b = made("b.db");
        b.database().execute(
            "DROP TABLE erratum; DROP TABLE removed_erratum; DROP TABLE run_identity; DROP VIEW accuracies; "
            "DROP TABLE accuracy_call; DROP TABLE accuracy; PRAGMA user_version = 1",
            "making it old");
    }
    (void)a.add_erratum(parse_erratum("variant=spmm.rows k>=65", "here"));
    EXPECT_EQ(a.merge(file("b.db")).measurements, 1);
    EXPECT_EQ(a.errata().size(), 1U);
}

class UnreadableRowsTest : public StoreMergeRefusesTest {
protected:
    std::vector<std::string> said_;
    OpenOptions saying() {
        OpenOptions options;
        options.warn = [this](const std::string& sentence) { said_.push_back(sentence); };
        return options;
    }
};

TEST_F(UnreadableRowsTest, ArePassedOverAndSaidOnce) {
    made("a.db");
    Store a = Store::open(file("a.db"), Mode::read_write_create, saying());
    const Key key = key_in(a);
    a.database().execute("PRAGMA ignore_check_constraints = ON", "unguarding it");
    a.database().execute(kHip, "adding a backend");
    a.database().execute(kNewOp, "adding an op");
    const std::int64_t damaged = a.add_measurement(1, key, measurement("spmm.rows{vec=2}", 3));
    a.database().execute("UPDATE measurement SET config = 'spmm.rows{' WHERE id = " + std::to_string(damaged),
                         "spoiling");
    const std::int64_t composed = a.add_measurement(
        1, key, with_parts(measurement("spmm.pair{spmm=default}", 2), {{Config::parse("spmm.rows{vec=4}"), 1}}));
    a.database().execute("UPDATE part SET config = '{}' WHERE measurement_id = " + std::to_string(composed),
                         "spoiling");
    const std::int64_t later = a.add_measurement(1, key, measurement("spmm.rows{vec=8}", 3));
    a.database().execute("UPDATE measurement SET status = 'guessed' WHERE id = " + std::to_string(later), "spoiling");

    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(a.environments().size(), 1U);
        EXPECT_EQ(a.problems().size(), 1U);
        EXPECT_EQ(a.graphs().size(), 1U);
        EXPECT_EQ(a.choices().size(), 1U);
        ASSERT_EQ(a.measurements(key).size(), 1U);
        EXPECT_EQ(a.measurements(key).front().median_us, 10);
    }
    ASSERT_EQ(said_.size(), 5U) << "once each";
    EXPECT_TRUE(contains(said_[0],
                         "a.db: the backend 'hip' is none that this gnntune knows; a newer one may; rows with "
                         "it are passed over (gnntune db check)"));
    EXPECT_TRUE(contains(said_[1], "the op 'convolution'"));
    EXPECT_EQ(a.check().size(), 5U) << "the backend, the op, two configs and a status";
}

TEST_F(UnreadableRowsTest, DoNotKeepTheLibraryFromTheOthers) {
    {
        const Store a = made("a.db");
        a.database().execute("PRAGMA ignore_check_constraints = ON", "unguarding it");
        a.database().execute(kHip, "adding a backend");
        a.database().execute(
            "INSERT INTO graph (fingerprint, n_rows, n_cols, m, name) "
            "VALUES ('zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz', 1, 1, 1, 'none')",
            "adding a fingerprint that is none");
        a.database().execute(
            "INSERT INTO model (op, backend, policy, clock, feature_version, bytes, training, scores, "
            "tool_version, git_commit, fitted_at) VALUES ('spmm', 'hip', 'hot', 'span', 1, x'00', '{}', "
            "'{}', '', '', '')",
            "adding a model");
        a.database().execute(
            "INSERT INTO measurement SELECT 99, graph_id, environment_id, problem_id, run_id, config, "
            "variant, variant_version, 'warm', clock, status, reason, 1, 1, 1, 1, 1, 1, samples, "
            "sm_clock_mhz, prepare_us, workspace_bytes, format_bytes, deterministic, approximate, "
            "max_error, mean_error, worst_ratio, taken_at FROM measurement WHERE id = 1",
            "adding a policy");
    }
    SnapshotOptions options;
    options.warn = [this](const std::string& sentence) { said_.push_back(sentence); };
    const Snapshot snapshot = Snapshot::load(file("a.db"), environment(), options);
    EXPECT_EQ(snapshot.files().front().state, SnapshotFile::State::loaded);
    const auto entry = snapshot.find(graph().fingerprint, problem(), Policy::hot);
    ASSERT_TRUE(entry);
    ASSERT_EQ(entry->rows.size(), 1U);
    EXPECT_EQ(entry->rows.front().median_us, 10);
    ASSERT_EQ(said_.size(), 1U);
    EXPECT_TRUE(contains(said_.front(), "the backend 'hip'"));
}

TEST_F(UnreadableRowsTest, TextsThatAreNotUtf8AreSaidForWhatTheyAre) {
    Database::open(file("wide.db"), Access::read_write_create)
        .execute(
            "PRAGMA encoding = 'UTF-16'; CREATE TABLE t (x TEXT); PRAGMA application_id = 0x474e4e54; "
            "PRAGMA user_version = 1",
            "making it");
    const std::string words =
        error_of(ErrorKind::database, [&] { (void)Store::open(file("wide.db"), Mode::read_only); });
    EXPECT_TRUE(contains(words, "its texts are UTF-16le, expected UTF-8"));
}

TEST_F(UnreadableRowsTest, FaultsByTheHundredAreCounted) {
    Store a = made("a.db");
    const Key key = key_in(a);
    for (int i = 0; i < 300; ++i) a.add_measurement(1, key, measurement("spmm.rows{vec=2}", 3));
    a.database().execute("UPDATE measurement SET samples = 0, prepare_us = -1", "spoiling them");
    const auto problems = a.check();
    EXPECT_LE(problems.size(), 50U);
    EXPECT_EQ(
        std::count(problems.begin(), problems.end(), "281 more measurements with numbers that no measuring gives"), 1);
}

}  // namespace
}  // namespace gnntune::store

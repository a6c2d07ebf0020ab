// What ways of running a trained model's sums cost: rows in the store.
#include "profiles/document/document.hpp"
#include "profiles/store/rescue.hpp"
#include "profiles/store/store.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

class StoreAccuracyTest : public StoreTest {
protected:
    /// A file with one row of accuracy, whose model is `model`, taken in that year.
    Store made(const std::string& name, const std::string& way, double loss, const std::string& year) const {
        Store store = Store::open(file(name), Mode::read_write_create);
        const Key key = key_in(store);
        const std::int64_t run = store.begin_run(run_info());
        store.add_measurement(run, key, measurement("spmm.a{i=1}", 10));
        const std::string ids = std::to_string(key.graph) + ", " + std::to_string(key.environment);
        store.database().execute(
            "INSERT INTO accuracy (graph_id, environment_id, model, model_name, way, models, vertices, accuracy, "
            "exact_accuracy, loss, loss_low, loss_high, max_error, time_us, exact_us, run_id, taken_at) VALUES (" +
                ids + ", '00112233445566778899aabbccddeeff', 'GCN', '" + way + "', 10, 500, 0.8, 0.81, " +
                std::to_string(loss) + ", -0.5, 0.5, 0.25, 8, 10, " + std::to_string(run) + ", '" + year +
                "-01-01T00:00:00Z');"
                "INSERT INTO accuracy_call SELECT max(id), 0, " +
                std::to_string(key.problem) + ", 'bucket S=8', 'spmm.a{i=1}', 'spmm.a', 1, 8 FROM accuracy",
            "filling");
        return store;
    }
};

TEST_F(StoreAccuracyTest, RowsComeBackWithTheirSums) {
    const Store store = made("test.db", "bucket S=8", 0.01, "2021");
    const auto rows = store.accuracies();
    ASSERT_EQ(rows.size(), 1u);
    const AccuracyRow& row = rows[0];
    EXPECT_EQ(row.graph_name, "cora");
    EXPECT_EQ(row.model, "00112233445566778899aabbccddeeff");
    EXPECT_EQ(row.model_name, "GCN");
    EXPECT_EQ(row.way, "bucket S=8");
    EXPECT_EQ(row.models, 10);
    EXPECT_EQ(row.vertices, 500);
    EXPECT_EQ(row.accuracy, 0.8);
    EXPECT_EQ(row.exact_accuracy, 0.81);
    EXPECT_EQ(row.loss, 0.01);
    EXPECT_EQ(row.loss_low, -0.5);
    EXPECT_EQ(row.loss_high, 0.5);
    EXPECT_EQ(row.max_error, 0.25);
    EXPECT_EQ(row.time_us, 8);
    EXPECT_EQ(row.exact_us, 10);
    EXPECT_EQ(row.taken_at, "2021-01-01T00:00:00Z");
    ASSERT_EQ(row.calls.size(), 1u);
    EXPECT_EQ(row.calls[0].problem, problem());
    EXPECT_EQ(row.calls[0].rule, "bucket S=8");
    EXPECT_EQ(row.calls[0].config.text(), "spmm.a{i=1}");
    EXPECT_EQ(row.calls[0].variant_version, 1);
    EXPECT_EQ(row.calls[0].time_us, 8);
    EXPECT_EQ(store.check(), std::vector<std::string>{});
    EXPECT_EQ(store.database().integer("SELECT count(*) FROM accuracies WHERE speedup = 1.25", "counting"), 1);
}

TEST_F(StoreAccuracyTest, AMergeTakesTheLaterOfEachWhicheverComesFirst) {
    for (const bool later_first : {false, true}) {
        const std::string suffix = later_first ? "1.db" : "0.db";
        {
            const Store old = made("old" + suffix, "bucket S=8", 0.02, "2021");
            const Store late = made("late" + suffix, "bucket S=8", 0.03, "2022");
            const Store other = made("other" + suffix, "f16", 0.0, "2020");
        }
        Store target = Store::open(file("target" + suffix), Mode::read_write_create);
        (void)target.problem_id(problem(16));  // other ids there
        for (const std::string name : {later_first ? "late" : "old", "other", later_first ? "old" : "late"}) {
            for (int round = 0; round < 2; ++round) target.merge(file(name + suffix));
        }
        const auto rows = target.accuracies();
        ASSERT_EQ(rows.size(), 2u);
        for (const AccuracyRow& row : rows) {
            EXPECT_EQ(row.loss, row.way == "f16" ? 0.0 : 0.03);
            ASSERT_EQ(row.calls.size(), 1u);
            EXPECT_EQ(row.calls[0].problem, problem());
        }
        EXPECT_EQ(target.database().integer("SELECT count(*) FROM accuracy_call", "counting"), 2);
        EXPECT_EQ(target.check(), std::vector<std::string>{});
    }
}

TEST_F(StoreAccuracyTest, ADocumentAndARescueCarryThem) {
    std::string text;
    {
        const Store store = made("test.db", "bucket S=8", 0.01, "2021");
        write_document(store, [&](std::string_view bytes) { text += bytes; });
    }
    EXPECT_TRUE(contains(text, R"("way":"bucket S=8")"));
    std::size_t at = 0;
    import_document(
        [&](char* to, std::size_t n) {
            const std::size_t count = std::min(n, text.size() - at);
            std::copy_n(text.data() + at, count, to);
            at += count;
            return count;
        },
        "doc.json", file("imported.db"), {});
    EXPECT_EQ(Store::open(file("imported.db"), Mode::read_only).accuracies().at(0).calls.size(), 1u);
    for (const RescuedTable& table : rescue(file(), file("rescued.db"))) EXPECT_TRUE(table.whole) << table.name;
    EXPECT_EQ(Store::open(file("rescued.db"), Mode::read_only).accuracies().at(0).calls.size(), 1u);
}

TEST_F(StoreAccuracyTest, ARescueDropsRowsWhoseConfigsAreNone) {
    {
        const Store store = made("test.db", "bucket S=8", 0.01, "2021");
        store.database().execute("UPDATE accuracy_call SET config = 'spmm.a{'", "editing");
    }
    EXPECT_FALSE(open().check().empty());
    (void)rescue(file(), file("rescued.db"));
    const Store rescued = Store::open(file("rescued.db"), Mode::read_only);
    EXPECT_TRUE(rescued.accuracies().empty());
    EXPECT_EQ(rescued.check(), std::vector<std::string>{});
}

TEST_F(StoreAccuracyTest, AFileOfAnOlderSchemaHasNone) {
    OpenOptions options;
    options.migrations = shipped_migrations().first(3);
    { (void)Store::open(file(), Mode::read_write_create, options); }
    const Store store = Store::open(file(), Mode::read_only);
    EXPECT_EQ(store.schema(), 3);
    EXPECT_TRUE(store.accuracies().empty());
    EXPECT_EQ(store.check(), std::vector<std::string>{});
}

}  // namespace
}  // namespace gnntune::store

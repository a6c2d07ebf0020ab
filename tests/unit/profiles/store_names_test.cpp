// Names of graphs: the digits that stand in for one give way to it.
#include "profiles/database/file_system.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

class StoreNamesTest : public StoreTest {
protected:
    static GraphRecord unnamed() {
        GraphRecord record = graph("cora");
        record.name = stand_in_name(record.fingerprint);
        record.source = "";
        return record;
    }
    static void expect_named(const Store& store, const std::string& name, const std::vector<std::string>& others = {}) {
        ASSERT_EQ(store.graphs().size(), 1U);
        const GraphRow row = store.graphs().front();
        EXPECT_EQ(row.record.name, name);
        EXPECT_EQ(row.record.source, "data/" + name + ".mtx");
        EXPECT_EQ(row.other_names, others);
        EXPECT_EQ(store.find_graphs(stand_in_name(row.record.fingerprint)).size(), 1U) << "still found by its digits";
        EXPECT_EQ(store.check(), std::vector<std::string>{});
    }
};

TEST_F(StoreNamesTest, ARealNameReplacesTheDigits) {
    Store store = open();
    const std::int64_t id = store.graph_id(unnamed());
    EXPECT_EQ(store.graphs().front().record.name, "0123456789ab");
    EXPECT_EQ(store.graph_id(graph("cora")), id);
    expect_named(store, "cora");
    EXPECT_EQ(store.graph_id(unnamed()), id);
    expect_named(store, "cora");
    EXPECT_EQ(store.graph_id(graph("Cora")), id);
    expect_named(store, "cora", {"Cora"});
}

TEST_F(StoreNamesTest, ANameThatAnOlderProgramKeptBesideTheDigitsIsMoved) {
    Store store = open();
    const std::int64_t id = store.graph_id(unnamed());
    {
        const Database raw = Database::open(file(), Access::read_write_create);
        raw.prepare("INSERT INTO graph_name VALUES (?, 'cora', 'data/cora.mtx')", "a test").bind(id).run();
    }
    EXPECT_EQ(store.graph_id(graph("cora")), id);
    expect_named(store, "cora");
}

TEST_F(StoreNamesTest, MergingTakesTheNameOfEitherFile) {
    Store digits = Store::open(file("digits.db"), Mode::read_write_create);
    Store named = Store::open(file("named.db"), Mode::read_write_create);
    (void)digits.graph_id(unnamed());
    (void)named.graph_id(graph("cora"));
    (void)named.graph_id(graph("Cora"));

    named.merge(file("digits.db"));
    expect_named(named, "cora", {"Cora"});
    digits.merge(file("named.db"));
    expect_named(digits, "cora", {"Cora"});
}

TEST_F(StoreTest, LinksLeadWhereTheSystemSays) {
    namespace fs = std::filesystem;
    fs::create_directories(file("real") / "deep");
    fs::create_directory_symlink(file("real") / "deep", file("link"));
    (void)Store::open(file("link") / ".." / "up.db", Mode::read_write_create);
    EXPECT_TRUE(fs::exists(file("real") / "up.db"));
    EXPECT_FALSE(fs::exists(file("up.db")));

    fs::create_symlink("real/later.db", file("dangling.db"));
    EXPECT_EQ(resolved(file("dangling.db")), fs::canonical(file("real")) / "later.db");
    EXPECT_EQ(resolved(file("link") / ".." / "none" / "x.db"), fs::canonical(file("real")) / "none" / "x.db");
    fs::create_symlink("loop", file("loop"));
    EXPECT_NO_THROW((void)resolved(file("loop")));
}

}  // namespace
}  // namespace gnntune::store

// Files whose schema is not ours: they end in a sentence, never in a hang, and nothing of theirs is run.
#include <sqlite3.h>

#include <chrono>

#include "profiles/database/schema_compare.hpp"
#include "profiles/store/rescue.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

constexpr const char* kEndless =
    "with recursive c(x) as (select 1 union all select x + 1 from c) select t.* from moved as t, c where c.x < 0";

class StoreSchema : public StoreTest {
protected:
    void SetUp() override {
        StoreTest::SetUp();
        Store store = open();
        const std::int64_t run = store.begin_run(run_info());
        for (const std::int32_t k : {16, 32, 64}) {
            const Key key = key_in(store, k);
            store.add_measurement(run, key, measurement("spmm.a", k));
            Choice choice;
            choice.config = Config::parse("spmm.a");
            choice.source = "measured";
            choice.expected_us = k;
            store.set_choice(run, key, Policy::hot, Clock::span, choice);
        }
    }
    void begin_again() {
        for (const char* side : {"", "-wal", "-shm"}) std::filesystem::remove(file().string() + side);
        StoreSchema::SetUp();
    }
    void TearDown() override {
        set_patience({});
        StoreTest::TearDown();
    }

    /// As another program does it, that trusts everything.
    void alter(const std::string& sql) const {
        sqlite3* handle = nullptr;
        ASSERT_EQ(sqlite3_open(file().c_str(), &handle), SQLITE_OK);
        char* words = nullptr;
        const int code = sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &words);
        EXPECT_EQ(code, SQLITE_OK) << sql << ": " << (words ? words : "");
        sqlite3_free(words);
        sqlite3_close(handle);
    }
    void put_endless_view(const std::string& table) const {
        alter("pragma legacy_alter_table = on; alter table " + table + " rename to moved; create view " + table +
              " as " + kEndless);
    }
    std::vector<std::string> problems() const {
        OpenOptions options;
        options.any_schema = true;
        return Store::open(file(), Mode::read_only, options).check();
    }
    void expect_refused(const std::string& fault) const {
        for (const Mode mode : {Mode::read_only, Mode::read_write_create}) {
            const std::string words = error_of(ErrorKind::database, [&] { Store::open(file(), mode); });
            EXPECT_TRUE(contains(words, fault + ", "));
            EXPECT_TRUE(contains(words, "gnntune db rescue"));
        }
        ASSERT_FALSE(problems().empty());
        EXPECT_EQ(problems().front(), fault);
        EXPECT_EQ(Database::damage_of(file()), std::nullopt) << "it is not set aside";
    }
};

TEST_F(StoreSchema, AnEndlessViewInThePlaceOfATableIsRefused) {
    for (const std::string table : {"graph", "measurement", "choice", "erratum", "problem"}) {
        begin_again();
        put_endless_view(table);
        expect_refused("the table " + table + " is a view");
        Store target = Store::open(file("target.db"), Mode::read_write_create);
        EXPECT_TRUE(contains(error_of(ErrorKind::database, [&] { target.merge(file()); }), "is a view"));
    }
}

TEST_F(StoreSchema, AnEndlessViewOfOursIsRefused) {
    alter(
        "drop view best; create view best as with recursive c(x) as (select 1 union all select x + 1 from c) "
        "select * from c where x < 0");
    expect_refused("the view best is not as gnntune makes it");
}

TEST_F(StoreSchema, WhatIsMissingIsSaid) {
    for (const std::string what : {"table erratum", "table counter", "table device_constant", "table format_build",
                                   "table graph_name", "view best", "view failures", "index measurement_by_key"}) {
        begin_again();
        alter("drop " + what);
        expect_refused("the " + what + " is missing");
    }
}

TEST_F(StoreSchema, TablesThatAreNotOrdinaryAreRefused) {
    alter(
        "drop table erratum; create table erratum (id integer primary key, condition as (hex(zeroblob(9))), reason, "
        "added_at)");
    expect_refused("the table erratum is not as gnntune makes it");
}

TEST_F(StoreSchema, TablesOfALaterSchemaAreRefused) {
    alter("pragma user_version = 1");
    expect_refused("the view accuracies belongs to a later schema than the file says it has");
}

TEST_F(StoreSchema, IndicesThatKeepRowsOutAreRefused) {
    for (const std::string index :
         {"create unique index odd on measurement (graph_id)", "create index odd on measurement (hex(config))",
          "create index odd on measurement (config) where samples > 1"}) {
        alter("drop index if exists odd; delete from choice; delete from measurement; " + index);
        expect_refused("the index odd on measurement is not gnntune's, and may keep rows out");
    }
}

TEST_F(StoreSchema, TriggersAreNamedAndNeverRun) {
    alter("create trigger tr after insert on measurement begin delete from choice; end");
    ASSERT_EQ(problems().size(), 1U);
    EXPECT_TRUE(contains(problems().front(), "the trigger tr on measurement is not gnntune's"));
    Store store = open();
    store.add_measurement(store.begin_run(run_info()), key_in(store), measurement("spmm.b", 1));
    EXPECT_EQ(store.choices().size(), 3U);
    EXPECT_EQ(store.prune(false).superseded, 0);
}

TEST_F(StoreSchema, WhatSomebodyElsePutsBesideIsLeftAlone) {
    alter(
        "create table note (words); insert into note values ('mine'); create trigger tn after insert on note begin "
        "delete from note; end; create view mine as select * from best; create index on_note on note (words); analyze");
    EXPECT_EQ(problems(), std::vector<std::string>{});
    const Store store = open();
    EXPECT_EQ(store.others(), (std::vector<std::string>{"view mine", "table note"}));
    EXPECT_EQ(store.best().size(), 3U);
    EXPECT_EQ(store.database().text("SELECT words FROM note", "reading"), "mine");
    alter("create index on_reason on measurement (reason)");
    ASSERT_EQ(problems().size(), 1U);
    EXPECT_TRUE(contains(problems().front(), "the index on_reason on measurement is not gnntune's"));
    open();
}

// As another version of SQLite may write a definition.
TEST_F(StoreSchema, ADefinitionMayBeWrittenOtherwise) {
    alter(
        "pragma writable_schema = on; update sqlite_schema set sql = replace(replace(sql, 'CREATE TABLE graph (', "
        "'create  table \"graph\"(/* as before */'), char(10), '  ') where name in ('graph', 'graph_name')");
    EXPECT_EQ(problems(), std::vector<std::string>{});
    EXPECT_EQ(open().graphs().size(), 1U);
}

TEST(PlainDefinition, KeepsWhatMatters) {
    EXPECT_EQ(plain_definition("CREATE  TABLE \"a\" (b -- c\n TEXT CHECK (b <> 'X -- y'))"),
              "create table a(b text check(b<>'X -- y'))");
    EXPECT_EQ(plain_definition("[a] `b` \"c d\" /* e"), "a b\"c d\"");
    EXPECT_EQ(plain_definition("'a''b' \"\" 'open"), "'a''b'\"\"'open");
    EXPECT_NE(plain_definition("CHECK (a IN ('hot'))"), plain_definition("CHECK (a IN ('HOT'))"));
    EXPECT_NE(plain_definition("ab"), plain_definition("a b"));
    EXPECT_EQ(plain_definition("\""), "\"");
}

TEST_F(StoreSchema, RescueSavesWhatIsATableAndEnds) {
    put_endless_view("device_constant");
    alter(
        "drop table counter; drop view best; create trigger tr after insert on measurement begin delete from choice; "
        "end");
    std::size_t lost = 0;
    for (const RescuedTable& table : rescue(file(), file("rescued.db"))) {
        const bool is_lost = table.name == "device_constant" || table.name == "counter";
        EXPECT_EQ(table.whole, !is_lost) << table.name;
        lost += is_lost ? 1 : 0;
    }
    EXPECT_EQ(lost, 2U);
    const Store rescued = Store::open(file("rescued.db"), Mode::read_only);
    EXPECT_EQ(rescued.check(), std::vector<std::string>{});
    EXPECT_EQ(rescued.choices().size(), 3U);
}

TEST_F(StoreSchema, AStatementThatWorksForTooLongIsEnded) {
    const Store store = open();
    constexpr const char* kForEver = "with recursive c(x) as (select 1 union all select x + 1 from c) select x from c";
    set_patience({std::chrono::milliseconds(100), nullptr});
    const auto hang = [&](const std::string& sql) {
        Statement s = store.database().prepare(sql, "waiting");
        while (s.step()) {
        }
    };
    EXPECT_THROW(hang(std::string(kForEver) + " where x < 0"), StatementStopped);
    EXPECT_THROW(hang(kForEver), StatementStopped) << "rows without end";
    EXPECT_THROW(store.database().execute(kForEver, "waiting"), StatementStopped);
    EXPECT_EQ(store.graphs().size(), 1U) << "the next one has time of its own";
    static bool asked = false;
    asked = false;
    set_patience({std::nullopt, [] { return asked = true; }});
    EXPECT_EQ(store.graphs().size(), 1U);
    EXPECT_FALSE(asked) << "what is short is never ended";
    EXPECT_THROW(hang(kForEver), StatementStopped);
    EXPECT_TRUE(asked);
}

}  // namespace
}  // namespace gnntune::store

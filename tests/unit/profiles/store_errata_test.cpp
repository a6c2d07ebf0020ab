// Errata in the store: kept, checked, and carried to other databases.
#include <fstream>
#include <sstream>

#include "profiles/document/document.hpp"
#include "profiles/store/rescue.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

class StoreErrataTest : public StoreTest {
protected:
    static Erratum erratum(const std::string& condition, const std::string& reason = "wrong") {
        return parse_erratum(condition, reason);
    }
    static std::string text_of(const Store& store) {
        std::string out;
        for (const ErratumRow& row : store.errata()) out += row.condition + " (" + row.reason + ")\n";
        return out;
    }
    /// A file as it was before errata were stored.
    void make_older_file() const {
        OpenOptions options;
        options.migrations = shipped_migrations().first(1);
        Store store = Store::open(file(), Mode::read_write_create, options);
        store.add_measurement(store.begin_run(run_info()), key_in(store), measurement("spmm.a", 1));
    }
};

TEST_F(StoreErrataTest, AreAddedReplacedAndRemoved) {
    Store store = open();
    EXPECT_EQ(text_of(store), "");
    const std::int64_t first = store.add_erratum(erratum("variant=spmm.a k<=8"));
    EXPECT_NE(store.add_erratum(erratum("variant=spmm.b")), first);
    EXPECT_EQ(store.add_erratum(erratum("k<=8 variant=spmm.a", "worse")), first);
    EXPECT_EQ(text_of(store), "variant=spmm.a k<=8 (worse)\nvariant=spmm.b (wrong)\n");
    EXPECT_TRUE(store.remove_erratum(first));
    EXPECT_FALSE(store.remove_erratum(first));
    EXPECT_EQ(text_of(store), "variant=spmm.b (wrong)\n");
    EXPECT_EQ(store.check(), std::vector<std::string>{});
}

TEST_F(StoreErrataTest, CheckFindsWhatNobodyUnderstands) {
    Store store = open();
    store.database().execute(
        "INSERT INTO erratum (condition, reason, added_at) VALUES ('variant=a colour=blue', 'x', "
        "'2026-11-21T09:30:00Z'), "
        "('k<=8 variant=spmm.a', 'x', '2026-11-21T09:30:00Z')",
        "damaging");
    const auto rows = store.errata();
    EXPECT_FALSE(rows.at(0).erratum);
    EXPECT_TRUE(rows.at(1).erratum);
    const auto problems = store.check();
    ASSERT_EQ(problems.size(), 2u);
    EXPECT_TRUE(contains(problems[0], "there is no condition colour="));
    EXPECT_TRUE(contains(problems[1], "expected 'variant=spmm.a k<=8'"));
}

TEST_F(StoreErrataTest, WhatNoDocumentCanCarryIsNotAdded) {
    Store store = open();
    Erratum bytes = erratum("variant=spmm.a");
    bytes.device = "GPU \xff";
    EXPECT_TRUE(contains(error_of(ErrorKind::invalid_argument, [&] { store.add_erratum(bytes); }), "is not UTF-8"));
    EXPECT_TRUE(store.errata().empty());
    // A reason may be of any bytes.
    store.add_erratum(erratum("variant=spmm.a", "wrong \xff"));
    EXPECT_EQ(store.check(), std::vector<std::string>{});
}

TEST_F(StoreErrataTest, MergingCarriesThem) {
    {
        Store from = Store::open(file("from.db"), Mode::read_write_create);
        from.add_erratum(erratum("variant=spmm.a", "theirs"));
        from.add_erratum(erratum("variant=spmm.b"));
    }
    Store store = open();
    store.add_erratum(erratum("variant=spmm.a", "ours"));
    const auto date = [this](const std::string& name, const std::string& day) {
        Database::open(file(name), Access::read_write_create)
            .execute("UPDATE erratum SET added_at = '2026-11-" + day + "T09:30:00Z'", "dating");
    };
    date("test.db", "20");
    date("from.db", "19");
    EXPECT_EQ(store.merge(file("from.db")).errata, 1);
    EXPECT_EQ(store.merge(file("from.db")).errata, 0);
    EXPECT_EQ(text_of(store), "variant=spmm.a (ours)\nvariant=spmm.b (wrong)\n");
    date("from.db", "21");
    EXPECT_EQ(store.merge(file("from.db")).errata, 1) << "the reason that was given later stands";
    EXPECT_EQ(text_of(store), "variant=spmm.a (theirs)\nvariant=spmm.b (wrong)\n");
}

TEST_F(StoreErrataTest, DocumentsCarryThem) {
    Store store = open();
    store.add_erratum(erratum("variant=spmm.a device=\"NVIDIA H200*\"", "a \"quoted\" word"));
    const auto written = [](const Store& from) {
        std::string out;
        write_document(from, [&](std::string_view bytes) { out += bytes; });
        return out;
    };
    const std::string text = written(store);
    const auto import = [&](const std::string& document, const char* name) {
        std::istringstream in(document);
        import_document(
            [&](char* to, std::size_t n) {
                in.read(to, static_cast<std::streamsize>(n));
                return static_cast<std::size_t>(in.gcount());
            },
            "doc", file(name));
        return Store::open(file(name), Mode::read_only);
    };
    const Store copy = import(text, "copy.db");
    EXPECT_EQ(text_of(copy), text_of(store));
    EXPECT_EQ(written(copy), text);
    std::string wrong = text;
    wrong.replace(wrong.find("variant=spmm.a"), 14, "colour=spmm.a_");
    EXPECT_TRUE(contains(error_of(ErrorKind::input, [&] { import(wrong, "wrong.db"); }), "erratum[0].condition"));
    // A document of the schema before has no such section.
    EXPECT_EQ(text_of(import("{\"schema\":\"gnntune.database/1\",\"graph\":[]}", "older.db")), "");
}

TEST_F(StoreErrataTest, RescueCarriesThem) {
    { open().add_erratum(erratum("variant=spmm.a")); }
    const auto rescued = rescue(file(), file("rescued.db"));
    EXPECT_EQ(text_of(Store::open(file("rescued.db"), Mode::read_only)), "variant=spmm.a (wrong)\n");
    for (const RescuedTable& table : rescued) EXPECT_TRUE(table.whole) << table.name;
}

TEST_F(StoreErrataTest, OlderFilesAreReadAsTheyAreAndHaveNone) {
    make_older_file();
    {
        const Store store = Store::open(file(), Mode::read_only);
        EXPECT_EQ(store.schema(), 1);
        EXPECT_EQ(text_of(store), "");
        EXPECT_EQ(store.best().size(), 1u);
        EXPECT_EQ(store.check(), std::vector<std::string>{});
        std::string out;
        write_document(store, [&](std::string_view bytes) { out += bytes; });
        EXPECT_TRUE(contains(out, "\"erratum\":[\n]"));
    }
    for (const RescuedTable& table : rescue(file(), file("rescued.db"))) EXPECT_TRUE(table.whole) << table.name;
    Store other = Store::open(file("other.db"), Mode::read_write_create);
    EXPECT_EQ(other.merge(file()).measurements, 1);

    open().add_erratum(erratum("variant=spmm.a"));
    EXPECT_EQ(open().schema(), 4);
    EXPECT_EQ(Store::open(file("test.db.schema-1.backup"), Mode::read_only).schema(), 1);
}

}  // namespace
}  // namespace gnntune::store

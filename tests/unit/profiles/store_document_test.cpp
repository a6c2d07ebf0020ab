// A database as JSON and back: nothing lost, and one text for one content.
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <set>

#include "profiles/fields/fields.hpp"
#include "tests/unit/profiles/document_fixture.hpp"

namespace gnntune::store {
namespace {

/// Every table in words, row by row, with the names of rows in the place of ids. Independent of the writer.
std::string content(const Store& store) {
    constexpr std::string_view kGraph = "(SELECT fingerprint FROM graph WHERE id = graph_id)";
    constexpr std::string_view kEnvironment = "(SELECT count(*) FROM environment AS e WHERE e.id <= environment_id)";
    constexpr std::string_view kProblem = "(SELECT text FROM problem WHERE id = problem_id)";
    constexpr std::string_view kRun = "(SELECT count(*) FROM run AS r WHERE r.id <= run_id)";
    const auto owner = [](const std::string& column) {
        return "(SELECT count(*) FROM measurement AS m WHERE m.id <= " + column + ")";
    };
    std::string out;
    Statement tables = store.database().prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name", "listing");
    while (tables.step()) {
        const std::string table = tables.text(0);
        std::string columns;
        Statement info =
            store.database().prepare("SELECT name, type FROM pragma_table_info(?) ORDER BY cid", "listing");
        info.bind(table);
        while (info.step()) {
            std::string column = info.text(0);
            if (column == "id" && info.view(1) == "INTEGER") {
                // A number for the order, where the order says something.
                const bool ordered = table == "environment" || table == "run" || table == "measurement";
                column = ordered ? "row_number() OVER (ORDER BY id)" : "''";
            }
            if (column == "graph_id") column = kGraph;
            if (column == "environment_id") column = kEnvironment;
            if (column == "problem_id") column = kProblem;
            if (column == "run_id") column = kRun;
            if (column == "measurement_id") column = owner("measurement_id");
            if (column == "step_choice_id") {
                column =
                    "(SELECT step || policy || clock || (SELECT fingerprint FROM graph WHERE id = s.graph_id) || "
                    "(SELECT count(*) FROM environment AS e WHERE e.id <= s.environment_id) FROM step_choice AS s "
                    "WHERE s.id = step_choice_id)";
            }
            if (column == "accuracy_id") {
                column =
                    "(SELECT model || way || (SELECT fingerprint FROM graph WHERE id = a.graph_id) || "
                    "(SELECT count(*) FROM environment AS e WHERE e.id <= a.environment_id) FROM accuracy AS a "
                    "WHERE a.id = accuracy_id)";
            }
            columns += (columns.empty() ? "" : " || '|' || ") +
                       ("iif(typeof(" + column + ") = 'text', hex(" + column + "), quote(" + column + "))");
        }
        Statement rows =
            store.database().prepare("SELECT " + columns + " AS line FROM " + table + " ORDER BY line", "listing");
        while (rows.step()) out += table + ": " + rows.text(0) + "\n";
    }
    return out;
}

class RoundTripTest : public DocumentTest {
protected:
    void fill(Store& store, unsigned seed) {
        random_.seed(seed);
        auto transaction = store.transaction();
        db_ = &store.database();
        const std::int64_t graphs = 1 + number(4);
        for (std::int64_t g = 0; g < graphs; ++g) {
            const std::int64_t id =
                moved("graph", add("graph", "fingerprint, n_rows, n_cols, m, name, source, features",
                                   Fingerprint{random_(), random_()}.text(), number(5000), number(5000),
                                   std::int64_t{INT32_MAX}, text(), text(), g == 0 ? "{}" : features()));
            for (std::int64_t n = number(3); n > 0; --n) {
                add("graph_name", "graph_id, name, source", id, text() + std::to_string(n), text());
            }
        }
        for (std::int64_t e = 1 + number(3); e > 0; --e) {
            moved("environment",
                  add("environment",
                      "backend, device_name, compute_capability, multiprocessors, memory_bytes, l2_bytes, driver, "
                      "cuda_runtime, libraries",
                      number(2) == 0 ? "cpu" : "cuda", text() + std::to_string(e), text(), number(200),
                      std::numeric_limits<std::int64_t>::max(), number(1000), text(), text(), text()));
        }
        for (const std::int32_t k : {128, 16, 7}) {
            const Problem p = problem(k);
            add("problem", "op, k, heads, dtype, reduce, weighted, direction, self_loop, text", to_text(p.op), p.k,
                p.heads, to_text(p.dtype), to_text(p.reduce), p.weighted, to_text(p.direction), p.self_loop,
                to_text(p));
        }
        add("variant", "id, version, op, backend, deterministic, approximate", "spmm.a", 2, "spmm", "cuda", true,
            false);
        add("variant", "id, version", "spmm.a", 1);
        add("variant", "id, version, deterministic", "spmm.part", 1, false);
        for (std::int64_t r = 1 + number(3); r > 0; --r) {
            // The same twice: two runs in one second.
            for (int twice = 0; twice < 2; ++twice) {
                const std::int64_t id =
                    moved("run", add("run", "command, tool_version, git_commit, started_at, ended_at, seed, host",
                                     text(r), "0.1.0", "", kTime, number(2) == 0 ? std::optional<std::string>() : kTime,
                                     std::numeric_limits<std::int64_t>::min() + r, text(r)));
                // Of runs of older programs nobody knows it.
                if (twice == 0) add("run_identity", "run_id, identity", id, Fingerprint{random_(), random_()}.text());
            }
        }
        for (int i = 0; i < 60; ++i) add_measurement();
        add_choices();
        for (const char* format : {"sgt", "csc"}) {
            add("format_build", "graph_id, environment_id, base, format, direction, build_us, bytes, taken_at",
                any_id("graph"), any_id("environment"), "coo", format, "reversed", real(), number(1000), kTime);
        }
        for (int c = 0; c < 5; ++c) {
            add("device_constant", "environment_id, name, table_bytes, row_bytes, value, unit, taken_at",
                any_id("environment"), text(), c, number(1000), -real(), text(), kTime);
        }
        for (std::int64_t e = 0; e < 2; ++e) {
            moved("erratum", add("erratum", "condition, reason, added_at", "variant=spmm.a k>=" + std::to_string(e + 2),
                                 "x" + text(), kTime));
        }
        add("removed_erratum", "condition, removed_at", "variant=spmm.b", kTime);
        for (const char* policy : {"hot", "cold"}) {
            std::string bytes;
            for (std::int64_t b = number(40); b > 0; --b) bytes += static_cast<char>(random_());
            db_->prepare(
                   "INSERT INTO model (op, backend, policy, clock, feature_version, bytes, training, scores, "
                   "tool_version, git_commit, fitted_at) VALUES ('gat', 'cuda', ?, 'span', 1, CAST(? AS BLOB), "
                   "?, ?, '', '', ?)",
                   "filling")
                .bind(policy, bytes, features(), features(), kTime)
                .run();
        }
        transaction.commit();
    }

private:
    static constexpr const char* kTime = "2026-11-21T09:30:00Z";

    template <class... T>
    std::int64_t add(const std::string& table, const std::string& columns, const T&... values) {
        std::string places;
        for (std::size_t i = 0; i < sizeof...(T); ++i) places += i == 0 ? "?" : ", ?";
        db_->prepare("INSERT INTO " + table + " (" + columns + ") VALUES (" + places + ")", "filling")
            .bind(values...)
            .run();
        return db_->last_insert_id();
    }

    // Ids have gaps: a row that nothing names yet moves up.
    std::int64_t moved(const std::string& table, std::int64_t id) {
        if (number(3) > 0) return id;
        db_->prepare("UPDATE " + table + " SET id = ? WHERE id = ?", "filling").bind(id + 5, id).run();
        return id + 5;
    }

    void add_measurement() {
        constexpr const char* kStatus[] = {"ok", "wrong", "refused", "failed", "abandoned"};
        const std::string status = kStatus[number(5)];
        const bool timed = status == "ok" || status == "abandoned";
        const double median = std::exp2(static_cast<double>(number(60)) - 30) * (1 + unit());
        const auto time = [timed](double us) { return timed ? std::optional(us) : std::nullopt; };
        const auto error = [this]() -> std::optional<double> {
            if (number(4) == 0) return std::nullopt;
            return number(4) == 0 ? std::numeric_limits<double>::infinity() : real();
        };
        const std::int64_t added = add(
            "measurement",
            "graph_id, environment_id, problem_id, run_id, config, variant, variant_version, policy, clock, status, "
            "reason, median_us, q1_us, q3_us, min_us, ci_low_us, ci_high_us, samples, sm_clock_mhz, prepare_us, "
            "workspace_bytes, format_bytes, deterministic, approximate, max_error, mean_error, worst_ratio, taken_at",
            any_id("graph"), any_id("environment"), any_id("problem"), any_id("run"),
            "spmm.a{v=" + std::to_string(number(9)) + "}", "spmm.a", 1 + number(2), number(2) == 0 ? "hot" : "cold",
            "span", status, timed ? "" : text(), time(median), time(median * (1 - unit() / 2)),
            time(median * (1 + unit())), time(median * (1 - unit() / 2)), time(median * (1 - unit() / 2)),
            time(median * (1 + unit())), 1 + number(100), number(2000), median,
            std::numeric_limits<std::int64_t>::max() - number(9), number(9), number(2) == 0, number(2) == 0, error(),
            error(), error(), kTime);
        const std::int64_t id = moved("measurement", added);
        for (std::int64_t position = 0; position < number(4); ++position) {
            add("part", "measurement_id, position, config, variant, variant_version", id, position, "spmm.part",
                "spmm.part", 1);
        }
        for (std::int64_t c = number(4); c > 0; --c) {
            add("counter", "measurement_id, name, value, taken_at", id, text() + std::to_string(c), -real(), kTime);
        }
    }

    // What an ok measurement bears out, and what nothing has to.
    void add_choices() {
        db_->execute(
            "INSERT OR IGNORE INTO choice (graph_id, environment_id, problem_id, policy, clock, config, variant, "
            "variant_version, source, reason, expected_us, tied, run_id, decided_at) "
            "SELECT graph_id, environment_id, problem_id, policy, clock, config, variant, variant_version, 'measured', "
            "'why', median_us, '[\"spmm.part\",\"spmm.a{v=1}\"]', run_id, taken_at FROM measurement WHERE status = "
            "'ok'",
            "filling");
        db_->execute(
            "INSERT OR IGNORE INTO choice (graph_id, environment_id, problem_id, policy, clock, config, variant, "
            "variant_version, source, reason, expected_us, tied, run_id, decided_at) "
            "SELECT graph_id, environment_id, problem_id, policy, 'host', config, variant, variant_version, 'model', "
            "reason, 0, '[]', run_id, taken_at FROM measurement WHERE status = 'wrong'",
            "filling");
        db_->execute(
            "INSERT OR IGNORE INTO step_choice (graph_id, environment_id, step, policy, clock, expected_steps, "
            "format_limit_bytes, formats, format_bytes, workspace_bytes, build_us, step_us, reason, run_id, "
            "decided_at) "
            "SELECT graph_id, environment_id, 'gcn 64', policy, clock, 0.1, iif(id % 2, id, NULL), 'csr', 1, 2, 0.3, "
            "0, "
            "'because', run_id, taken_at FROM measurement WHERE status = 'ok'",
            "filling");
        db_->execute(
            "INSERT INTO step_call (step_choice_id, position, problem_id, runs_per_step, runs_per_graph, config, "
            "variant, "
            "variant_version, formats, expected_us) "
            "SELECT s.id, row_number() OVER (PARTITION BY s.id) - 1, m.problem_id, 1, 2, m.config, m.variant, "
            "m.variant_version, 'none', 0.7 FROM step_choice AS s JOIN measurement AS m USING (graph_id, "
            "environment_id, "
            "policy, clock) WHERE m.status = 'ok'",
            "filling");
        db_->execute(
            "INSERT OR IGNORE INTO accuracy (graph_id, environment_id, model, model_name, way, models, vertices, "
            "accuracy, "
            "exact_accuracy, loss, loss_low, loss_high, max_error, time_us, exact_us, run_id, taken_at) "
            "SELECT graph_id, environment_id, '00112233445566778899aabbccddeeff', reason, 'bucket S=8; exact', 10, "
            "500, 0.1, "
            "0.30000000000000004, 0.2, -0.1, 0.7, 0.9, 0.3, 0.4, run_id, taken_at FROM measurement WHERE status = 'ok'",
            "filling");
        db_->execute(
            "INSERT INTO accuracy_call (accuracy_id, position, problem_id, rule, config, variant, variant_version, "
            "time_us) "
            "SELECT a.id, row_number() OVER (PARTITION BY a.id) - 1, m.problem_id, 'bucket S=8', m.config, m.variant, "
            "m.variant_version, 0.7 FROM accuracy AS a JOIN measurement AS m USING (graph_id, environment_id) "
            "WHERE m.status = 'ok'",
            "filling");
    }

    std::int64_t any_id(const std::string& table) {
        return db_->integer("SELECT id FROM " + table + " ORDER BY id LIMIT 1 OFFSET " +
                                std::to_string(number(db_->integer("SELECT count(*) FROM " + table, "filling"))),
                            "filling");
    }

    std::int64_t number(std::int64_t below) {
        return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below));
    }
    double unit() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
    /// Any size from 0 to the largest.
    double real() {
        const double value = std::abs(std::bit_cast<double>(random_()));
        return std::isfinite(value) ? value : 0;
    }
    std::string text(std::int64_t which = -1) {
        static const std::string kTexts[] = {"plain",          "",
                                             "two\nlines\r\t", "quotes \" and \\",
                                             "\x01\x1f\x7f",   std::string("a\0b", 3),
                                             "schön ∑ 😀",      "\xe9t\xe9 in Latin-1",
                                             "\xed\xa0\x80",   "</script>"};
        return kTexts[which >= 0 ? which : number(std::size(kTexts))];
    }
    std::string features() {
        return R"({"big":18446744073709551615,"list":[1,2.50,-3e-7,[]],"empty":{},"text":"∑ \"\\ \n","null":null,"b":)" +
               std::string(number(2) == 0 ? "true}" : "false}");
    }

    std::mt19937_64 random_;
    const Database* db_ = nullptr;
};

TEST_F(RoundTripTest, WhateverIsInTheTablesComesBack) {
    for (unsigned seed = 1; seed <= 25; ++seed) {
        SCOPED_TRACE(seed);
        const std::string name = std::to_string(seed) + ".db";
        std::string before;
        std::string first;
        {
            Store store = at(name);
            fill(store, seed);
            ASSERT_EQ(store.check(), std::vector<std::string>{});
            before = content(store);
            first = written(store);
            ASSERT_EQ(written(store), first);
        }

        import(first, "copy-" + name);

        Store copy = at("copy-" + name);
        EXPECT_EQ(copy.check(), std::vector<std::string>{});
        EXPECT_EQ(content(copy), before);
        EXPECT_EQ(written(copy), first);
    }
}

TEST_F(RoundTripTest, EveryTableIsFilled) {
    Store store = at("full.db");
    fill(store, 1);

    Statement tables = store.database().prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'", "listing");
    while (tables.step()) {
        EXPECT_GT(store.database().integer("SELECT count(*) FROM " + tables.text(0), "counting"), 0) << tables.view(0);
    }
}

TEST_F(DocumentTest, IsWrittenAsDocumented) {
    import(document());
    EXPECT_EQ(written(at("imported.db")), document());
    EXPECT_EQ(at("imported.db").check(), std::vector<std::string>{});
}

TEST_F(DocumentTest, OfAnEmptyDatabaseIsADocumentToo) {
    const std::string text = written(at("empty.db"));
    import(text);
    EXPECT_EQ(written(at("imported.db")), text);
    EXPECT_TRUE(contains(text, "\"measurement\":[\n],\n"));
}

TEST_F(DocumentTest, DoesNotDependOnTheOrderInWhichGraphsAndProblemsWereMet) {
    const auto fill = [this](const std::string& name, const std::vector<std::int32_t>& widths) {
        Store store = at(name);
        for (const std::int32_t k : widths) {
            (void)store.problem_id(problem(k));
            (void)store.graph_id(graph("graph " + std::to_string(k), static_cast<std::uint64_t>(k)));
        }
        return written(store);
    };
    EXPECT_EQ(fill("a.db", {16, 128, 64}), fill("b.db", {64, 16, 128}));
}

TEST_F(DocumentTest, MayBeLaidOutInAnotherWay) {
    // As a formatter or another program writes it: blanks, members in another order, null, escapes, sections left out.
    const std::string text = R"json({ "schema" : "gnntune.database\/1",
        "graph" : [
            { "name": "a\u00e9\ud83d\ude00", "m": 0, "n_cols": 2, "n_rows": 1, "features": { "x" : [ 1 , 2.0 ] }, "source": "",
              "fingerprint": "0123456789abcdef0123456789abcdef", "graph_name": [] }
        ],
        "variant" : [ {"id": "spmm.a", "version": 1, "op": null} ]
    })json";

    import(text);

    const Store store = at("imported.db");
    EXPECT_EQ(store.graphs().front().record.name, "aé😀");
    EXPECT_EQ(store.graphs().front().record.features_json, R"({"x":[1,2.0]})");
}

TEST_F(DocumentTest, HasEveryColumnOfTheSchema) {
    const Store store = at("empty.db");
    std::set<std::string> expected;
    Statement columns = store.database().prepare(
        "SELECT t.name || '.' || c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c "
        "WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' "
        // What stands for order and belonging, which the document shows by place.
        "AND NOT (c.name = 'id' AND c.type = 'INTEGER') AND c.name <> 'position' "
        "AND NOT (t.name, c.name) IN (VALUES ('graph_name', 'graph_id'), ('part', 'measurement_id'), ('run_identity', "
        "'run_id'), "
        "('counter', 'measurement_id'), ('step_call', 'step_choice_id'), ('accuracy_call', 'accuracy_id'))",
        "listing columns");
    while (columns.step()) expected.insert(columns.text(0));

    std::set<std::string> found;
    const auto add = [&found](std::string_view table, std::span<const Field> fields) {
        std::string list = columns_of(fields) + ", ";
        for (std::size_t at = 0; at < list.size();) {
            const std::size_t end = list.find(", ", at);
            found.insert(std::string(table) + "." + list.substr(at, end - at));
            at = end + 2;
        }
    };
    for (const Section& section : document_sections()) {
        add(section.name, section.fields);
        for (const ChildTable& child : section.children) add(child.name, child.fields);
    }

    EXPECT_EQ(found, expected);
}

TEST_F(DocumentTest, SaysWhatItCannotHold) {
    const auto error_after = [this](const std::string& change) {
        std::filesystem::remove(file("odd.db"));
        import(document(), "odd.db");
        const Store store = at("odd.db");
        store.database().execute("PRAGMA foreign_keys = OFF;" + change, "changing a row");
        return error_of(ErrorKind::database, [&] { (void)written(store); });
    };
    EXPECT_TRUE(contains(error_after("UPDATE measurement SET median_us = 9e999 WHERE id = 1"),
                         "row 1 of measurement: median_us is infinite"));
    EXPECT_TRUE(contains(error_after("UPDATE measurement SET worst_ratio = -9e999 WHERE id = 2"),
                         "row 2 of measurement: worst_ratio is infinite"));
    EXPECT_TRUE(contains(error_after("UPDATE choice SET graph_id = 77"),
                         "row 1 of choice: it names graph 77, which does not exist"));
    EXPECT_TRUE(contains(error_after("UPDATE measurement SET variant = 'spmm.rows', variant_version = 3 WHERE id = 1"),
                         "the config spmm.pair{spmm=default} stands under the variant spmm.rows"));
    EXPECT_TRUE(contains(error_after("UPDATE graph SET features = '{\"a\":1,\"a\":2}' WHERE id = 1"),
                         "row 1 of graph: features cannot be written as JSON: the key \"a\" stands twice"));
}

TEST_F(DocumentTest, IsOneStateOfTheDatabase) {
    Store store = at("one.db");
    Store other = at("one.db");
    (void)store.graph_id(graph("a", 1));
    bool added = false;
    std::string text;
    write_document(store, [&](std::string_view bytes) {
        text += bytes;
        if (!added) (void)other.problem_id(problem(16));  // behind the graphs that are being written
        added = true;
    });
    EXPECT_TRUE(added);
    EXPECT_TRUE(contains(text, "\"problem\":[\n],"));
}

}  // namespace
}  // namespace gnntune::store

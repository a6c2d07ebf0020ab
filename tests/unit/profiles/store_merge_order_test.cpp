// Databases give the same, in whatever order they are taken in and however often; and stamps that cannot be do not win.
#include <algorithm>
#include <functional>
#include <iterator>
#include <random>
#include <tuple>

#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

constexpr const char* kFuture = "2940-01-01T00:00:00Z";

/// All that stands in a database, with values in the place of ids, in an order that does not depend on them. Of rows of
/// one attempt their order counts, and of the names of a graph that they are there.
std::string content_of(const Store& store) {
    constexpr const char* kQueries[] = {
        "SELECT fingerprint, n_rows, n_cols, m, features FROM graph",
        "SELECT fingerprint, n FROM graph JOIN (SELECT id AS graph_id, name AS n FROM graph UNION SELECT graph_id, "
        "name "
        "FROM graph_name) ON graph_id = graph.id",
        "SELECT backend, device_name, driver FROM environment",
        "SELECT * FROM variant",
        "SELECT text FROM problem",
        "SELECT command, started_at, ended_at, seed, host, identity FROM run LEFT JOIN run_identity ON run_id = id",
        "SELECT fingerprint, driver, text, config, variant_version, policy, clock, status, reason, median_us, samples, "
        "taken_at, r.seed, row_number() OVER (PARTITION BY graph_id, environment_id, problem_id, policy, clock, "
        "config, "
        "variant_version ORDER BY m.id), "
        "(SELECT group_concat(name || value || taken_at) FROM (SELECT * FROM counter WHERE measurement_id = m.id ORDER "
        "BY "
        "name)), "
        "(SELECT group_concat(config || variant_version) FROM (SELECT * FROM part WHERE measurement_id = m.id ORDER BY "
        "position)) "
        "FROM measurement AS m JOIN graph ON graph.id = graph_id JOIN environment AS e ON e.id = environment_id "
        "JOIN problem ON problem.id = problem_id JOIN run AS r ON r.id = run_id",
        "SELECT fingerprint, driver, text, policy, clock, config, variant_version, choice.reason, expected_us, tied, "
        "r.seed, decided_at FROM choice JOIN graph ON graph.id = graph_id JOIN environment AS e ON e.id = "
        "environment_id "
        "JOIN problem ON problem.id = problem_id JOIN run AS r ON r.id = run_id",
        "SELECT fingerprint, driver, step, policy, clock, step_us, reason, decided_at, "
        "(SELECT group_concat(text || config || expected_us) FROM (SELECT * FROM step_call JOIN problem ON problem.id "
        "= "
        "problem_id WHERE step_choice_id = s.id ORDER BY position)) "
        "FROM step_choice AS s JOIN graph ON graph.id = graph_id JOIN environment AS e ON e.id = environment_id",
        "SELECT fingerprint, driver, base, format, build_us, bytes, taken_at FROM format_build "
        "JOIN graph ON graph.id = graph_id JOIN environment AS e ON e.id = environment_id",
        "SELECT driver, name, value, unit, taken_at FROM device_constant JOIN environment AS e ON e.id = "
        "environment_id",
        "SELECT op, backend, policy, clock, feature_version, hex(bytes), training, scores, fitted_at FROM model",
        "SELECT condition, reason, added_at FROM erratum",
        "SELECT * FROM removed_erratum",
    };
    std::string out;
    for (const char* query : kQueries) {
        std::vector<std::string> lines;
        Statement rows = store.database().prepare(query, "listing");
        while (rows.step()) {
            std::string& line = lines.emplace_back();
            for (int c = 0; c < rows.columns(); ++c) line += rows.is_null(c) ? "NULL|" : rows.text(c) + "|";
        }
        std::sort(lines.begin(), lines.end());
        out += std::string("-- ") + query + "\n";
        for (const std::string& line : lines) out += line + "\n";
    }
    return out;
}

class StoreMergeOrderTest : public StoreTest {
protected:
    Store at(const std::string& name) const { return Store::open(file(name), Mode::read_write_create); }

    static void set(const Store& store, const std::string& sql) { store.database().execute(sql, "setting"); }

    Measurement taken(const std::string& config, double us, const std::string& at) const {
        Measurement m = measurement(config, us);
        m.taken_at = at;
        return m;
    }

    /// Merges into a new database.
    std::string merged(const std::vector<std::string>& names, const std::string& into) const {
        Store target = at(into);
        for (const std::string& name : names) target.merge(file(name));
        for (const std::string& problem : target.check()) {
            EXPECT_TRUE(contains(problem, "model of")) << "of which there are none that can be read";
        }
        return content_of(target);
    }
};

/// Makes databases that share runs, graphs and devices, and disagree about the rest.
class RandomDatabases {
public:
    RandomDatabases(unsigned seed, std::function<Measurement(const std::string&, double)> measurement)
        : random_(seed), measurement_(std::move(measurement)) {
        for (int r = 0; r < 6; ++r) {
            Run run;
            run.seed = r;
            run.identity = r % 3 == 2 ? "" : Fingerprint{random_(), random_()}.text();
            run.started_at = stamp();
            for (std::int64_t n = 1 + number(6); n > 0; --n) {
                Row row{number(2), number(2), number(2), measurement_(config(), 1.0 + static_cast<double>(number(5)))};
                row.m.taken_at = stamp();
                row.m.variant_version = static_cast<std::int32_t>(1 + number(2));
                if (number(4) == 0) row.m.parts.push_back({Config::parse("spmm.part"), 1});
                run.rows.push_back(std::move(row));
            }
            runs_.push_back(std::move(run));
        }
    }

    void fill(Store& store) {
        auto transaction = store.transaction();
        const Database& db = store.database();
        std::vector<std::tuple<Key, Measurement, std::int64_t>> there;
        for (const Run& run : runs_) {
            // The first rows of it: it may have gone on after the copy was made.
            const auto rows = number(static_cast<std::int64_t>(run.rows.size()) + 2) - 1;
            if (rows < 0) continue;
            const std::int64_t id = store.begin_run({"tune", "0.1.0", "abc", run.seed, ""});
            db.prepare("DELETE FROM run_identity WHERE run_id = ?", "unnaming").bind(id).run();
            if (!run.identity.empty()) {
                db.prepare("INSERT INTO run_identity VALUES (?, ?)", "naming").bind(id, run.identity).run();
            }
            const bool ended = rows == static_cast<std::int64_t>(run.rows.size());
            db.prepare("UPDATE run SET started_at = ?, ended_at = ? WHERE id = ?", "dating")
                .bind(run.started_at, ended ? std::optional<std::string>("2026-11-21T10:00:00Z") : std::nullopt, id)
                .run();
            for (std::int64_t i = 0; i < rows; ++i) {
                const Row& row = run.rows[static_cast<std::size_t>(i)];
                const Key key = key_of(store, row);
                const std::int64_t added = store.add_measurement(id, key, row.m);
                if (number(3) == 0) {
                    db.prepare("INSERT INTO counter VALUES (?, 'l2_hit_percent', ?, ?)", "counting")
                        .bind(added, static_cast<double>(number(3)), stamp())
                        .run();
                }
                there.emplace_back(key, row.m, id);
            }
        }
        for (const auto& [key, m, run] : there) {
            if (number(2) == 0) continue;
            Choice choice;
            choice.config = m.config;
            choice.variant_version = m.variant_version;
            choice.source = "measured";
            choice.reason = "r" + std::to_string(number(2));
            choice.expected_us = m.median_us;
            store.set_choice(run, key, m.policy, m.clock, choice);
            StepChoice step;
            step.step = "gcn 8";
            step.reason = "s" + std::to_string(number(2));
            const Problem problem = problem_of(key.problem == store.problem_id(problem_of(0)) ? 0 : 1);
            step.calls.push_back({problem, 1, 0, m.config, m.variant_version, "none", m.median_us});
            store.set_step_choice(run, key.graph, key.environment, m.policy, m.clock, step);
            store.put_format_build(key.graph, key.environment,
                                   {"csr", "sgt", Direction::forward, static_cast<double>(number(3)), number(3)});
            store.put_device_constant(key.environment,
                                      {"copy_gbps", 0, 0, static_cast<double>(number(3)), "GB/s", stamp()});
        }
        for (const char* table : {"choice", "step_choice"}) {
            db.execute(std::string("UPDATE ") + table + " SET decided_at = '" + stamp() + "'", "dating");
        }
        db.execute("UPDATE format_build SET taken_at = '" + stamp() + "'", "dating");
        ModelRow model;
        model.bytes = "bytes " + std::to_string(number(3));
        model.training = number(2) == 0 ? R"({"graphs":["a"]})" : R"({"graphs":["b"]})";
        model.scores = "{}";
        model.fitted_at = stamp();
        if (number(2) == 0) store.put_model(model);
        for (const char* condition : {"variant=spmm.a", "variant=spmm.b", "variant=spmm.c"}) {
            const auto what = number(3);
            if (what == 0) {
                db.prepare("INSERT INTO erratum (condition, reason, added_at) VALUES (?, ?, ?)", "adding")
                    .bind(condition, "r" + std::to_string(number(2)), stamp())
                    .run();
            } else if (what == 1) {
                db.prepare("INSERT INTO removed_erratum VALUES (?, ?)", "removing").bind(condition, stamp()).run();
            }
        }
        transaction.commit();
    }

private:
    struct Row {
        std::int64_t graph, environment, problem;
        Measurement m;
    };
    struct Run {
        std::int64_t seed = 0;
        std::string identity;
        std::string started_at;
        std::vector<Row> rows;
    };

    std::int64_t number(std::int64_t below) {
        return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below));
    }
    /// Few seconds, so that many agree; some past now.
    std::string stamp() {
        const char* stamps[] = {"2026-11-20T09:30:00Z", "2026-11-20T09:30:01Z", "2026-11-20T09:30:02Z", kFuture,
                                "2941-01-01T00:00:00Z"};
        return stamps[number(std::size(stamps))];
    }
    std::string config() { return "spmm.a{v=" + std::to_string(number(2)) + "}"; }
    static Problem problem_of(std::int64_t n) {
        return {Op::spmm, n == 0 ? 16 : 64, 1, DType::f32, Reduce::sum, true, Direction::forward};
    }
    Key key_of(Store& store, const Row& row) {
        const std::string features = number(2) == 0 ? "{}" : R"({"mean_degree":3})";
        const std::string name = "g" + std::to_string(number(2));
        return {store.graph_id({{7, static_cast<std::uint64_t>(row.graph)}, 10, 10, 20, name, "file", features}),
                store.environment_id({Backend::cuda, "GPU", "9.0", 1, 1, 1, std::to_string(row.environment), "", ""}),
                store.problem_id(problem_of(row.problem))};
    }

    std::mt19937_64 random_;
    std::function<Measurement(const std::string&, double)> measurement_;
    std::vector<Run> runs_;
};

TEST_F(StoreMergeOrderTest, RandomDatabasesGiveTheSameInEveryOrder) {
    for (unsigned seed = 1; seed <= 12; ++seed) {
        SCOPED_TRACE(seed);
        const std::string prefix = std::to_string(seed) + "-";
        RandomDatabases random(seed, [](const std::string& config, double us) { return measurement(config, us); });
        std::vector<std::string> names;
        for (const char* name : {"a.db", "b.db", "c.db"}) {
            names.push_back(prefix + name);
            Store store = at(names.back());
            random.fill(store);
        }
        const std::string expected = merged(names, prefix + "all.db");
        int number = 0;
        std::vector<std::string> order = names;
        while (std::next_permutation(order.begin(), order.end())) {
            EXPECT_EQ(merged(order, prefix + std::to_string(++number) + ".db"), expected);
        }
        EXPECT_EQ(number, 5);
        // Once more, and what has everything: nothing is new.
        order = names;
        order.insert(order.end(), {prefix + "1.db", names[1], names[0]});
        EXPECT_EQ(merged(order, prefix + "again.db"), expected);
        // Into one of them, and together before they come.
        at(names[0]).merge(file(names[1]));
        EXPECT_EQ(merged({names[2], names[0]}, prefix + "pair.db"), expected);
        at(names[2]).merge(file(names[0]));
        EXPECT_EQ(content_of(at(names[2])), expected);
    }
}

TEST_F(StoreMergeOrderTest, ACopyAddsNothingAndTwoRunsOfOneSecondStayTwo) {
    // Of a program that gives runs their identities, and of one that did not.
    for (const bool has_identities : {true, false}) {
        const std::string prefix = has_identities ? "new-" : "old-";
        Store a = at(prefix + "a.db");
        const Key key = key_in(a);
        for (const double us : {10, 11}) {
            const std::int64_t run = a.begin_run(run_info());
            a.add_measurement(run, key, measurement("spmm.rows{vec=4}", us));
            a.add_measurement(run, key, not_ok("spmm.rows{vec=2}", MeasurementStatus::failed, "why"));
            a.add_measurement(run, key, not_ok("spmm.rows{vec=2}", MeasurementStatus::failed, "why"));
            a.end_run(run);
        }
        set(a, "UPDATE run SET started_at = '2026-11-21T09:29:00Z'");
        if (!has_identities) set(a, "DELETE FROM run_identity");
        a.database().copy_to(file(prefix + "copy.db"));
        const std::string before = content_of(a);

        const MergeReport report = a.merge(file(prefix + "copy.db"));

        EXPECT_EQ(report.runs, 0);
        EXPECT_EQ(report.measurements, 0);
        EXPECT_EQ(report.known, 6);
        EXPECT_EQ(content_of(a), before);
        EXPECT_EQ(merged({prefix + "copy.db", prefix + "a.db"}, prefix + "both.db"), before);
        EXPECT_EQ(at(prefix + "both.db").runs().size(), 2U);
    }
}

TEST_F(StoreMergeOrderTest, RunsOfTwoMachinesThatSayTheSameStayTwo) {
    for (const char* name : {"a.db", "b.db"}) {
        Store store = at(name);
        const std::int64_t run = store.begin_run(run_info());
        store.add_measurement(run, key_in(store), measurement("spmm.rows{vec=4}", 10));
        set(store, "UPDATE run SET started_at = '2026-11-21T09:29:00Z'");
    }
    Store a = at("a.db");
    EXPECT_EQ(a.merge(file("b.db")).runs, 1);
    EXPECT_EQ(a.measurements(key_in(a)).size(), 2U);
}

TEST_F(StoreMergeOrderTest, RowsOfTheFutureAreSaidAndDoNotWin) {
    Store wrong = at("wrong.db");
    const Key key = key_in(wrong);
    {
        const std::int64_t run = wrong.begin_run(run_info());
        wrong.add_measurement(run, key, taken("spmm.rows{vec=4}", 233.8, "2940-01-01T00:00:00Z"));
        Choice choice;
        choice.config = Config::parse("spmm.rows{vec=4}");
        choice.source = "measured";
        wrong.set_choice(run, key, Policy::hot, Clock::span, choice);
        StepChoice step;
        step.step = "gcn 8";
        step.reason = "wrong";
        step.calls.push_back({problem(), 1, 0, choice.config, 1, "none", 1});
        wrong.set_step_choice(run, key.graph, key.environment, Policy::hot, Clock::span, step);
        wrong.put_format_build(key.graph, key.environment, {"csr", "sgt", Direction::forward, 1, 1});
        wrong.put_device_constant(key.environment, {"copy_gbps", 0, 0, 1, "GB/s", kFuture});
        for (const char* table : {"choice", "step_choice"}) {
            set(wrong, std::string("UPDATE ") + table + " SET decided_at = '2940-01-01T00:00:00Z'");
        }
        set(wrong, "UPDATE format_build SET taken_at = '2940-01-01T00:00:00Z'");
    }
    EXPECT_EQ(wrong.check(), std::vector<std::string>{}) << "a wrong clock is no damage";
    ASSERT_EQ(wrong.doubts().size(), 1U);
    EXPECT_TRUE(contains(wrong.doubts().front(), "5 rows are stamped later than now, the last 2940-01-01T00:00:00Z"));
    {
        Store honest = at("honest.db");
        const Key there = key_in(honest);
        const std::int64_t run = honest.begin_run(run_info());
        honest.add_measurement(run, there, taken("spmm.rows{vec=4}", 75.2, "2026-11-20T09:30:00Z"));
        honest.add_measurement(run, there, taken("spmm.rows{vec=2}", 99, "2026-11-20T09:30:00Z"));
        Choice choice;
        choice.config = Config::parse("spmm.rows{vec=2}");
        choice.source = "measured";
        honest.set_choice(run, there, Policy::hot, Clock::span, choice);
        StepChoice step;
        step.step = "gcn 8";
        step.reason = "honest";
        step.calls.push_back({problem(), 1, 0, choice.config, 1, "none", 1});
        honest.set_step_choice(run, there.graph, there.environment, Policy::hot, Clock::span, step);
        honest.put_format_build(there.graph, there.environment, {"csr", "sgt", Direction::forward, 2, 2});
        honest.put_device_constant(there.environment, {"copy_gbps", 0, 0, 2, "GB/s", "2026-11-20T09:30:00Z"});
        EXPECT_EQ(honest.doubts(), std::vector<std::string>{});
    }
    for (const auto& order : {std::vector<std::string>{"wrong.db", "honest.db"}, {"honest.db", "wrong.db"}}) {
        const std::string into = "into-" + order.front();
        Store target = at(into);
        std::vector<std::string> notes;
        for (const std::string& name : order) {
            for (const std::string& note : target.merge(file(name)).notes) notes.push_back(note);
        }
        ASSERT_EQ(notes.size(), 1U);
        EXPECT_TRUE(contains(notes.front(), "stamped later than now"));
        const Key there = key_in(target);
        EXPECT_EQ(target.best().front().time_us, 75.2);
        EXPECT_EQ(target.choice(there, Policy::hot, Clock::span)->config.text(), "spmm.rows{vec=2}");
        EXPECT_EQ(target.step_choices().front().choice.reason, "honest");
        EXPECT_EQ(target.format_builds(there.graph, there.environment).front().build_us, 2);
        EXPECT_EQ(target.device_constants(there.environment).front().value, 2);
        EXPECT_EQ(target.prune(false).superseded, 1);
        EXPECT_EQ(target.best().front().time_us, 75.2) << "the honest row is the one that stays";
    }
}

TEST_F(StoreMergeOrderTest, CountersThatWereTakenLaterComeToRowsThatAreHere) {
    Store a = at("a.db");
    const Key key = key_in(a);
    const std::int64_t row = a.add_measurement(a.begin_run(run_info()), key, measurement("spmm.rows{vec=4}", 10));
    a.database().copy_to(file("copy.db"));
    Counters counters;
    counters.l2_hit_percent = 77;
    a.put_counters(row, counters);
    Store copy = at("copy.db");
    EXPECT_EQ(copy.merge(file("a.db")).measurements, 0);
    EXPECT_EQ(copy.measurements(key).front().counters->l2_hit_percent, 77);
}

TEST_F(StoreMergeOrderTest, TimesFarApartAreSaidOnce) {
    Store a = at("a.db");
    a.add_measurement(a.begin_run(run_info()), key_in(a), measurement("spmm.rows{vec=4}", 79));
    a.add_measurement(1, key_in(a), measurement("spmm.rows{vec=2}", 79));
    {
        Store b = at("b.db");
        const std::int64_t run = b.begin_run(run_info());
        b.add_measurement(run, key_in(b), measurement("spmm.rows{vec=4}", 0.5));
        b.add_measurement(run, key_in(b), measurement("spmm.rows{vec=2}", 78));
    }
    const auto conflicts = a.merge(file("b.db")).conflicts;
    ASSERT_EQ(conflicts.size(), 1U);
    EXPECT_TRUE(contains(conflicts.front(),
                         "cora, spmm k=64 f32 sum weighted forward, hot, span: spmm.rows{vec=4} takes "
                         "0.5 us there and 79.0 us here, 158.0 times apart; both stay"));
    EXPECT_EQ(a.merge(file("b.db")).conflicts, std::vector<std::string>{});
}

TEST_F(StoreMergeOrderTest, ARemovedErratumDoesNotComeBack) {
    Store a = at("a.db");
    const Erratum erratum = parse_erratum("op=spmm", "wrong");
    a.add_erratum(erratum);
    a.database().copy_to(file("copy.db"));
    {
        Store fresh = at("fresh.db");
        const MergeReport report = fresh.merge(file("copy.db"));
        EXPECT_EQ(report.errata, 1);
        ASSERT_EQ(report.notes.size(), 1U);
        EXPECT_TRUE(contains(report.notes.front(), "the erratum 'op=spmm' comes along"));
        EXPECT_TRUE(contains(report.notes.front(), "(wrong)"));
    }
    ASSERT_TRUE(a.remove_erratum(a.errata().front().id));

    const MergeReport again = a.merge(file("copy.db"));
    EXPECT_EQ(again.errata, 0);
    EXPECT_TRUE(a.errata().empty());
    ASSERT_EQ(again.notes.size(), 1U);
    EXPECT_TRUE(contains(again.notes.front(), "was removed here on "));

    // Who removed it later knows better, there and here.
    Store copy = at("copy.db");
    const MergeReport gone = copy.merge(file("a.db"));
    EXPECT_TRUE(copy.errata().empty());
    ASSERT_EQ(gone.notes.size(), 1U);
    EXPECT_TRUE(contains(gone.notes.front(), "the erratum 'op=spmm' was removed there on "));

    // And who adds it again.
    a.add_erratum(erratum);
    EXPECT_EQ(a.merge(file("copy.db")).errata, 0);
    EXPECT_EQ(a.errata().size(), 1U);
    EXPECT_EQ(copy.merge(file("a.db")).errata, 1);
    EXPECT_EQ(copy.errata().size(), 1U);
}

}  // namespace
}  // namespace gnntune::store

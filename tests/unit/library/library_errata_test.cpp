// What must not run is not chosen, whoever would have chosen it.
#include <filesystem>

#include "core/registry/errata.hpp"
#include "tests/unit/common/held_back_cases.hpp"
#include "tests/unit/library/library_fixture.hpp"

namespace gnntune {
namespace {

class LibraryErrata : public LibraryTest {
protected:
    void forbid(const std::string& condition) const {
        open().add_erratum(parse_erratum(condition, "known to be wrong"));
    }
    std::string config_now() const {
        gt::Context context = cpu();
        return context.plan(graph_in(context), weighted_spmm()).config();
    }
};

TEST_F(LibraryErrata, TheNextBestRowIsChosen) {
    write({row("spmm.cpu_rows{tile=16,row_block=16}", 100), row("spmm.cpu_edges{parts=8}", 10)});
    ASSERT_EQ(config_now(), "spmm.cpu_edges{parts=8}");
    forbid("variant=spmm.cpu_edges param.parts=8 k<=7");
    EXPECT_EQ(config_now(), "spmm.cpu_edges{parts=8}");
    forbid("variant=spmm.cpu_edges param.parts=8 k<=8");
    gt::Context context = cpu();
    const gt::Plan plan = context.plan(graph_in(context), weighted_spmm());
    EXPECT_EQ(plan.config(), "spmm.cpu_rows{tile=16,row_block=16}");
    EXPECT_TRUE(contains(plan.explain(), "erratum: known to be wrong"));
    EXPECT_TRUE(contains(context.describe(), "errata     2"));
    expect_right(plan);
}

TEST_F(LibraryErrata, WhatCannotBeReadIsSaid) {
    write({row("spmm.cpu_rows{tile=16,row_block=16}", 100)});
    open().database().execute("ALTER TABLE erratum RENAME COLUMN reason TO because", "breaking it");
    EXPECT_TRUE(contains(cpu().describe(), "its errata cannot be read, and keep nothing from running"));
}

TEST_F(LibraryErrata, AViewInThePlaceOfATableIsNotRead) {
    write({row("spmm.cpu_rows{tile=16,row_block=16}", 100)});
    open().database().execute(
        "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON; ALTER TABLE graph RENAME TO moved; CREATE VIEW "
        "graph AS "
        "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT moved.* FROM moved, c WHERE c.x < 0",
        "making it endless");
    gt::Context context = cpu();
    EXPECT_TRUE(contains(context.describe(), "the table graph is a view"));
    const gt::Plan plan = context.plan(graph_in(context), weighted_spmm());
    EXPECT_EQ(plan.source(), "default");
    expect_right(plan);
    EXPECT_TRUE(contains(failure_of(GNNTUNE_DATABASE, [&] { cpu(true); }), "the table graph is a view"));
}

TEST_F(LibraryErrata, OfADemandedDatabaseTheyMustBeReadable) {
    write({row("spmm.cpu_rows{tile=16,row_block=16}", 100)});
    open().database().execute(
        "INSERT INTO erratum (condition, reason, added_at) VALUES ('colour=blue', 'x', '2026-11-21T09:30:00Z')",
        "adding what a newer version may understand");
    EXPECT_TRUE(contains(cpu(true).describe(), "there is no condition colour="));
    open().database().execute("ALTER TABLE erratum RENAME COLUMN reason TO because", "breaking it");
    EXPECT_TRUE(
        contains(failure_of(GNNTUNE_DATABASE, [&] { cpu(true); }), "the table erratum is not as gnntune makes it"));
}

TEST_F(LibraryErrata, ADefaultGivesWay) {
    const std::string standard = config_now();
    forbid("variant=" + Config::parse(standard).variant);
    gt::Context context = cpu();
    const gt::Plan plan = context.plan(graph_in(context), weighted_spmm());
    EXPECT_NE(Config::parse(plan.config()).variant, Config::parse(standard).variant);
    EXPECT_EQ(plan.source(), "default");
    expect_right(plan);
}

TEST_F(LibraryErrata, WithNothingLeftThePlanFailsInWords) {
    forbid("op=spmm");
    gt::Context context = cpu();
    const gt::Graph graph = graph_in(context);
    EXPECT_TRUE(contains(failure_of(GNNTUNE_UNSUPPORTED, [&] { context.plan(graph, weighted_spmm()); }),
                         "erratum: known to be wrong"));
}

TEST_F(LibraryErrata, TheFileBesideTheShippedDatabasesCounts) {
    const std::string standard = config_now();
    const std::string variant = Config::parse(standard).variant;
    write_file("errata.txt", "# a comment\n\nvariant=" + variant + " reason=\"shipped words\"\nnonsense\n");
    setenv("GNNTUNE_PROFILES", folder_.c_str(), 1);
    gt::Context context = cpu();
    const gt::Plan plan = context.plan(graph_in(context), weighted_spmm());
    setenv("GNNTUNE_PROFILES", "", 1);
    EXPECT_NE(Config::parse(plan.config()).variant, variant);
    EXPECT_TRUE(contains(context.describe(), "errata.txt line 4"));
}

class LibraryErrataOnMiss : public LibraryErrata {
protected:
    gt::Context tuning() const {
        gt::OpenOptions options;
        options.backend = GNNTUNE_BACKEND_CPU;
        options.sources = GNNTUNE_TUNE_ON_MISS;
        options.tune_budget_us = 5'000'000;
        return gt::Context(file().c_str(), options);
    }
    /// The source of a plan that is made now.
    std::string source_now() const {
        gt::Context context = tuning();
        const gt::Plan plan = context.plan(graph_in(context), weighted_spmm());
        expect_right(plan);
        return plan.source();
    }
    std::int64_t count(const std::string& what) const {
        return store::Store::open(file(), store::Mode::read_only).database().integer("SELECT " + what, "counting");
    }
    std::string reason() const {
        return store::Store::open(file(), store::Mode::read_only).choices().front().choice.reason;
    }
};

TEST_F(LibraryErrataOnMiss, NothingIsStoredOfWhatIsHeldBack) {
    const std::string standard = Config::parse(config_now()).variant;
    forbid("variant=" + standard);
    EXPECT_EQ(source_now(), "tuned");
    EXPECT_GT(count("count(*) FROM measurement WHERE status = 'ok'"), 0);
    EXPECT_EQ(count("count(*) FROM measurement WHERE variant = '" + standard + "'"), 0);
    EXPECT_EQ(count("count(*) FROM variant WHERE id = '" + standard + "'"), 0);
    EXPECT_EQ(count("count(*) FROM measurement WHERE reason LIKE '%must not run%'"), 0);
    EXPECT_TRUE(contains(reason(), "errata kept configs from being measured: [variant=" + standard + "]")) << reason();
    EXPECT_EQ(source_now(), "database") << "the erratum still holds";
}

// As a tuning does (tune_held_back_test.cpp).
TEST_F(LibraryErrataOnMiss, EveryKindOfErratumHolds) {
    for (const test::HeldBackCase& one : test::kHeldBackCases) {
        forbid(one.condition);
        ASSERT_EQ(source_now(), "tuned") << one.condition;
        std::size_t measured = 0;
        {
            const store::Store store = store::Store::open(file(), store::Mode::read_only);
            for (const store::ProblemRow& problem : store.problems()) {
                const store::Key key{store.graphs().front().id, store.environments().front().id, problem.id};
                for (const Measurement& m : store.measurements(key)) {
                    EXPECT_FALSE(one.covers(m.config)) << one.condition << " " << m.config.text();
                    measured += m.status == MeasurementStatus::ok ? 1 : 0;
                }
            }
        }
        EXPECT_GT(measured, 1U) << one.condition;
        std::filesystem::remove(file());
        for (const char* side : {"-wal", "-shm"}) std::filesystem::remove(file().string() + side);
    }
}

TEST_F(LibraryErrataOnMiss, WhatWasHeldBackIsMeasuredOnceTheErratumIsGone) {
    for (const std::string variant : {"spmm.cpu_rows", "spmm.eigen"}) {
        forbid("variant=" + variant);
        forbid("variant=spmm.of_another_build");
        ASSERT_EQ(source_now(), "tuned");
        ASSERT_EQ(count("count(*) FROM measurement WHERE variant = '" + variant + "'"), 0);
        ASSERT_TRUE(open().remove_erratum(1));
        const std::int64_t before = count("count(*) FROM run");

        EXPECT_EQ(source_now(), "tuned");

        EXPECT_GT(count("count(*) FROM measurement WHERE variant = '" + variant + "'"), 0);
        EXPECT_EQ(count("max(variant_version) FROM measurement WHERE variant = 'spmm.cpu_rows'"), kCpuRowsVersion);
        EXPECT_EQ(count("min(variant_version) FROM measurement WHERE variant = 'spmm.cpu_rows'"), kCpuRowsVersion);
        EXPECT_FALSE(contains(reason(), "errata kept")) << reason();
        EXPECT_EQ(source_now(), "database") << "once is enough";
        EXPECT_EQ(count("count(*) FROM run"), before + 1);
        EXPECT_EQ(open().check(), std::vector<std::string>{});
        std::filesystem::remove(file());
        for (const char* side : {"-wal", "-shm"}) std::filesystem::remove(file().string() + side);
    }
}

TEST_F(LibraryErrataOnMiss, ARowThatAnswersStaysWhereTuningIsNotAskedFor) {
    forbid("variant=spmm.cpu_rows");
    ASSERT_EQ(source_now(), "tuned");
    const std::int64_t rows = count("count(*) FROM measurement");
    ASSERT_TRUE(open().remove_erratum(1));
    gt::Context context = cpu();
    EXPECT_EQ(context.plan(graph_in(context), weighted_spmm()).source(), "database");
    EXPECT_EQ(count("count(*) FROM measurement"), rows);
}

TEST_F(LibraryErrata, WhatIsForcedRunsAndSaysSo) {
    forbid("variant=spmm.cpu_edges");
    setenv("GNNTUNE_FORCE", "spmm.cpu_edges{parts=8}", 1);
    gt::Context context = cpu();
    const gt::Plan plan = context.plan(graph_in(context), weighted_spmm());
    EXPECT_EQ(plan.config(), "spmm.cpu_edges{parts=8}");
    EXPECT_TRUE(contains(plan.explain(), "although it must not run: erratum: known to be wrong"));
    expect_right(plan);
}

}  // namespace
}  // namespace gnntune

// What must not run is not chosen, whoever would have chosen it.
#include "core/registry/errata.hpp"
#include "tests/unit/library_fixture.hpp"

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

TEST_F(LibraryErrata, OfADemandedDatabaseTheyMustBeReadable) {
    write({row("spmm.cpu_rows{tile=16,row_block=16}", 100)});
    open().database().execute(
        "INSERT INTO erratum (condition, reason, added_at) VALUES ('colour=blue', 'x', '2026-11-21T09:30:00Z')",
        "adding what a newer version may understand");
    EXPECT_TRUE(contains(cpu(true).describe(), "there is no condition colour="));
    open().database().execute("ALTER TABLE erratum RENAME COLUMN reason TO because", "breaking it");
    EXPECT_TRUE(contains(failure_of(GNNTUNE_DATABASE, [&] { cpu(true); }), "reading errata"));
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

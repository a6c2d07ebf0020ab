// Which config a plan gets, and what it says about it.
#include <regex>

#include "tests/unit/library/library_fixture.hpp"

namespace gnntune {
namespace {

class LibraryChoice : public LibraryTest {};

TEST_F(LibraryChoice, WithoutADatabaseTheDefaultRuns) {
    gt::Context context = cpu();
    const gt::Graph graph = graph_in(context);
    const gt::Plan plan = context.plan(graph, weighted_spmm());
    EXPECT_EQ(plan.source(), "default");
    EXPECT_TRUE(contains(plan.explain(), "missing"));
    EXPECT_TRUE(contains(context.describe(), file().string() + ": missing"));
    expect_right(plan);
}

TEST_F(LibraryChoice, AnUnreadableDatabaseIsNotedOrRefused) {
    write_file("test.db", "these are no measurements");
    gt::Context context = cpu();
    const gt::Graph graph = graph_in(context);
    EXPECT_TRUE(contains(context.describe(), "unreadable"));
    EXPECT_TRUE(contains(context.plan(graph, weighted_spmm()).explain(), "unreadable"));
    failure_of(GNNTUNE_DATABASE, [&] { cpu(true); });
}

TEST_F(LibraryChoice, AMissingDatabaseIsAnErrorOnDemand) {
    EXPECT_TRUE(contains(failure_of(GNNTUNE_DATABASE, [&] { cpu(true); }), "no such database"));
}

TEST_F(LibraryChoice, TheDefaultPathComesFromTheEnvironment) {
    write({row("spmm.cpu_edges{parts=8}", 5)});
    setenv("GNNTUNE_DB", file().c_str(), 1);
    gt::OpenOptions options;
    options.backend = GNNTUNE_BACKEND_CPU;
    gt::Context context(nullptr, options);
    unsetenv("GNNTUNE_DB");
    EXPECT_EQ(context.plan(graph_in(context), weighted_spmm()).config(), "spmm.cpu_edges{parts=8}");
}

TEST_F(LibraryChoice, ADatabaseHitGivesTheBestRow) {
    write({row("spmm.cpu_rows{tile=16,row_block=16}", 100), row("spmm.cpu_edges{parts=8}", 10),
           row("spmm.cpu_edges{parts=64}", 50)});
    gt::Context context = cpu(true);
    const gt::Graph graph = graph_in(context);
    const gt::Plan plan = context.plan(graph, weighted_spmm());
    EXPECT_EQ(plan.config(), "spmm.cpu_edges{parts=8}");
    EXPECT_EQ(plan.source(), "database");
    const std::string text = plan.explain();
    EXPECT_TRUE(contains(text, "runner-up  spmm.cpu_edges{parts=64} at 50 us a run"));
    EXPECT_TRUE(contains(text, "400 % dearer"));
    EXPECT_TRUE(contains(text, "match      exact"));
    EXPECT_TRUE(contains(text, "2026-11-21T09:30:00Z, policy hot, clock host"));
    EXPECT_TRUE(contains(text, graph.fingerprint()));
    expect_right(plan);
    // Another k was not measured.
    EXPECT_EQ(context.plan(graph, gt::spmm(16).weighted()).source(), "default");
}

TEST_F(LibraryChoice, TiedRowsAreNamed) {
    write({row("spmm.cpu_edges{parts=8}", 10), row("spmm.cpu_edges{parts=64}", 10.01)});
    gt::Context context = cpu();
    EXPECT_TRUE(
        contains(context.plan(graph_in(context), weighted_spmm()).explain(), "tied       spmm.cpu_edges{parts=64}"));
}

TEST_F(LibraryChoice, ExpectedCallsDecideBetweenBuildingAndRunning) {
    write({row("spmm.cpu_edges{parts=8}", 1, 1e6), row("spmm.cpu_rows{tile=16,row_block=16}", 10, 0)});
    gt::Context context = cpu();
    // As COO: the CSR that both need is still to be built.
    gt::Graph graph = coo_graph_in(context);
    EXPECT_EQ(context.plan(graph, weighted_spmm().expected_calls(10)).config(), "spmm.cpu_rows{tile=16,row_block=16}");
    graph.release_formats();
    EXPECT_EQ(context.plan(graph, weighted_spmm().expected_calls(1e6)).config(), "spmm.cpu_edges{parts=8}");
    // What exists is free: the same few calls now get the faster one.
    EXPECT_EQ(context.plan(graph, weighted_spmm().expected_calls(10)).config(), "spmm.cpu_edges{parts=8}");
    // As CSR nothing has to be built at all.
    EXPECT_EQ(context.plan(graph_in(context), weighted_spmm().expected_calls(10)).config(), "spmm.cpu_edges{parts=8}");
}

TEST_F(LibraryChoice, KnownFormatCostsArePaidOnceAndPlanDataByEachConfig) {
    // From CSR the first config needs 100 us of its own, the second nothing; from COO both need the CSR, 500 us.
    write({row("spmm.cpu_edges{parts=8}", 1, 100), row("spmm.cpu_rows{tile=16,row_block=16}", 10, 0)});
    write_builds({{"csr", "csr", Direction::forward, 0, 0}, {"coo", "csr", Direction::forward, 500, 0}},
                 cpu_device().environment);
    gt::Context context = cpu();
    gt::Graph graph = coo_graph_in(context);
    EXPECT_EQ(context.plan(graph, weighted_spmm().expected_calls(10)).config(), "spmm.cpu_rows{tile=16,row_block=16}");
    EXPECT_EQ(context.plan(graph, weighted_spmm().expected_calls(20)).config(), "spmm.cpu_edges{parts=8}");
}

TEST_F(LibraryChoice, ConstraintsRejectRowsAndSayWhy) {
    Measurement varying = row("spmm.cpu_edges{parts=8}", 1);
    varying.deterministic = false;
    Measurement large = row("spmm.cpu_edges{parts=64}", 2);
    large.workspace_bytes = 4096;
    write({varying, large, row("spmm.cpu_rows{tile=16,row_block=16}", 3)});
    gt::Context context = cpu();
    const gt::Graph graph = graph_in(context);
    EXPECT_EQ(context.plan(graph, weighted_spmm()).config(), "spmm.cpu_edges{parts=8}");
    const gt::Plan repeating = context.plan(graph, weighted_spmm().deterministic());
    EXPECT_EQ(repeating.config(), "spmm.cpu_edges{parts=64}");
    EXPECT_TRUE(contains(repeating.explain(), "rejected   spmm.cpu_edges{parts=8}: does not repeat bit for bit"));
    const gt::Plan small = context.plan(graph, weighted_spmm().deterministic().workspace_limit_bytes(0));
    EXPECT_EQ(small.config(), "spmm.cpu_rows{tile=16,row_block=16}");
    EXPECT_EQ(small.workspace_bytes(), 0U);
    expect_right(small);
}

TEST_F(LibraryChoice, AWorkspaceThatTheRowUnderstatesIsSeenAtPlanTime) {
    write({row("spmm.cpu_edges{parts=8}", 1), row("spmm.cpu_rows{tile=16,row_block=16}", 3)});
    gt::Context context = cpu();
    const gt::Plan plan = context.plan(graph_in(context), weighted_spmm().workspace_limit_bytes(0));
    EXPECT_EQ(plan.config(), "spmm.cpu_rows{tile=16,row_block=16}");
    EXPECT_EQ(plan.source(), "database");
    EXPECT_TRUE(contains(plan.explain(), "unusable   spmm.cpu_edges{parts=8}: needs 512 bytes of workspace"));
}

TEST_F(LibraryChoice, RowsOfOtherVersionsVariantsAndParamsAreMisses) {
    Measurement stale = row("spmm.cpu_edges{parts=8}", 1);
    stale.variant_version = 99;
    write({stale, row("spmm.of_tomorrow{tile=16}", 2), row("spmm.cpu_rows{tile=17,row_block=16}", 3),
           row("sddmm.cpu_rows", 4)});
    gt::Context context = cpu();
    const gt::Plan plan = context.plan(graph_in(context), weighted_spmm());
    EXPECT_EQ(plan.source(), "default");
    const std::string text = plan.explain();
    EXPECT_TRUE(contains(text, "no measured config can be used here"));
    EXPECT_TRUE(contains(text, "spmm.cpu_edges{parts=8}: measured with version 99, this build has version"));
    EXPECT_TRUE(contains(text, "spmm.of_tomorrow{tile=16}: this build has no variant 'spmm.of_tomorrow'"));
    EXPECT_TRUE(contains(text, "spmm.cpu_rows{tile=17,row_block=16}: param tile=17 is not one of"));
    EXPECT_TRUE(contains(text, "sddmm.cpu_rows: computes sddmm"));
    expect_right(plan);
}

TEST_F(LibraryChoice, ARowOfAStalePartIsAMiss) {
    {
        store::Store store = open();
        const GraphRecord record{
            fingerprint(csr_.view()), csr_.n_rows, csr_.n_cols, csr_.m(), "test", "generated", "{}"};
        const store::Key key{store.graph_id(record), store.environment_id(cpu_device().environment),
                             store.problem_id(problem(kK))};
        const std::int64_t run = store.begin_run(run_info());
        Measurement m = row("spmm.cpu_edges{parts=8}", 1);
        m.parts = {{Config::parse("spmm.cpu_rows{tile=16,row_block=16}"), 99}};
        store.add_measurement(run, key, m);
    }
    gt::Context context = cpu();
    const gt::Plan plan = context.plan(graph_in(context), weighted_spmm());
    EXPECT_EQ(plan.source(), "default");
    EXPECT_TRUE(contains(plan.explain(), "its part spmm.cpu_rows{tile=16,row_block=16} was measured with version 99"));
}

TEST_F(LibraryChoice, APolicyIsAnsweredByItsOwnRows) {
    Measurement cold = row("spmm.cpu_edges{parts=64}", 20);
    cold.policy = Policy::cold;
    write({row("spmm.cpu_edges{parts=8}", 10), cold});
    gt::Context context = cpu();
    const gt::Graph graph = graph_in(context);
    EXPECT_EQ(context.plan(graph, weighted_spmm().policy(GNNTUNE_COLD)).config(), "spmm.cpu_edges{parts=64}");
    const gt::Plan none = context.plan(graph, weighted_spmm().policy(GNNTUNE_GRAPH));
    EXPECT_EQ(none.source(), "default");
    EXPECT_TRUE(contains(none.explain(), "under policy hot, cold, not graph"));
}

TEST_F(LibraryChoice, ANearEnvironmentCountsAndIsSaid) {
    Environment other = cpu_device().environment;
    other.memory_bytes += 4096;
    write({row("spmm.cpu_edges{parts=8}", 10)}, other);
    gt::Context context = cpu();
    const gt::Plan plan = context.plan(graph_in(context), weighted_spmm());
    EXPECT_EQ(plan.source(), "database");
    EXPECT_TRUE(contains(plan.explain(), "match      near"));
    const auto here = cpu_device().environment.memory_bytes;
    const std::string differs = "there -> here: memory " + std::to_string(here + 4096) + " -> " + std::to_string(here);
    EXPECT_TRUE(contains(plan.explain(), differs + "; tune again to be sure")) << plan.explain();
}

TEST_F(LibraryChoice, AnotherDeviceDoesNotCount) {
    Environment other = cpu_device().environment;
    other.device_name = "a processor that is not here";
    write({row("spmm.cpu_edges{parts=8}", 10)}, other);
    gt::Context context = cpu();
    const gt::Plan plan = context.plan(graph_in(context), weighted_spmm());
    EXPECT_EQ(plan.source(), "default");
    EXPECT_TRUE(contains(plan.explain(), "nothing measured on this device"));
}

TEST_F(LibraryChoice, AFolderOfShippedDatabasesThatIsNotThereIsSaid) {
    const std::string line = "\nnote       GNNTUNE_PROFILES is '";
    EXPECT_EQ(cpu().describe().find(line), std::string::npos);
    setenv("GNNTUNE_PROFILES", file("nowhere").c_str(), 1);
    EXPECT_TRUE(contains(cpu().describe(), line + file("nowhere").string() + "', which is no folder"));
}

TEST_F(LibraryChoice, ForceOverrulesTheDatabaseForItsOwnOp) {
    write({row("spmm.cpu_edges{parts=8}", 1)});
    setenv("GNNTUNE_FORCE", "spmm.cpu_edges{parts=512}", 1);
    gt::Context context = cpu();
    const gt::Graph graph = graph_in(context);
    const gt::Plan plan = context.plan(graph, weighted_spmm());
    EXPECT_EQ(plan.config(), "spmm.cpu_edges{parts=512}");
    EXPECT_EQ(plan.source(), "forced");
    EXPECT_TRUE(contains(plan.explain(), "GNNTUNE_FORCE"));
    expect_right(plan);
    EXPECT_EQ(context.plan(graph, gt::sddmm(kK)).source(), "default");
}

TEST_F(LibraryChoice, ANamedConfigRunsWhateverWasMeasured) {
    write({row("spmm.cpu_edges{parts=8}", 1)});
    gt::Context context = cpu();
    const gt::Graph graph = graph_in(context);
    const gt::Plan plan = context.plan(graph, weighted_spmm().config("spmm.cpu_edges{parts=512}"));
    EXPECT_EQ(plan.config(), "spmm.cpu_edges{parts=512}");
    EXPECT_EQ(plan.source(), "named");
    EXPECT_TRUE(contains(plan.explain(), "named by the application"));
    expect_right(plan);
    // It is remembered as such, and no other request is.
    EXPECT_EQ(context.plan(graph, weighted_spmm().config("spmm.cpu_edges{parts=512}")).source(), "named");
    EXPECT_EQ(context.plan(graph, weighted_spmm().config("spmm.cpu_edges")).config(), "spmm.cpu_edges{parts=64}");
    EXPECT_EQ(context.plan(graph, weighted_spmm()).source(), "database");
    // Sampling needs no further leave.
    const gt::Plan sampled = context.plan(graph, weighted_spmm().config("spmm.cpu_sampled{S=8}"));
    EXPECT_TRUE(contains(std::string(sampled.config()), "spmm.cpu_sampled{sampling=bucket,S=8,"));
    // GNNTUNE_FORCE has the last word.
    setenv("GNNTUNE_FORCE", "spmm.cpu_edges{parts=8}", 1);
    gt::Context forced = cpu();
    EXPECT_EQ(forced.plan(graph_in(forced), weighted_spmm().config("spmm.cpu_edges{parts=512}")).source(), "forced");
}

TEST_F(LibraryChoice, ANamedConfigThatCannotBeIsRefusedInWords) {
    gt::Context context = cpu();
    const gt::Graph graph = graph_in(context);
    const auto refused = [&](gnntune_status status, const char* config, const char* words, auto&& change) {
        gt::Problem problem = weighted_spmm().config(config);
        change(problem);
        try {
            (void)context.plan(graph, problem);
            ADD_FAILURE() << config;
        } catch (const gt::Error& error) {
            EXPECT_EQ(error.status(), status) << config;
            EXPECT_TRUE(contains(error.what(), words)) << error.what();
        }
    };
    const auto as_it_is = [](gt::Problem&) {};
    refused(GNNTUNE_INVALID_ARGUMENT, "spmm.of_tomorrow", "problem.config: this build has no variant", as_it_is);
    refused(GNNTUNE_INVALID_ARGUMENT, "spmm.cpu_edges{parts", "problem.config: ", as_it_is);
    refused(GNNTUNE_INVALID_ARGUMENT, "sddmm.cpu_rows", "problem.config is a config of sddmm", as_it_is);
    refused(GNNTUNE_UNSUPPORTED, "spmm.cpu_edges{parts=7}", "parts=7", as_it_is);
    refused(GNNTUNE_UNSUPPORTED, "spmm.cpu_edges{colour=8}", "unknown param", as_it_is);
    refused(GNNTUNE_UNSUPPORTED, "spmm.cpu_edges", "problem.config: spmm.cpu_edges",
            [](gt::Problem& problem) { problem.raw().reduce = GNNTUNE_MEAN; });
}

TEST_F(LibraryChoice, WhatAForceLeavesOutHasItsDefaultAndItsPlace) {
    const auto forced = [&](const char* text) {
        setenv("GNNTUNE_FORCE", text, 1);
        gt::Context context = cpu();
        const gt::Graph graph = graph_in(context);
        const gt::Plan plan = context.plan(graph, weighted_spmm());
        expect_right(plan);
        return plan.config();
    };
    const std::string standard = forced("spmm.cpu_rows");
    EXPECT_TRUE(contains(standard, "tile=") && contains(standard, ",row_block=")) << standard;
    EXPECT_EQ(forced("spmm.cpu_rows{row_block=16,tile=16}"), "spmm.cpu_rows{tile=16,row_block=16}");
    const std::string block = standard.substr(standard.find(",row_block="));
    EXPECT_EQ(forced("spmm.cpu_rows{tile=16}"), "spmm.cpu_rows{tile=16" + block);
}

TEST_F(LibraryChoice, AForceThatCannotBeIsRefusedInWords) {
    setenv("GNNTUNE_FORCE", "spmm.of_tomorrow", 1);
    EXPECT_TRUE(contains(failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { cpu(); }), "spmm.of_tomorrow"));
    setenv("GNNTUNE_FORCE", "spmm.cpu_edges{parts", 1);
    EXPECT_TRUE(contains(failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { cpu(); }), "GNNTUNE_FORCE"));
    const std::string names = "GNNTUNE_FORCE: spmm.cpu_edges has no param '";
    setenv("GNNTUNE_FORCE", "spmm.cpu_edges{ parts = 64 }", 1);
    EXPECT_EQ(failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { cpu(); }), names + " parts '; expected parts");
    setenv("GNNTUNE_FORCE", "spmm.cpu_edges{parts=64,tile=16}", 1);
    EXPECT_EQ(failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { cpu(); }), names + "tile'; expected parts");
    // Of a value, or a variant for another backend, a plan says what is wrong.
    setenv("GNNTUNE_FORCE", "spmm.cpu_edges{parts=9}", 1);
    gt::Context context = cpu();
    const gt::Graph graph = graph_in(context);
    const std::string words = failure_of(GNNTUNE_UNSUPPORTED, [&] { context.plan(graph, weighted_spmm()); });
    EXPECT_TRUE(contains(words, "GNNTUNE_FORCE"));
    EXPECT_TRUE(contains(words, "parts=9 is not one of"));
}

TEST_F(LibraryChoice, VerbosePrintsOneParsableLinePerPlan) {
    write({row("spmm.cpu_rows{tile=16,row_block=16}", 1)});
    setenv("GNNTUNE_VERBOSE", "dispatch", 1);
    gt::Context context = cpu();
    const gt::Graph graph = graph_in(context);
    testing::internal::CaptureStderr();
    context.plan(graph, weighted_spmm());
    context.plan(graph, gt::sddmm(4).reversed());
    const std::string lines = testing::internal::GetCapturedStderr();
    const std::string sizes = R"(n_rows=40,n_cols=30,m=200)";
    const std::regex expected(
        R"(gnntune,dispatch,spmm,)" + sizes +
        R"(,k=8,f32,sum,weighted,forward,source=database,config=spmm\.cpu_rows\{tile=16,row_block=16\},)"
        R"(workspace_bytes=0,prepare_us=[0-9]+\.[0-9],graph=)" +
        graph.fingerprint() + R"(\ngnntune,dispatch,sddmm,)" + sizes +
        R"(,k=4,f32,sum,unweighted,reversed,source=default,config=[^ ]*,workspace_bytes=[0-9]+,prepare_us=[0-9.]+,graph=[0-9a-f]{32}\n)");
    EXPECT_TRUE(std::regex_match(lines, expected)) << lines;
}

TEST_F(LibraryChoice, AProblemThatNoVariantDoesIsRefusedWithTheReasons) {
    gt::Context context = cpu();
    const gt::Graph graph = graph_in(context);
    const gt::Problem wide = gt::spmm(1 << 20).weighted().heads(2);
    EXPECT_TRUE(contains(failure_of(GNNTUNE_UNSUPPORTED, [&] { context.plan(graph, wide); }),
                         "spmm.cpu_rows: k=1048576 times heads=2 is more than the 1048576 features"));
}

}  // namespace
}  // namespace gnntune

// Plans of what was not measured: when the cost model of the database is asked, followed and left, and what is said.
#include <atomic>
#include <cmath>
#include <regex>
#include <thread>

#include "tests/unit/library/library_models.hpp"

namespace gnntune {
namespace {

class LibraryModel : public LibraryModelTest {
protected:
    gt::Context with_sources(gnntune_sources sources) const {
        gt::OpenOptions options;
        options.backend = GNNTUNE_BACKEND_CPU;
        options.sources = sources;
        return gt::Context(file().c_str(), options);
    }
    std::string explanation(const gt::Problem& problem) const {
        gt::Context context = cpu();
        return context.plan(graph_in(context), problem).explain();
    }
};

TEST_F(LibraryModel, AnswersWhatWasNotMeasured) {
    write_model(edges_are_fast());
    gt::Context context = cpu();
    const gt::Graph graph = graph_in(context);
    const gt::Plan plan = context.plan(graph, weighted_spmm());
    EXPECT_EQ(plan.source(), "model");
    EXPECT_TRUE(contains(plan.config(), "spmm.cpu_edges{parts="));
    EXPECT_NE(plan.config(), "spmm.cpu_edges{parts=8}");
    const std::string text = plan.explain();
    EXPECT_TRUE(contains(text, "source     model of " + file().string()));
    EXPECT_TRUE(
        contains(text, "spmm, cpu, policy hot, clock host, fitted 2026-11-21T10:00:00Z by gnntune 0.1.0 (abcdef)"));
    EXPECT_TRUE(contains(text, "nothing measured on this device"));
    EXPECT_TRUE(std::regex_search(text, std::regex(R"(\nexpected   \S+ us a run \(\+- 11 %\))"))) << text;
    EXPECT_TRUE(std::regex_search(text, std::regex(R"(\ndefault    spmm\.cpu_rows\{.*\} at \S+ us a run)"))) << text;
    EXPECT_TRUE(
        std::regex_search(text, std::regex(R"(\nasked      \d+ configs in \S+ us, features of the graph in \S+ us)")))
        << text;
    EXPECT_TRUE(contains(context.describe(), "model      spmm, cpu, policy hot"));
    EXPECT_TRUE(contains(context.describe(), "sources    db_then_model"));
    expect_right(plan);
    // The features are known now.
    EXPECT_TRUE(contains(context.plan(graph, gt::spmm(kK)).explain(), "features of the graph in 0.0 us"));
    expect_right(context.plan(coo_graph_in(context), weighted_spmm()));
}

TEST_F(LibraryModel, MeasurementsComeFirst) {
    write_model(edges_are_fast());
    write({row("spmm.cpu_rows{tile=16,row_block=16}", 1)});
    gt::Context context = cpu();
    const gt::Graph graph = graph_in(context);
    const gt::Plan measured = context.plan(graph, weighted_spmm());
    EXPECT_EQ(measured.source(), "database");
    EXPECT_FALSE(contains(measured.explain(), "\nmodel "));
    EXPECT_EQ(context.plan(graph, gt::spmm(16).weighted()).source(), "model");
}

TEST_F(LibraryModel, AnswersWhereNoRowHolds) {
    write_model(edges_are_fast());
    Measurement stale = row("spmm.cpu_rows{tile=16,row_block=16}", 1);
    stale.variant_version = 99;
    write({stale});
    gt::Context context = cpu();
    const gt::Plan plan = context.plan(graph_in(context), weighted_spmm());
    EXPECT_EQ(plan.source(), "model");
    EXPECT_TRUE(contains(plan.explain(), "why        no measured config can be used here"));
    EXPECT_TRUE(contains(plan.explain(), "unusable   spmm.cpu_rows{tile=16,row_block=16}: measured with version 99"));
}

TEST_F(LibraryModel, DbOnlyAsksNoModel) {
    write_model(edges_are_fast());
    const auto source = [&](gnntune_sources sources) {
        gt::Context context = with_sources(sources);
        return context.plan(graph_in(context), weighted_spmm()).source();
    };
    EXPECT_EQ(source(0), "model");
    EXPECT_EQ(source(GNNTUNE_DB_THEN_MODEL), "model");
    EXPECT_EQ(source(GNNTUNE_DB_ONLY), "default");
    setenv("GNNTUNE_SOURCES", "db_only", 1);
    EXPECT_EQ(source(GNNTUNE_SOURCES_DEFAULT), "default");
    EXPECT_EQ(source(GNNTUNE_DB_THEN_MODEL), "model");
    gt::Context context = cpu();
    EXPECT_TRUE(contains(context.describe(), "sources    db_only"));
    EXPECT_TRUE(contains(explanation(weighted_spmm()), "model      not asked: the sources are db_only"));
    setenv("GNNTUNE_SOURCES", "model", 1);
    EXPECT_TRUE(contains(failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { cpu(); }),
                         "expected db_only, db_then_model or tune_on_miss"));
    unsetenv("GNNTUNE_SOURCES");
    EXPECT_TRUE(contains(failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { with_sources(7); }), "options.sources is 7"));
}

TEST_F(LibraryModel, ConstraintsHoldAndRefusedFavouritesGiveWay) {
    write_model(edges_are_fast());
    gt::Context context = cpu();
    const gt::Graph graph = graph_in(context);
    // Edges need workspace, which shows when they are prepared: all of them are tried, then the default.
    const gt::Plan small = context.plan(graph, weighted_spmm().workspace_limit_bytes(0));
    EXPECT_EQ(small.source(), "default");
    EXPECT_EQ(small.workspace_bytes(), 0U);
    EXPECT_TRUE(contains(small.explain(), "bytes of workspace, more than the allowed 0"));
    expect_right(small);
    // A smaller one that fits is taken before the default is.
    const std::size_t favourite = context.plan(graph, weighted_spmm()).workspace_bytes();
    ASSERT_GT(favourite, 1U);
    const gt::Plan next = context.plan(graph, weighted_spmm().workspace_limit_bytes(favourite - 1));
    EXPECT_EQ(next.source(), "model");
    EXPECT_LT(next.workspace_bytes(), favourite);
    expect_right(next);
    // Sampling is another answer, of an error that nobody has measured here.
    model::Model sampled = edges_are_fast();
    sampled.variants.push_back({"spmm.cpu_sampled", 1, {}, {constant(-5)}, 0.1F});
    write_model(sampled);
    gt::Context another = cpu();
    const gt::Plan loose = another.plan(graph_in(another), weighted_spmm().allow_sampling().max_error(1));
    EXPECT_TRUE(contains(loose.config(), "spmm.cpu_edges"));
}

TEST_F(LibraryModel, SaysWhyTheModelWasNotFollowed) {
    model::Model m = edges_are_fast();
    write_model(m);
    EXPECT_TRUE(contains(explanation(gt::sddmm(kK)), "the database has no cost model of sddmm for this backend"));
    EXPECT_TRUE(contains(explanation(weighted_spmm().policy(GNNTUNE_COLD)), "under policy hot, not cold"));
    m.variants[1].slowdown = {constant(0.01F)};
    write_model(m);
    EXPECT_TRUE(contains(explanation(weighted_spmm()), "expects no config to gain 2 % over the default spmm.cpu_rows"));
    m.variants[1].version = 99;
    write_model(m);
    EXPECT_TRUE(contains(explanation(weighted_spmm()), "does not know the default spmm.cpu_rows"));
    m.variants[0].version = 99;
    write_model(m);
    EXPECT_TRUE(contains(explanation(weighted_spmm()), "knows no variant of this build"));
    m.feature_version = 99;
    write_model(m);
    EXPECT_TRUE(contains(explanation(weighted_spmm()), "fitted on features of version 99"));
    store::ModelRow damaged = row_of(edges_are_fast());
    damaged.bytes.resize(damaged.bytes.size() / 2);
    open().put_model(damaged);
    EXPECT_TRUE(contains(explanation(weighted_spmm()), "damaged or cut short"));
    // Whatever is wrong with it, the plan is made.
    gt::Context context = cpu();
    expect_right(context.plan(graph_in(context), weighted_spmm()));
}

TEST_F(LibraryModel, GraphsWithoutEdgesOrRowsArePlanned) {
    write_model(edges_are_fast());
    gt::Context context = cpu();
    const std::int32_t offsets[] = {0, 0, 0};
    const gt::Graph no_edges = context.csr(2, 5, 0, offsets, static_cast<const std::int32_t*>(nullptr));
    std::vector<float> y(2 * kK, 7.0F);
    const gt::Plan plan = context.plan(no_edges, weighted_spmm());
    HostWorkspace workspace(plan.workspace_bytes());
    plan.run(x_.data(), nullptr, y.data(), workspace.data(), workspace.bytes());
    EXPECT_EQ(y, std::vector<float>(2 * kK, 0.0F));
    const auto* none = static_cast<const std::int64_t*>(nullptr);
    context.plan(context.coo(0, 0, 0, none, none), gt::spmm(kK));
}

TEST_F(LibraryModel, VerboseNamesTheSource) {
    write_model(edges_are_fast());
    setenv("GNNTUNE_VERBOSE", "dispatch", 1);
    gt::Context context = cpu();
    testing::internal::CaptureStderr();
    context.plan(graph_in(context), weighted_spmm());
    EXPECT_TRUE(contains(testing::internal::GetCapturedStderr(), ",forward,source=model,config=spmm.cpu_edges{"));
}

TEST_F(LibraryModel, ThreadsAskAtOnce) {
    write_model(edges_are_fast());
    gt::Context context = cpu();
    const gt::Graph graph = coo_graph_in(context);
    std::atomic<int> agree = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
            // More problems than are kept, some of them the same in every thread.
            for (std::int32_t k = 1; k <= 40; ++k) {
                const gt::Plan mine = context.plan(graph, gt::spmm(k + (k % 2) * 40 * t).weighted());
                agree += mine.source() == "model" && mine.config() == "spmm.cpu_edges{parts=64}" ? 1 : 0;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(agree.load(), 8 * 40);
}

}  // namespace
}  // namespace gnntune

// Graphs that live for a step: planned by their shape, once for all of about the same shape.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>

#include "tests/unit/library/library_models.hpp"

namespace gnntune {
namespace {

class LibraryTransient : public LibraryModelTest {
protected:
    static gt::Graph graph_of(gt::Context& context, const CsrGraph& g, bool transient) {
        gt::Csr csr;
        csr.memory = GNNTUNE_HOST;
        csr.trusted = 1;
        csr.transient = transient ? 1 : 0;
        csr.n_rows = g.n_rows;
        csr.n_cols = g.n_cols;
        csr.m = g.m();
        csr.row_ptr = g.row_ptr.data();
        csr.col_idx = g.col_idx.data();
        return context.graph(csr);
    }
    static gt::Graph transient_in(gt::Context& context, const CsrGraph& g) { return graph_of(context, g, true); }
    static gt::Graph lasting_in(gt::Context& context, const CsrGraph& g) { return graph_of(context, g, false); }
    /// Batch `i` of a sampler: about `rows` targets and ten edges for each, from twice as many sources.
    static CsrGraph batch(std::int32_t rows, std::uint32_t i) {
        const std::int32_t n = rows + static_cast<std::int32_t>(i % 7);
        return test::csr_of(n, 2 * n, test::random_edges(n, 2 * n, 10 * n, 1, i));
    }
};

TEST_F(LibraryTransient, OneDecisionServesABucket) {
    write_model(edges_are_fast());
    gt::Context context = cpu();
    const CsrGraph first = batch(300, 1);
    const CsrGraph second = batch(300, 2);
    const CsrGraph larger = batch(3000, 3);

    const gt::Plan decided = context.plan(transient_in(context, first), weighted_spmm());
    const gt::Plan reused = context.plan(transient_in(context, second), weighted_spmm());
    const gt::Plan elsewhere = context.plan(transient_in(context, larger), weighted_spmm());
    const gt::Plan other = context.plan(transient_in(context, second), gt::spmm(kK + 1).weighted());

    EXPECT_EQ(decided.source(), "model");
    EXPECT_TRUE(contains(decided.explain(), "it is the first of its bucket"));
    EXPECT_TRUE(contains(decided.explain(), "bucket     256..511 x 512..1023, 2048..4095 edges, longest row "));
    EXPECT_EQ(reused.source(), "model");
    EXPECT_EQ(reused.config(), decided.config());
    EXPECT_TRUE(contains(reused.explain(), "an earlier graph of this bucket was decided on"));
    EXPECT_TRUE(contains(reused.explain(), "\nmodel      spmm, cpu"));
    EXPECT_TRUE(contains(elsewhere.explain(), "it is the first of its bucket"));
    EXPECT_TRUE(contains(other.explain(), "it is the first of its bucket"));
}

TEST_F(LibraryTransient, ItsPlansAreRightWhateverTheBucketDecided) {
    gt::Context context = cpu();
    for (std::uint32_t i = 0; i < 20; ++i) {
        const CsrGraph g = batch(300, i);
        const auto x = values(static_cast<std::size_t>(g.n_cols) * kK, i);
        const auto weight = values(static_cast<std::size_t>(g.m()), i + 100);
        const gt::Graph graph = transient_in(context, g);
        const gt::Plan plan = context.plan(graph, weighted_spmm());
        std::vector<float> y(static_cast<std::size_t>(g.n_rows) * kK, -7.0F);
        HostWorkspace workspace(plan.workspace_bytes());
        plan.run(x.data(), weight.data(), y.data(), workspace.data(), workspace.bytes());
        expect_near(y, spmm_of(g, x, weight, kK));
    }
}

// The lines of docs/dispatcher.md, Mini-batches.
TEST_F(LibraryTransient, AMiniBatchInCxx) {
    gt::Context context = cpu();
    const CsrGraph sample = batch(50, 1);
    const std::int32_t n_rows = sample.n_rows;
    const std::int32_t n_cols = sample.n_cols;
    const std::int64_t m = sample.m();
    const std::int32_t* row_ptr = sample.row_ptr.data();
    const std::int32_t* col_idx = sample.col_idx.data();
    const auto x = values(static_cast<std::size_t>(n_cols) * 64, 1);
    std::vector<float> y(static_cast<std::size_t>(n_rows) * 64);

    gt::Csr batch;
    batch.memory = GNNTUNE_HOST;
    batch.trusted = 1;
    batch.transient = 1;
    batch.n_rows = n_rows;
    batch.n_cols = n_cols;
    batch.m = m;
    batch.row_ptr = row_ptr;
    batch.col_idx = col_idx;
    const gt::Graph graph = context.graph(batch);
    const gt::Plan plan = context.plan(graph, gt::spmm(64).expected_calls(2).workspace_limit_bytes(0));
    plan.run(x.data(), nullptr, y.data());

    expect_near(y, spmm_of(sample, x, {}, 64));
    EXPECT_TRUE(contains(plan.explain(), "graph      transient, "));

    const auto row_idx = expand_rows(sample.view());
    gt::Coo edges;
    edges.memory = GNNTUNE_HOST;
    edges.transient = 1;
    edges.n_rows = n_rows;
    edges.n_cols = n_cols;
    edges.m = m;
    edges.row_idx = row_idx.data();
    edges.col_idx = col_idx;
    EXPECT_TRUE(contains(context.plan(context.graph(edges), gt::spmm(64)).explain(), "graph      transient, "));
}

// What a sampler knows need not be found again; what it says is believed, and costs speed at most.
TEST_F(LibraryTransient, TheLongestRowMayBeSaid) {
    gt::Context context = cpu();
    gt::Csr csr;
    csr.memory = GNNTUNE_HOST;
    csr.transient = 1;
    csr.n_rows = csr_.n_rows;
    csr.n_cols = csr_.n_cols;
    csr.m = csr_.m();
    csr.row_ptr = csr_.row_ptr.data();
    csr.col_idx = csr_.col_idx.data();
    const auto bucket = [&](std::int32_t longest_row) {
        csr.longest_row = longest_row;
        const gt::Plan plan = context.plan(context.graph(csr), weighted_spmm());
        expect_right(plan);
        return plan.explain();
    };
    EXPECT_FALSE(contains(bucket(-1), "longest row 128..255"));
    EXPECT_TRUE(contains(bucket(-1), "200 edges"));
    EXPECT_TRUE(contains(bucket(200), "128..255 edges, longest row 128..255\n"));
    EXPECT_TRUE(contains(bucket(5), "128..255 edges, longest row 4..7\n"));
}

TEST_F(LibraryTransient, TheDatabaseIsNotAsked) {
    write({row("spmm.cpu_edges{parts=8}", 1, 0), row("spmm.cpu_rows{tile=16,row_block=16}", 2, 0)});
    gt::Context context = cpu();
    EXPECT_EQ(context.plan(lasting_in(context, csr_), weighted_spmm()).source(), "database");
    const gt::Graph graph = transient_in(context, csr_);
    const gt::Plan plan = context.plan(graph, weighted_spmm());
    EXPECT_EQ(plan.source(), "default");
    EXPECT_TRUE(contains(plan.explain(), "not looked up in the database"));
    EXPECT_TRUE(contains(plan.explain(), "graph      transient, 40 x 30"));
    expect_right(plan);
    EXPECT_EQ(graph.fingerprint(), fingerprint(csr_.view()).text()) << "it has one if somebody asks";
}

// What is lost by planning a sampled graph as an earlier one of its bucket, and what planning costs. Printed; the times
// of a shared machine prove nothing.
TEST_F(LibraryTransient, PrintsItsRegret) {
    using Clock = std::chrono::steady_clock;
    const auto us_since = [](Clock::time_point begin) {
        return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    };
    constexpr std::uint32_t kBatches = 40;
    write_model(edges_are_fast());
    gt::Context context = cpu();
    double own_us = 0;
    double shared_us = 0;
    double own_plan_us = 0;
    double shared_plan_us = 0;
    std::uint32_t same = 0;
    std::set<std::string> configs;
    for (std::uint32_t i = 0; i < kBatches; ++i) {
        const CsrGraph g = batch(200 + 50 * static_cast<std::int32_t>(i % 10), i);
        const auto x = values(static_cast<std::size_t>(g.n_cols) * kK, i);
        const auto weight = values(static_cast<std::size_t>(g.m()), i);
        std::vector<float> y(static_cast<std::size_t>(g.n_rows) * kK);
        const auto run_us = [&](const gt::Plan& plan) {
            HostWorkspace workspace(plan.workspace_bytes());
            double best = 1e9;
            for (int repeat = 0; repeat < 5; ++repeat) {
                const auto begin = Clock::now();
                plan.run(x.data(), weight.data(), y.data(), workspace.data(), workspace.bytes());
                best = std::min(best, us_since(begin));
            }
            return best;
        };
        auto begin = Clock::now();
        const gt::Plan shared = context.plan(transient_in(context, g), weighted_spmm());
        shared_plan_us += us_since(begin);
        begin = Clock::now();
        const gt::Plan own = context.plan(lasting_in(context, g), weighted_spmm());
        own_plan_us += us_since(begin);
        shared_us += run_us(shared);
        own_us += run_us(own);
        same += own.config() == shared.config() ? 1 : 0;
        configs.insert(own.config());
    }
    std::printf(
        "[ transient ] %u batches: the same config for %u; runs %.1f us, planned one by one %.1f us (%+.1f %%); "
        "graph and plan %.1f us, one by one %.1f us\n",
        kBatches, same, shared_us / kBatches, own_us / kBatches, 100 * (shared_us / own_us - 1),
        shared_plan_us / kBatches, own_plan_us / kBatches);
    // The model names one config for all of these batches: the bucket has it.
    EXPECT_EQ(configs, std::set<std::string>{"spmm.cpu_edges{parts=64}"});
    EXPECT_EQ(same, kBatches);
}

}  // namespace
}  // namespace gnntune

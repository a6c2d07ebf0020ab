// Tiled graphs through the public headers, on the cpu backend: what a device's tiles go through, with limits so small that
// little graphs have many.
#include <sys/mman.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <thread>

#include "core/common/float16.hpp"
#include "core/graph/row_tiles.hpp"
#include "tests/unit/library/library_fixture.hpp"

namespace gnntune {
namespace {

constexpr std::int64_t kSmall = 29;  // edges of a tile: the fixture's 200 edges are a dozen tiles

class LibraryTiled : public LibraryTest {
protected:
    void SetUp() override {
        LibraryTest::SetUp();
        context_ = std::make_unique<gt::Context>(cpu());
    }

    /// The fixture's graph with ids and offsets of either width.
    gt::Csr description(bool wide_offsets = true, bool wide_ids = false) {
        row_ptr_.assign(csr_.row_ptr.begin(), csr_.row_ptr.end());
        col_idx_.assign(csr_.col_idx.begin(), csr_.col_idx.end());
        gt::Csr csr;
        csr.memory = GNNTUNE_HOST;
        csr.n_rows = csr_.n_rows;
        csr.n_cols = csr_.n_cols;
        csr.m = csr_.m();
        csr.offset_type = wide_offsets ? GNNTUNE_INT64 : GNNTUNE_INT32;
        csr.id_type = wide_ids ? GNNTUNE_INT64 : GNNTUNE_INT32;
        csr.row_ptr = wide_offsets ? static_cast<const void*>(row_ptr_.data()) : csr_.row_ptr.data();
        csr.col_idx = wide_ids ? static_cast<const void*>(col_idx_.data()) : csr_.col_idx.data();
        return csr;
    }
    static gt::Tiling tiling(gnntune_tile_place place, std::int64_t edges = kSmall) {
        gt::Tiling t;
        t.place = place;
        t.tile_edges = edges;
        return t;
    }
    gt::TiledGraph tiled(const gt::Tiling& tiling) { return context_->tiled(description(), tiling); }

    /// What an ordinary plan of the whole graph gives.
    std::vector<float> whole(const gt::Problem& problem, const std::vector<float>& x, const float* weight,
                             std::int64_t row) {
        gt::Graph graph = graph_in(*context_);
        const gt::Plan plan = context_->plan(graph, problem);
        std::vector<float> y(static_cast<std::size_t>(csr_.n_rows * row), -7.0F);
        HostWorkspace workspace(plan.workspace_bytes());
        plan.run(x.data(), weight, y.data(), workspace.data(), workspace.bytes());
        return y;
    }

    std::unique_ptr<gt::Context> context_;
    std::vector<std::int64_t> row_ptr_;
    std::vector<std::int64_t> col_idx_;
};

TEST_F(LibraryTiled, IsRightInEveryPlaceAndWidth) {
    for (const bool wide_offsets : {false, true}) {
        for (const bool wide_ids : {false, true}) {
            for (const auto place : {GNNTUNE_TILES_AUTO, GNNTUNE_TILES_RESIDENT, GNNTUNE_TILES_STREAMED}) {
                for (const std::int64_t edges : {std::int64_t{1}, kSmall, std::int64_t{0}}) {
                    const gt::Csr csr = description(wide_offsets, wide_ids);
                    gt::TiledGraph graph = context_->tiled(csr, tiling(place, edges));
                    for (const bool weighted : {false, true}) {
                        const gt::TiledPlan plan = graph.plan(gt::spmm(kK).weighted(weighted));
                        std::vector<float> y(static_cast<std::size_t>(csr_.n_rows * kK), -7.0F);
                        for (int run = 0; run < 3; ++run) {
                            plan.run(x_.data(), weighted ? weight_.data() : nullptr, y.data());
                            expect_near(y, spmm_of(csr_, x_, weighted ? weight_ : std::vector<float>(), kK));
                            std::fill(y.begin(), y.end(), -7.0F);
                        }
                    }
                }
            }
        }
    }
}

TEST_F(LibraryTiled, MeansMaximaAndHeadsAreThoseOfTheWholeGraph) {
    constexpr std::int32_t kHeads = 3;
    const std::vector<float> x = values(static_cast<std::size_t>(csr_.n_cols * kHeads * 5), 5);
    const std::vector<float> weight = values(static_cast<std::size_t>(csr_.m() * kHeads), 6);
    for (const auto place : {GNNTUNE_TILES_RESIDENT, GNNTUNE_TILES_STREAMED}) {
        gt::TiledGraph graph = tiled(tiling(place));
        for (const auto reduce : {GNNTUNE_SUM, GNNTUNE_MEAN, GNNTUNE_MAX}) {
            // 5 features of a head: slices of y begin at odd addresses unless tiles begin at multiples of 16 rows.
            const gt::Problem problem = gt::spmm(5).heads(kHeads).weighted().reduce(reduce);
            const auto expected = whole(problem, x, weight.data(), kHeads * 5);
            std::vector<float> y(expected.size(), -7.0F);
            graph.plan(problem).run(x.data(), weight.data(), y.data());
            expect_near(y, expected);
        }
    }
}

// Slices of weights begin at any edge, but variants of 16-bit storage want more than the two bytes of an element.
TEST_F(LibraryTiled, WeightsOfSixteenBitsAreThoseOfTheWholeGraph) {
    const auto rounded = [](const std::vector<float>& values) {
        std::vector<Float16> out;
        for (const float v : values) out.push_back(from_float<Float16>(v));
        return out;
    };
    const std::vector<Float16> x = rounded(x_);
    const std::vector<Float16> weight = rounded(weight_);
    const gt::Problem problem = gt::spmm(kK).weighted().dtype(GNNTUNE_F16);
    gt::Graph graph = graph_in(*context_);
    const gt::Plan plan = context_->plan(graph, problem);
    std::vector<Float16> expected(static_cast<std::size_t>(csr_.n_rows * kK));
    HostWorkspace workspace(plan.workspace_bytes());
    gt::Operands operands;
    operands.x = x.data();
    operands.edge_weight = weight.data();
    operands.y = expected.data();
    plan.run(operands, workspace.data(), workspace.bytes());
    for (const auto place : {GNNTUNE_TILES_RESIDENT, GNNTUNE_TILES_STREAMED}) {
        gt::TiledGraph tiles = tiled(tiling(place));
        std::vector<Float16> y(expected.size());
        operands.y = y.data();
        tiles.plan(problem).run(operands);
        for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(to_float(y[i]), to_float(expected[i])) << "at " << i;
    }
}

TEST_F(LibraryTiled, RowsLongerThanATileAndEmptyOnes) {
    test::EdgeList edges;
    for (std::int32_t e = 0; e < 1000; ++e) edges.emplace_back(e < 700 ? 61 : e % 90, e * 7 % 30);
    csr_ = test::csr_of(200, 30, edges);
    for (const auto place : {GNNTUNE_TILES_RESIDENT, GNNTUNE_TILES_STREAMED}) {
        gt::TiledGraph graph = tiled(tiling(place, 100));
        std::vector<float> y(static_cast<std::size_t>(csr_.n_rows * kK), -7.0F);
        graph.plan(gt::spmm(kK)).run(x_.data(), nullptr, y.data());
        expect_near(y, spmm_of(csr_, x_, {}, kK));
    }
}

TEST_F(LibraryTiled, GraphsWithoutEdgesOrRows) {
    for (const std::int32_t rows : {0, 5}) {
        csr_ = test::csr_of(rows, 30, {});
        for (const auto place : {GNNTUNE_TILES_RESIDENT, GNNTUNE_TILES_STREAMED}) {
            gt::TiledGraph graph = tiled(tiling(place));
            std::vector<float> y(static_cast<std::size_t>(rows * kK), -7.0F);
            graph.plan(gt::spmm(kK).weighted()).run(x_.data(), nullptr, y.data());
            for (const float v : y) EXPECT_EQ(v, 0.0F);
        }
    }
}

TEST_F(LibraryTiled, TheFingerprintDoesNotKnowOfTiles) {
    const std::string whole = fingerprint(csr_.view()).text();
    EXPECT_EQ(graph_in(*context_).fingerprint(), whole);
    for (const std::int64_t edges : {std::int64_t{1}, kSmall, std::int64_t{0}}) {
        EXPECT_EQ(tiled(tiling(GNNTUNE_TILES_STREAMED, edges)).fingerprint(), whole);
    }
}

TEST_F(LibraryTiled, SaysWhatItTakesAndHoldsToIt) {
    const gt::Csr csr = description();
    const gt::Problem problem = gt::spmm(kK).weighted();
    const gt::Tiling small = tiling(GNNTUNE_TILES_STREAMED);
    const gt::TiledMemory graph = context_->tiled_memory(csr, small);
    const gt::TiledMemory both = context_->tiled_memory(csr, small, &problem.raw());
    EXPECT_EQ(graph.backend_bytes, 0U) << "of the cpu backend all is host memory";
    EXPECT_GT(both.host_bytes, graph.host_bytes);
    EXPECT_EQ(both.streamed, 1);
    EXPECT_GT(both.tiles, 7);
    EXPECT_EQ(context_->tiled_memory(csr, tiling(GNNTUNE_TILES_AUTO, 0)).tiles, 1);

    gt::Tiling limited = small;
    limited.host_limit_bytes = graph.host_bytes - 1;
    const auto refused = failure_of(GNNTUNE_OUT_OF_MEMORY, [&] { context_->tiled(csr, limited); });
    EXPECT_NE(refused.find("tiling.host_limit_bytes is " + std::to_string(graph.host_bytes - 1)), std::string::npos)
        << refused;
    limited.host_limit_bytes = both.host_bytes - 1;
    gt::TiledGraph made = context_->tiled(csr, limited);
    failure_of(GNNTUNE_OUT_OF_MEMORY, [&] { made.plan(problem); });
    made.plan(gt::spmm(kK));  // needs no buffers for weights

    limited.host_limit_bytes = both.host_bytes;
    gt::TiledGraph enough = context_->tiled(csr, limited);
    { const gt::TiledPlan first = enough.plan(problem); }
    const gt::TiledPlan again = enough.plan(problem);  // what the first one took was given back
    failure_of(GNNTUNE_OUT_OF_MEMORY, [&] { enough.plan(problem); });
    const std::string words = again.explain();
    EXPECT_NE(words.find("at most " + std::to_string(both.host_bytes) + " bytes on the host"), std::string::npos)
        << words;
}

TEST_F(LibraryTiled, TheDatabaseIsAskedForEachTile) {
    const gt::Tiling two = tiling(GNNTUNE_TILES_STREAMED, csr_.m() - 20);
    const auto tiles =
        cut_rows({csr_.n_rows, csr_.n_cols, csr_.m(), csr_.row_ptr.data(), false, csr_.col_idx.data()}, two.tile_edges);
    ASSERT_EQ(tiles.size(), 2U);
    // The first tile is a graph that was tuned.
    CsrGraph first;
    first.n_rows = tiles[0].n_rows;
    first.n_cols = csr_.n_cols;
    first.row_ptr.assign(csr_.row_ptr.begin(), csr_.row_ptr.begin() + first.n_rows + 1);
    first.col_idx.assign(csr_.col_idx.begin(), csr_.col_idx.begin() + tiles[0].m);
    const CsrGraph all = csr_;
    csr_ = first;
    write({row("spmm.cpu_edges{parts=8}", 10), row("spmm.cpu_rows{tile=16,row_block=16}", 50)});
    csr_ = all;
    gt::Context context = cpu();
    gt::TiledGraph graph = context.tiled(description(), two);
    const gt::TiledPlan plan = graph.plan(weighted_spmm());
    const std::string words = plan.explain();
    EXPECT_NE(words.find("1: spmm.cpu_edges{parts=8}"), std::string::npos) << words;
    EXPECT_NE(words.find("source     database"), std::string::npos) << words;
    std::vector<float> y(static_cast<std::size_t>(csr_.n_rows * kK), -7.0F);
    plan.run(x_.data(), weight_.data(), y.data());
    expect_near(y, spmm_of(csr_, x_, weight_, kK));
}

TEST_F(LibraryTiled, WhatTilesCannotDoIsRefusedWithAReason) {
    gt::TiledGraph graph = tiled(tiling(GNNTUNE_TILES_STREAMED));
    const auto refusal = [&](const gt::Problem& problem) {
        return failure_of(GNNTUNE_UNSUPPORTED, [&] { graph.plan(problem); });
    };
    EXPECT_NE(refusal(gt::gat(kK)).find("spmm alone"), std::string::npos);
    EXPECT_NE(refusal(gt::spmm(kK).reversed()).find("transposed graph"), std::string::npos);
    EXPECT_NE(refusal(gt::spmm(kK).self_loop()).find("add the edges i -> i"), std::string::npos);

    const gt::TiledPlan largest = graph.plan(gt::spmm(kK).reduce(GNNTUNE_MAX));
    std::vector<float> y(static_cast<std::size_t>(csr_.n_rows * kK));
    std::vector<std::int32_t> argmax(y.size());
    gt::Operands operands;
    operands.x = x_.data();
    operands.y = y.data();
    operands.argmax = argmax.data();
    EXPECT_NE(failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { largest.run(operands); }).find("operands.argmax must be NULL"),
              std::string::npos);
}

TEST_F(LibraryTiled, WrongOperandsAreRefusedBeforeAnythingIsWritten) {
    for (const auto place : {GNNTUNE_TILES_RESIDENT, GNNTUNE_TILES_STREAMED}) {
        gt::TiledGraph graph = tiled(tiling(place));
        const gt::TiledPlan plan = graph.plan(weighted_spmm());
        std::vector<float> y(static_cast<std::size_t>(csr_.n_rows * kK), -7.0F);
        const auto refusal = [&](const float* x, const float* weight, float* result) {
            return failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { plan.run(x, weight, result); });
        };
        EXPECT_NE(refusal(x_.data(), nullptr, y.data()).find("operands.edge_weight is NULL"), std::string::npos);
        EXPECT_NE(refusal(nullptr, weight_.data(), y.data()).find("operands.x is NULL"), std::string::npos);
        EXPECT_NE(refusal(x_.data(), weight_.data(), nullptr).find("operands.y is NULL"), std::string::npos);
        // y begins where x does: every tile's rows but the first's are elsewhere.
        EXPECT_NE(refusal(y.data(), weight_.data(), y.data()).find("shares memory"), std::string::npos);
        EXPECT_NE(refusal(x_.data(), weight_.data(), weight_.data() + 150).find("operands.edge_weight"),
                  std::string::npos);
        const auto* odd = reinterpret_cast<const float*>(reinterpret_cast<const char*>(weight_.data()) + 2);
        EXPECT_NE(refusal(x_.data(), odd, y.data()).find("operands.edge_weight is not aligned"), std::string::npos);
        for (const float v : y) EXPECT_EQ(v, -7.0F);
    }
}

TEST_F(LibraryTiled, PlansOfOneGraphShareItsBuffersAndThreadsTakeTurns) {
    gt::TiledGraph graph = tiled(tiling(GNNTUNE_TILES_STREAMED));
    const gt::TiledPlan narrow = graph.plan(gt::spmm(kK).weighted());
    const gt::TiledPlan wide = graph.plan(gt::spmm(2 * kK));
    const std::vector<float> x = values(static_cast<std::size_t>(csr_.n_cols * 2 * kK), 9);
    const auto expected = spmm_of(csr_, x_, weight_, kK);
    const auto expected_wide = spmm_of(csr_, x, {}, 2 * kK);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int run = 0; run < 20; ++run) {
                std::vector<float> y(t % 2 == 0 ? expected.size() : expected_wide.size(), -7.0F);
                if (t % 2 == 0) {
                    narrow.run(x_.data(), weight_.data(), y.data());
                } else {
                    wide.run(x.data(), nullptr, y.data());
                }
                expect_near(y, t % 2 == 0 ? expected : expected_wide);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

// Pages that were never written are read as zeros and take no memory, so there may be 2^31 edges here, all from vertex 0.
TEST_F(LibraryTiled, MoreThanTwoToThe31EdgesAreSummed) {
    constexpr std::int64_t kEach = std::int64_t{1} << 20;  // edges of a row: sums of ones that a float holds
    constexpr std::int64_t kRows = (std::int64_t{1} << 11) + 2;
    constexpr std::int64_t kEdges = kRows * kEach;
    static_assert(kEdges > std::numeric_limits<std::int32_t>::max());
    constexpr std::size_t kBytes = static_cast<std::size_t>(kEdges) * sizeof(std::int32_t);
    void* ids = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (ids == MAP_FAILED) GTEST_SKIP() << "no address space of 8 GB";
    const std::unique_ptr<void, void (*)(void*)> owner(ids, [](void* p) { munmap(p, kBytes); });
    for (std::int64_t i = 0; i <= kRows; ++i) row_ptr_.push_back(i * kEach);
    gt::Csr csr;
    csr.memory = GNNTUNE_HOST;
    csr.n_rows = kRows;
    csr.n_cols = 3;
    csr.m = kEdges;
    csr.offset_type = GNNTUNE_INT64;
    csr.row_ptr = row_ptr_.data();
    csr.col_idx = ids;
    csr.trusted = 1;
    EXPECT_EQ(context_->tiled_memory(csr, gt::Tiling()).tiles, 9);
    gt::TiledGraph graph = context_->tiled(csr);
    const gt::TiledPlan plan = graph.plan(gt::spmm(1));
    const float x[3] = {0.5F, 7, 7};
    std::vector<float> y(kRows, -7.0F);
    plan.run(x, nullptr, y.data());
    for (const float v : y) ASSERT_EQ(v, 0.5F * kEach);
}

TEST_F(LibraryTiled, HandlesMayEndInAnyOrder) {
    auto graph = std::make_unique<gt::TiledGraph>(tiled(tiling(GNNTUNE_TILES_STREAMED)));
    const gt::TiledPlan plan = graph->plan(weighted_spmm());
    graph.reset();
    context_.reset();
    std::vector<float> y(static_cast<std::size_t>(csr_.n_rows * kK), -7.0F);
    plan.run(x_.data(), weight_.data(), y.data());
    expect_near(y, spmm_of(csr_, x_, weight_, kK));
}

}  // namespace
}  // namespace gnntune

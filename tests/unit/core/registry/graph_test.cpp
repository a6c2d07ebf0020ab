// Validation in words, and what a Graph builds, shares and forgets. Plans in words.
#include "core/registry/graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "core/common/error.hpp"
#include "core/dispatch/plan.hpp"
#include "kernels/register_all.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune {
namespace {

/// The words of the Error of that kind which `f` throws.
std::string error_of(ErrorKind kind, const std::function<void()>& f) {
    try {
        f();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), kind) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "no error was thrown";
    return "";
}
template <typename View>
std::string input_error_of(const View& view) {
    return error_of(ErrorKind::input, [&] { validate(view); });
}

TEST(Validate, NamesTheFirstBrokenRuleOfACsr) {
    const std::vector<std::int32_t> row_ptr{0, 2, 2, 3};
    const std::vector<std::int32_t> col_idx{1, 2, 0};
    const CsrView good{3, 3, 3, row_ptr.data(), col_idx.data()};
    ASSERT_NO_THROW(validate(good));

    const auto with_rows = [&](const std::vector<std::int32_t>& rows) {
        CsrView view = good;
        view.row_ptr = rows.data();
        return input_error_of(view);
    };
    const auto with_columns = [&](const std::vector<std::int32_t>& columns) {
        CsrView view = good;
        view.col_idx = columns.data();
        return input_error_of(view);
    };
    EXPECT_EQ(with_rows({1, 2, 2, 3}), "CSR graph: row_ptr[0] is 1, expected 0");
    EXPECT_EQ(with_rows({0, 2, 1, 3}), "CSR graph: row_ptr falls from 2 to 1 at row 1");
    EXPECT_EQ(with_rows({0, 2, 2, 4}), "CSR graph: row_ptr ends at 4, expected the 3 edges of col_idx");
    EXPECT_EQ(with_columns({1, 3, 0}), "CSR graph: col_idx[1] is 3, expected 0 to 2");
    EXPECT_EQ(with_columns({1, 2, -1}), "CSR graph: col_idx[2] is -1, expected 0 to 2");
    CsrView view = good;
    view.row_ptr = nullptr;
    EXPECT_EQ(input_error_of(view), "CSR graph: row_ptr and col_idx must not be null");
    view = good;
    view.col_idx = nullptr;
    EXPECT_EQ(input_error_of(view), "CSR graph: row_ptr and col_idx must not be null");
    view = good;
    view.n_rows = -1;
    EXPECT_NE(input_error_of(view).find("must not be negative"), std::string::npos);
}

TEST(Validate, NamesTheFirstBrokenEdgeOfACoo) {
    const std::vector<std::int32_t> rows{0, 2};
    const std::vector<std::int32_t> cols{1, 3};
    EXPECT_NO_THROW(validate(CooView{3, 4, 2, rows.data(), cols.data()}));

    EXPECT_EQ(input_error_of(CooView{3, 3, 2, rows.data(), cols.data()}),
              "COO graph: edge 1 is (2, 3), expected ids below 3 and 3");
    EXPECT_EQ(input_error_of(CooView{2, 4, 2, rows.data(), cols.data()}),
              "COO graph: edge 1 is (2, 3), expected ids below 2 and 4");
    EXPECT_EQ(input_error_of(CooView{3, 4, 2, nullptr, cols.data()}),
              "COO graph: row_idx and col_idx must not be null");
}

TEST(Validate, AGraphWithoutEdgesNeedsNoArraysOfEdges) {
    const std::int32_t row_ptr[] = {0};

    EXPECT_NO_THROW(validate(CsrView{0, 7, 0, row_ptr, nullptr}));
    EXPECT_NO_THROW(validate(CooView{3, 3, 0, nullptr, nullptr}));
}

TEST(Validate, WhatInt32CannotHoldIsRefusedBeforeItIsTouched) {
    const std::int64_t too_many = std::int64_t{1} << 31;

    for (const auto& view : {CsrView{5, 5, too_many}, CsrView{5, 5, too_many + 7}}) {
        EXPECT_NE(error_of(ErrorKind::unsupported, [&] { validate(view); }).find("2^31-1"), std::string::npos);
    }
    EXPECT_NO_THROW(require_int32(kMaxEdges - 1, kMaxEdges - 1, kMaxEdges));
    error_of(ErrorKind::unsupported, [&] { require_int32(kMaxEdges, 5, 5); });
}

class GraphTest : public testing::Test {
protected:
    GraphTest() {
        register_all(registry_);
        csr_ = test::csr_of(40, 30, test::random_edges(40, 30, 200, 2, 7));
        coo_ = test::coo_of(40, 30, test::random_edges(40, 30, 200, 2, 7));
    }
    Graph csr_graph() const { return {registry_, device_, csr_.view()}; }
    Graph coo_graph() const { return {registry_, device_, coo_.view()}; }
    static Problem problem(std::int32_t k = 8, Direction direction = Direction::forward) {
        Problem p;
        p.k = k;
        p.direction = direction;
        return p;
    }

    Registry registry_;
    Device device_ = cpu_device();
    CsrGraph csr_;
    test::CooGraph coo_;
};

TEST_F(GraphTest, TheCallersCsrIsUsedAsItIs) {
    Graph graph = csr_graph();

    const BuiltFormat base = graph.format(kFormatCsr, Direction::forward, nullptr);
    const auto csr = graph.format_as<CsrFormat>(kFormatCsr, Direction::forward, nullptr);

    EXPECT_EQ(graph.base_format(), "csr");
    EXPECT_EQ(csr->row_ptr, csr_.row_ptr.data());
    EXPECT_EQ(csr->col_idx, csr_.col_idx.data());
    EXPECT_EQ(csr->edge_id, nullptr);
    EXPECT_EQ(base.build_us, 0);
    EXPECT_EQ(base.bytes, 0u);
}

TEST_F(GraphTest, AReversedCooCostsNothing) {
    Graph graph = coo_graph();

    EXPECT_TRUE(graph.has_format(kFormatCoo, Direction::reversed));
    const BuiltFormat built = graph.format(kFormatCoo, Direction::reversed, nullptr);
    const auto reversed = graph.format_as<CooFormat>(kFormatCoo, Direction::reversed, nullptr);

    EXPECT_EQ(built.build_us, 0);
    EXPECT_EQ(built.bytes, 0u);
    EXPECT_EQ(reversed->row_idx, coo_.col_idx.data());
    EXPECT_EQ(reversed->col_idx, coo_.row_idx.data());
    EXPECT_EQ(reversed->edge_id, nullptr);
    EXPECT_EQ(reversed->n_rows, 30);
    EXPECT_EQ(reversed->n_cols, 40);
}

TEST_F(GraphTest, AFormatIsBuiltOnceAndShared) {
    Graph graph = csr_graph();
    EXPECT_FALSE(graph.has_format(kFormatCsr, Direction::reversed));

    const BuiltFormat first = graph.format(kFormatCsr, Direction::reversed, nullptr);
    const BuiltFormat second = graph.format(kFormatCsr, Direction::reversed, nullptr);

    EXPECT_TRUE(graph.has_format(kFormatCsr, Direction::reversed));
    EXPECT_EQ(first.data, second.data);
    EXPECT_EQ(first.build_us, second.build_us);
    EXPECT_GT(first.build_us, 0);
    EXPECT_GE(first.bytes, (31 + 2 * 200) * sizeof(std::int32_t));
}

TEST_F(GraphTest, EveryFormatHoldsEveryEdgeAndLeadsBackToTheCallersOrder) {
    const auto rows = expand_rows(csr_.view());
    Graph from_csr = csr_graph();
    Graph from_coo = coo_graph();
    for (Graph* graph : {&from_csr, &from_coo}) {
        const auto& row_of = graph->base_format() == "csr" ? rows : coo_.row_idx;
        const auto& col_of = graph->base_format() == "csr" ? csr_.col_idx : coo_.col_idx;
        for (const Direction direction : {Direction::forward, Direction::reversed}) {
            const bool swapped = direction == Direction::reversed;
            const auto expect_edge = [&](std::size_t p, const std::int32_t* edge_id, std::int32_t i, std::int32_t j) {
                const auto e = edge_id ? static_cast<std::size_t>(edge_id[p]) : p;
                EXPECT_EQ(i, swapped ? col_of[e] : row_of[e]);
                EXPECT_EQ(j, swapped ? row_of[e] : col_of[e]);
            };
            const auto csr = graph->format_as<CsrFormat>(kFormatCsr, direction, nullptr);
            ASSERT_EQ(csr->m, 200);
            for (std::int32_t i = 0; i < csr->n_rows; ++i) {
                for (std::int32_t p = csr->row_ptr[i]; p < csr->row_ptr[i + 1]; ++p) {
                    expect_edge(static_cast<std::size_t>(p), csr->edge_id, i, csr->col_idx[p]);
                }
            }
            for (const std::string_view id : {kFormatCoo, kFormatCooSorted}) {
                const auto coo = graph->format_as<CooFormat>(id, direction, nullptr);
                ASSERT_EQ(coo->m, 200);
                for (std::size_t p = 0; p < 200; ++p) expect_edge(p, coo->edge_id, coo->row_idx[p], coo->col_idx[p]);
                EXPECT_TRUE(id != kFormatCooSorted || std::is_sorted(coo->row_idx, coo->row_idx + coo->m));
            }
        }
    }
}

TEST_F(GraphTest, ReleaseForgetsWhatWasBuiltAndKeepsWhatTheCallerGave) {
    Graph csr = csr_graph();
    csr.format(kFormatCsr, Direction::reversed, nullptr);
    csr.format(kFormatCoo, Direction::forward, nullptr);
    Graph coo = coo_graph();
    coo.format(kFormatCsr, Direction::forward, nullptr);

    csr.release_formats();
    coo.release_formats();

    EXPECT_TRUE(csr.has_format(kFormatCsr, Direction::forward));
    EXPECT_FALSE(csr.has_format(kFormatCsr, Direction::reversed));
    EXPECT_FALSE(csr.has_format(kFormatCoo, Direction::forward));
    EXPECT_TRUE(coo.has_format(kFormatCoo, Direction::forward));
    EXPECT_TRUE(coo.has_format(kFormatCoo, Direction::reversed));
    EXPECT_FALSE(coo.has_format(kFormatCsr, Direction::forward));
}

TEST_F(GraphTest, APlanOutlivesTheReleaseOfItsFormats) {
    Graph graph = csr_graph();
    const Problem reversed = problem(4, Direction::reversed);
    const Plan plan(graph, reversed, registry_.default_config(graph.query(reversed), {}), nullptr);
    std::vector<float> x(40 * 4, 1.0F);
    std::vector<float> y(30 * 4, -1.0F);
    std::vector<std::byte> workspace(plan.workspace_bytes() + 256);
    void* aligned = workspace.data();
    std::size_t space = workspace.size();
    std::align(256, plan.workspace_bytes(), aligned, space);

    graph.release_formats();
    Operands operands;
    operands.x = x.data();
    operands.y = y.data();
    plan.run(operands, aligned, nullptr);

    // With ones everywhere a result is the number of edges that end in the column.
    for (std::int32_t j = 0; j < 30; ++j) {
        const auto degree = std::count(csr_.col_idx.begin(), csr_.col_idx.end(), j);
        EXPECT_EQ(y[static_cast<std::size_t>(j * 4)], static_cast<float>(degree)) << j;
    }
}

TEST_F(GraphTest, BothFormsOfAGraphHaveOneFingerprintAndOneShape) {
    Graph csr = csr_graph();
    Graph coo = coo_graph();

    EXPECT_EQ(csr.fingerprint(), coo.fingerprint());
    EXPECT_EQ(csr.fingerprint(), fingerprint(csr_.view()));
    EXPECT_EQ(csr.features().distinct_cols, coo.features().distinct_cols);
}

TEST_F(GraphTest, AQueryFollowsTheDirection) {
    Graph graph = csr_graph();

    const Query forward = graph.query(problem());
    const Query reversed = graph.query(problem(8, Direction::reversed));

    EXPECT_EQ(forward.n_rows, 40);
    EXPECT_EQ(forward.n_cols, 30);
    EXPECT_EQ(reversed.n_rows, 30);
    EXPECT_EQ(reversed.n_cols, 40);
    EXPECT_EQ(forward.features, nullptr);
    graph.features();
    EXPECT_NE(graph.query(problem()).features, nullptr);
}

TEST_F(GraphTest, AQueryKnowsThatOfAnotherProblem) {
    Graph graph = csr_graph();
    graph.features();
    for (const Direction direction : {Direction::forward, Direction::reversed}) {
        for (const Direction other : {Direction::forward, Direction::reversed}) {
            const Query asked = graph.query(problem(16, other));
            const Query known = graph.query(problem(8, direction)).with(problem(16, other));
            EXPECT_EQ(known.problem, asked.problem);
            EXPECT_EQ(known.n_rows, asked.n_rows);
            EXPECT_EQ(known.n_cols, asked.n_cols);
            EXPECT_EQ(known.m, asked.m);
            EXPECT_EQ(known.features, asked.features);
            EXPECT_EQ(known.device, asked.device);
        }
    }
}

TEST_F(GraphTest, WhatCannotBeMadeIsRefusedInWords) {
    Graph graph = csr_graph();
    CsrView on_device = csr_.view();
    on_device.space = MemorySpace::device;

    EXPECT_EQ(error_of(ErrorKind::unsupported, [&] { graph.format("tiles", Direction::forward, nullptr); }),
              "nothing in this build makes the format 'tiles' on cpu");
    EXPECT_FALSE(graph.has_format("tiles", Direction::forward));
    EXPECT_EQ(error_of(ErrorKind::invalid_argument, [&] { Graph(registry_, device_, on_device); }),
              "a cpu graph needs host pointers, device pointers were given");
    error_of(ErrorKind::input, [&] { Graph(registry_, device_, CsrView{-1, 1, 0}); });
    error_of(ErrorKind::unsupported, [&] { Graph(registry_, device_, CooView{1, 1, kMaxEdges + 1}); });
}

TEST_F(GraphTest, APlanThatCannotRunSaysWhy) {
    Graph graph = csr_graph();
    const auto refusal = [&](ErrorKind kind, const Problem& p, const std::string& config) {
        return error_of(kind, [&] { Plan(graph, p, Config::parse(config), nullptr); });
    };
    Problem max = problem();
    max.reduce = Reduce::max;
    Problem nothing = problem(0);

    EXPECT_EQ(refusal(ErrorKind::unsupported, problem(), "spmm.nobody"),
              "this build has no variant 'spmm.nobody'; `gnntune list` names those it has");
    EXPECT_EQ(refusal(ErrorKind::unsupported, problem(), "spmm.cpu_rows{tile=3}"),
              "spmm.cpu_rows{tile=3} cannot run spmm k=8 f32 sum unweighted forward: "
              "param tile=3 is not one of 16, 64, 256");
    EXPECT_EQ(refusal(ErrorKind::unsupported, max, "spmm.cpu_edges"),
              "spmm.cpu_edges cannot run spmm k=8 f32 max unweighted forward: "
              "reduces by sum only, max was asked for");
    max.self_loop = true;
    EXPECT_EQ(refusal(ErrorKind::invalid_argument, max, "spmm.cpu_rows"),
              "the maximum takes no self loops; add the edges to the graph");
    EXPECT_EQ(refusal(ErrorKind::unsupported, problem(), "sddmm.cpu_rows"),
              "sddmm.cpu_rows cannot run spmm k=8 f32 sum unweighted forward: computes sddmm");
    refusal(ErrorKind::invalid_argument, nothing, "spmm.cpu_rows");
}

}  // namespace
}  // namespace gnntune

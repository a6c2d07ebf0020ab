// Every operation of the C ABI through its public header, held to the oracles: the arrays reach the kernels under the
// names that the header gives them.
#include <cmath>
#include <functional>
#include <map>
#include <string>

#include "tests/unit/library/library_ops_fixture.hpp"

namespace gnntune {
namespace {

TEST_F(LibraryOps, SumsWithSelfLoopsAndTheirGradientsAreRight) {
    expect_right(gt::spmm(9).weighted().self_loop(), problem_of(Op::spmm, 9, 1, true, true));
    expect_right(gt::spmm_grad(9).weighted().self_loop(), problem_of(Op::spmm_grad, 9, 1, true, true));
    expect_right(gt::spmm_grad(9), problem_of(Op::spmm_grad, 9));
}

TEST_F(LibraryOps, HeadsHaveWeightsOfTheirOwnOrAreAWidth) {
    for (const bool weighted : {false, true}) {
        for (const Op op : {Op::spmm, Op::spmm_grad}) {
            gt::Problem wanted = (op == Op::spmm ? gt::spmm(5) : gt::spmm_grad(5)).heads(3).weighted(weighted);
            Problem problem = problem_of(op, 5, 3, weighted);
            expect_right(wanted, problem);
            wanted.reduce(GNNTUNE_MAX);
            problem.reduce = Reduce::max;
            expect_right(wanted, problem);
            wanted.reduce(GNNTUNE_MEAN).self_loop();
            problem.reduce = Reduce::mean;
            problem.self_loop = true;
            expect_right(wanted, problem);
        }
        expect_right(gt::sddmm(5).heads(3).weighted(weighted), problem_of(Op::sddmm, 5, 3, weighted));
    }
    gt::Context context = cpu();
    const gt::Graph graph =
        context.csr(square_.n_rows, square_.n_cols, square_.m(), square_.row_ptr.data(), square_.col_idx.data());
    const gt::Plan plan = context.plan(graph, gt::spmm(5).heads(3).weighted().self_loop());
    Run run = prepare(problem_of(Op::spmm, 5, 3, true, true));
    run.operands.self_weight = nullptr;
    EXPECT_EQ(failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { plan.run(run.operands); }),
              "operands.self_weight is NULL; expected " + std::to_string(3 * square_.n_rows) + " elements");
}

TEST_F(LibraryOps, MeansAndMaximaAndTheirGradientsAreRight) {
    for (const auto& [word, reduce] : {std::pair{GNNTUNE_MEAN, Reduce::mean}, std::pair{GNNTUNE_MAX, Reduce::max}}) {
        for (const bool weighted : {false, true}) {
            Problem problem = problem_of(Op::spmm, 9, 1, weighted);
            problem.reduce = reduce;
            expect_right(gt::spmm(9).weighted(weighted).reduce(word), problem);
            problem.op = Op::spmm_grad;
            expect_right(gt::spmm_grad(9).weighted(weighted).reduce(word), problem);
        }
    }
}

// A training step by the header alone: what the forward run saved goes into the gradient as it is.
TEST_F(LibraryOps, TheGradientOfAMaximumGoesToTheEdgesThatWon) {
    gt::Context context = cpu();
    // 0 has the edges 1 -> 0, 2 -> 0 and 1 -> 0 again, 1 none, 2 one.
    const std::vector<std::int32_t> row_idx{0, 2, 0, 0};
    const std::vector<std::int32_t> col_idx{1, 0, 2, 1};
    const gt::Graph graph = context.coo(3, 3, 4, row_idx.data(), col_idx.data());
    const std::vector<float> x{10, -1, 2, 5, 3, -4};  // [3, 2]
    const std::vector<float> weight{2, 1, 3, 2};
    std::vector<float> y(6, -7);
    std::vector<std::int32_t> argmax(6, -7);
    const gt::Plan forward = context.plan(graph, gt::spmm(2).weighted().reduce(GNNTUNE_MAX));
    gt::Operands o;
    o.x = x.data();
    o.edge_weight = weight.data();
    o.y = y.data();
    o.argmax = argmax.data();
    HostWorkspace workspace(forward.workspace_bytes());
    forward.run(o, workspace.data(), workspace.bytes());
    EXPECT_EQ(y, (std::vector<float>{9, 10, 0, 0, 10, -1}));
    EXPECT_EQ(argmax, (std::vector<std::int32_t>{2, 0, -1, -1, 1, 1}));

    const std::vector<float> grad_y{1, 2, 3, 4, 5, 6};
    std::vector<float> grad_x(6, -7);
    std::vector<float> grad_weight(4, -7);
    const gt::Plan backward = context.plan(graph, gt::spmm_grad(2).weighted().reduce(GNNTUNE_MAX));
    gt::Operands g;
    g.x = x.data();
    g.edge_weight = weight.data();
    g.grad_y = grad_y.data();
    g.argmax_saved = argmax.data();
    g.grad_x = grad_x.data();
    g.grad_edge_weight = grad_weight.data();
    HostWorkspace more(backward.workspace_bytes());
    backward.run(g, more.data(), more.bytes());
    EXPECT_EQ(grad_x, (std::vector<float>{5, 6, 0, 4, 3, 0}));
    EXPECT_EQ(grad_weight, (std::vector<float>{10, 50 - 6, 3, 0}));
}

TEST_F(LibraryOps, ArgmaxIsOfMaximaAloneAndMayBeLeftOut) {
    gt::Context context = cpu();
    const gt::Graph graph =
        context.csr(square_.n_rows, square_.n_cols, square_.m(), square_.row_ptr.data(), square_.col_idx.data());
    const gt::Plan sum = context.plan(graph, gt::spmm(4));
    const gt::Plan maximum = context.plan(graph, gt::spmm(4).reduce(GNNTUNE_MAX));
    const gt::Plan gradient = context.plan(graph, gt::spmm_grad(4).reduce(GNNTUNE_MAX));
    Problem problem = problem_of(Op::spmm, 4);
    problem.reduce = Reduce::max;
    Run run = prepare(problem);
    const auto words = [&](const gt::Plan& plan) {
        return failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { plan.run(run.operands); });
    };
    EXPECT_EQ(words(sum), "operands.argmax must be NULL: spmm by sum does not have it");
    run.operands.argmax_saved = run.operands.argmax;
    EXPECT_EQ(words(maximum), "operands.argmax_saved must be NULL: spmm by max does not have it");
    run.operands.argmax = nullptr;
    run.operands.argmax_saved = nullptr;
    maximum.run(run.operands);
    EXPECT_TRUE(reference::compare(run.expected[0], run.results[0].data(), Precision::fp32).pass());

    problem.op = Op::spmm_grad;
    run = prepare(problem);
    run.operands.argmax_saved = nullptr;
    EXPECT_EQ(words(gradient), "operands.argmax_saved is NULL; expected 160 elements");
    EXPECT_TRUE(contains(
        failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { context.plan(graph, gt::spmm(4).reduce(GNNTUNE_MAX).self_loop()); }),
        "the maximum takes no self loops"));
}

TEST_F(LibraryOps, APlanKnowsTheSizesOfItsArrays) {
    gt::Context context = cpu();
    const gt::Graph graph = graph_in(context);  // 40 x 30, 200 edges
    for (const auto& [wanted, problem] : every_op()) {
        if (problem.self_loop || problem.op == Op::gcn_norm) continue;
        const gt::Plan plan = context.plan(graph, wanted);
        Query query;
        query.problem = problem;
        query.n_rows = csr_.n_rows;
        query.n_cols = csr_.n_cols;
        query.m = csr_.m();
        std::map<std::string, std::int64_t, std::less<>> sizes;
        for (const ArraySpec& spec : arrays_of(query)) sizes[std::string(spec.name)] = spec.size();
        EXPECT_FALSE(sizes.empty());
        const auto expect = [&](std::string_view name) {
            const auto found = sizes.find(name);
            EXPECT_EQ(plan.array_elements(std::string(name).c_str()), found == sizes.end() ? -1 : found->second)
                << name << " of " << to_text(problem);
        };
        for (const auto& [name, member] : kInputMembers) expect(name);
        for (const auto& [name, member] : kOutputMembers) expect(name);
    }
    const gt::Plan reversed = context.plan(graph, gt::spmm(4).reversed());
    EXPECT_EQ(reversed.array_elements("x"), 40 * 4);
    EXPECT_EQ(reversed.array_elements("y"), 30 * 4);
    EXPECT_EQ(reversed.array_elements("edge_weight"), -1);
    EXPECT_EQ(context.plan(graph, gt::spmm(4).reduce(GNNTUNE_MAX)).array_elements("argmax"), 40 * 4);
}

TEST_F(LibraryOps, NarrowStorageIsRight) {
    for (const auto& [word, dtype] : {std::pair{GNNTUNE_F16, DType::f16}, std::pair{GNNTUNE_BF16, DType::bf16}}) {
        const gt::Problem wanted = gt::spmm(9).weighted().self_loop().dtype(word);
        Problem problem = problem_of(Op::spmm, 9, 1, true, true);
        problem.dtype = dtype;
        expect_right(wanted, problem);
    }
}

TEST_F(LibraryOps, AttentionAndItsGradientsAreRight) {
    expect_right(gt::edge_softmax(3), problem_of(Op::edge_softmax, 1, 3));
    expect_right(gt::gat(5, 3), problem_of(Op::gat, 5, 3));
    expect_right(gt::gat_grad(5, 3), problem_of(Op::gat_grad, 5, 3));
    expect_right(gt::agnn(6, 2), problem_of(Op::agnn, 6, 2));
    expect_right(gt::agnn_grad(6, 2), problem_of(Op::agnn_grad, 6, 2));
    for (const std::int32_t heads : {2, 1}) {
        expect_right(gt::attention(6, heads), problem_of(Op::attention, 6, heads));
        expect_right(gt::attention_grad(6, heads), problem_of(Op::attention_grad, 6, heads));
    }
}

TEST_F(LibraryOps, AttentionSaysWhichArrayOrNumberIsWrong) {
    gt::Context context = cpu();
    const gt::Graph graph =
        context.csr(square_.n_rows, square_.n_cols, square_.m(), square_.row_ptr.data(), square_.col_idx.data());
    const gt::Plan plan = context.plan(graph, gt::attention_grad(4));
    HostWorkspace workspace(plan.workspace_bytes());
    const auto words = [&](auto change) {
        Run run = prepare(problem_of(Op::attention_grad, 4));
        change(run.operands);
        return failure_of(GNNTUNE_INVALID_ARGUMENT,
                          [&] { plan.run(run.operands, workspace.data(), workspace.bytes()); });
    };
    EXPECT_EQ(words([](auto& o) { o.key = nullptr; }), "operands.key is NULL; expected 160 elements");
    EXPECT_EQ(words([](auto& o) { o.grad_key = nullptr; }), "operands.grad_key is NULL; expected 160 elements");
    EXPECT_EQ(words([](auto& o) { o.beta = o.x; }), "operands.beta must be NULL: attention_grad does not have it");
    EXPECT_EQ(words([](auto& o) { o.scale = INFINITY; }), "operands.scale is not finite");
    EXPECT_TRUE(
        contains(failure_of(GNNTUNE_UNSUPPORTED, [&] { context.plan(graph, gt::attention(4).dtype(GNNTUNE_F16)); }),
                 "stores f32 only, f16 was asked for"));
}

// One plan runs them all: numbers of a run, as the header gives them.
TEST_F(LibraryOps, ProductsOfEdgesAreScaledAndActivated) {
    gt::Context context = cpu();
    const std::vector<std::int32_t> row_idx{0, 1, 0};
    const std::vector<std::int32_t> col_idx{1, 0, 0};
    const gt::Graph graph = context.coo(2, 2, 3, row_idx.data(), col_idx.data());
    const std::vector<float> x_row{1, 2, -1, 3};  // [2, 2]
    const std::vector<float> x{2, 0, -4, 1};
    const std::vector<float> weight{2, 0.5F, 4};
    const std::vector<float> weighted{-4, -1, 8};
    const gt::Plan plan = context.plan(graph, gt::sddmm(2).weighted());
    gt::Operands o;
    o.x_row = x_row.data();
    o.x = x.data();
    o.edge_weight = weight.data();
    const auto result = [&](gnntune_activation activation, float scale, float slope) {
        std::vector<float> y(3, -7);
        o.y = y.data();
        o.activation = activation;
        o.scale = scale;
        o.negative_slope = slope;
        HostWorkspace workspace(plan.workspace_bytes());
        plan.run(o, workspace.data(), workspace.bytes());
        return y;
    };
    EXPECT_EQ(result(GNNTUNE_NO_ACTIVATION, 1, 0.2F), weighted);
    EXPECT_EQ(result(GNNTUNE_NO_ACTIVATION, -0.5F, 0.2F), (std::vector<float>{2, 0.5F, -4}));
    EXPECT_EQ(result(GNNTUNE_LEAKY_RELU, 1, 0.5F), (std::vector<float>{-2, -0.5F, 8}));
    EXPECT_EQ(result(GNNTUNE_LEAKY_RELU, -2, 0.2F), (std::vector<float>{8, 2, -16 * 0.2F}));
    // Zero is zero.
    EXPECT_EQ(result(GNNTUNE_LEAKY_RELU, 1, 0), (std::vector<float>{0, 0, 8}));
    EXPECT_EQ(result(GNNTUNE_NO_ACTIVATION, 0, 0.2F), (std::vector<float>{0, 0, 0}));
    const std::vector<float> exponentials = result(GNNTUNE_EXP, 0.25F, 0.2F);
    for (std::size_t e = 0; e < 3; ++e) EXPECT_FLOAT_EQ(exponentials[e], std::exp(0.25F * weighted[e]));
    EXPECT_EQ(result(GNNTUNE_EXP, 0, 0.2F), (std::vector<float>{1, 1, 1}));

    // What the initialiser says: the products as they are, and a slope of 0.2.
    gt::Operands defaults;
    EXPECT_EQ(result(defaults.activation, defaults.scale, defaults.negative_slope), weighted);
    EXPECT_EQ(result(GNNTUNE_LEAKY_RELU, defaults.scale, defaults.negative_slope),
              (std::vector<float>{-4 * 0.2F, -1 * 0.2F, 8}));
}

TEST_F(LibraryOps, AScaleOfZeroIsAMeanAndASlopeOfZeroIsAReLU) {
    gt::Context context = cpu();
    const std::vector<std::int32_t> row_ptr{0, 2};
    const std::vector<std::int32_t> col_idx{0, 1};
    const gt::Graph graph = context.csr(1, 2, 2, row_ptr.data(), col_idx.data());
    const std::vector<float> x{2, 6};  // [2, 1, 1]
    const std::vector<float> row{3};
    const std::vector<float> col{5, -7};
    float y = -7;
    gt::Operands o;
    o.x = x.data();
    o.y = &y;
    const auto run = [&](const gt::Problem& problem) {
        const gt::Plan plan = context.plan(graph, problem);
        HostWorkspace workspace(plan.workspace_bytes());
        plan.run(o, workspace.data(), workspace.bytes());
        return y;
    };
    o.x_row = row.data();
    o.key = col.data();
    EXPECT_NEAR(run(gt::attention(1)), 2, 1e-5);  // exp(15) against exp(-21)
    o.scale = 0;
    EXPECT_FLOAT_EQ(run(gt::attention(1)), 4);
    o.x_row = o.key = nullptr;
    o.score_row = row.data();
    o.score_col = col.data();
    const float weight = std::exp(-8.0F);  // relu(3 - 7) against relu(3 + 5)
    o.negative_slope = 0;
    EXPECT_FLOAT_EQ(run(gt::gat(1)), (2 + 6 * weight) / (1 + weight));
    o.negative_slope = 0.2F;
    const float leaky = std::exp(-8.8F);
    EXPECT_FLOAT_EQ(run(gt::gat(1)), (2 + 6 * leaky) / (1 + leaky));
}

TEST_F(LibraryOps, ActivationsAreOfSddmmAlone) {
    gt::Context context = cpu();
    const gt::Graph graph =
        context.csr(square_.n_rows, square_.n_cols, square_.m(), square_.row_ptr.data(), square_.col_idx.data());
    const auto words = [&](const gt::Problem& wanted, const Problem& problem, auto change) {
        const gt::Plan plan = context.plan(graph, wanted);
        HostWorkspace workspace(plan.workspace_bytes());
        Run run = prepare(problem);
        change(run.operands);
        return failure_of(GNNTUNE_INVALID_ARGUMENT,
                          [&] { plan.run(run.operands, workspace.data(), workspace.bytes()); });
    };
    const auto exp = [](auto& o) { o.activation = GNNTUNE_EXP; };
    EXPECT_EQ(words(gt::gat_grad(4), problem_of(Op::gat_grad, 4), exp),
              "operands.activation must be GNNTUNE_NO_ACTIVATION: gat_grad has none");
    EXPECT_EQ(words(gt::attention(4), problem_of(Op::attention, 4), exp),
              "operands.activation must be GNNTUNE_NO_ACTIVATION: attention has none");
    EXPECT_EQ(words(gt::spmm(4), problem_of(Op::spmm, 4), exp),
              "operands.activation must be GNNTUNE_NO_ACTIVATION: spmm by sum has none");
    const Problem sddmm = problem_of(Op::sddmm, 4);
    EXPECT_EQ(
        words(gt::sddmm(4), sddmm, [](auto& o) { o.activation = 0; }),
        "operands.activation is 0; expected GNNTUNE_NO_ACTIVATION, as in GNNTUNE_OPERANDS_INIT, GNNTUNE_LEAKY_RELU "
        "or GNNTUNE_EXP");
    EXPECT_EQ(words(gt::sddmm(4), sddmm, [](auto& o) { o.scale = NAN; }), "operands.scale is not finite");
    EXPECT_EQ(words(gt::sddmm(4), sddmm, [](auto& o) { o.negative_slope = INFINITY; }),
              "operands.negative_slope is not finite");
}

TEST_F(LibraryOps, GraphProcessingIsRight) {
    expect_right(gt::gcn_norm(), problem_of(Op::gcn_norm, 1));
    expect_right(gt::gcn_norm().weighted(), problem_of(Op::gcn_norm, 1, 1, true));
    expect_right(gt::coo_to_csr(), problem_of(Op::coo_to_csr, 1));
    expect_right(gt::csr_to_csc(), problem_of(Op::csr_to_csc, 1));
}

TEST_F(LibraryOps, RunSaysWhichArrayOrNumberIsWrong) {
    gt::Context context = cpu();
    const gt::Graph graph =
        context.csr(square_.n_rows, square_.n_cols, square_.m(), square_.row_ptr.data(), square_.col_idx.data());
    const gt::Plan plan = context.plan(graph, gt::gat_grad(4, 2));
    HostWorkspace workspace(plan.workspace_bytes());
    const auto words = [&](auto change) {
        Run run = prepare(problem_of(Op::gat_grad, 4, 2));
        change(run.operands);
        return failure_of(GNNTUNE_INVALID_ARGUMENT,
                          [&] { plan.run(run.operands, workspace.data(), workspace.bytes()); });
    };
    EXPECT_EQ(words([](auto& o) { o.lse_saved = nullptr; }), "operands.lse_saved is NULL; expected 80 elements");
    EXPECT_EQ(words([](auto& o) { o.grad_score_col = nullptr; }),
              "operands.grad_score_col is NULL; expected 80 elements");
    EXPECT_EQ(words([](auto& o) { o.x_row = o.x; }), "operands.x_row must be NULL: gat_grad does not have it");
    EXPECT_EQ(words([](auto& o) { o.y = o.grad_x; }), "operands.y must be NULL: gat_grad does not have it");
    EXPECT_TRUE(contains(words([](auto& o) { o.dropout = 1.0F; }), "operands.dropout is 1"));
    EXPECT_TRUE(contains(words([](auto& o) { o.negative_slope = NAN; }), "operands.negative_slope is not finite"));
    EXPECT_TRUE(contains(words([](auto& o) { o.grad_x = static_cast<char*>(o.grad_x) + 2; }),
                         "operands.grad_x is not aligned"));
}

TEST_F(LibraryOps, LseMayBeLeftOut) {
    gt::Context context = cpu();
    const gt::Graph graph =
        context.csr(square_.n_rows, square_.n_cols, square_.m(), square_.row_ptr.data(), square_.col_idx.data());
    const gt::Plan plan = context.plan(graph, gt::gat(4));
    Run run = prepare(problem_of(Op::gat, 4));
    run.operands.lse = nullptr;
    HostWorkspace workspace(plan.workspace_bytes());
    plan.run(run.operands, workspace.data(), workspace.bytes());
    EXPECT_TRUE(reference::compare(run.expected[0], run.results[0].data(), Precision::fp32).pass());
}

TEST_F(LibraryOps, WhatAnOpDoesNotHaveIsRefused) {
    gt::Context context = cpu();
    const gt::Graph graph =
        context.csr(square_.n_rows, square_.n_cols, square_.m(), square_.row_ptr.data(), square_.col_idx.data());
    const auto words = [&](const gt::Problem& problem) {
        return failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { context.plan(graph, problem); });
    };
    EXPECT_TRUE(contains(words(gt::gat(4, 2).weighted()), "gat takes no edge weights"));
    EXPECT_TRUE(contains(words(gt::coo_to_csr().weighted()), "coo_to_csr takes no edge weights"));
    EXPECT_TRUE(contains(words(gt::agnn(4).self_loop()), "only spmm and spmm_grad have self loops, not agnn"));
    EXPECT_TRUE(contains(words(gt::sddmm(4).reduce(GNNTUNE_MEAN)), "sddmm has none"));
}

TEST_F(LibraryOps, SelfLoopsNeedASquareGraph) {
    gt::Context context = cpu();
    const gt::Graph graph = graph_in(context);
    EXPECT_TRUE(contains(failure_of(GNNTUNE_UNSUPPORTED, [&] { context.plan(graph, gt::spmm(4).self_loop()); }),
                         "self loops need a square graph, this one has 40 rows and 30 columns"));
}

}  // namespace
}  // namespace gnntune

// The rules of gnntune.h: structs, arrays, errors, threads, lifetimes, and right results on the cpu backend.
#include <omp.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include "core/graph/convert.hpp"
#include "tests/unit/library/library_fixture.hpp"

namespace gnntune {
namespace {

class Library : public LibraryTest {
protected:
    static std::vector<std::int64_t> widened(const HostVector<std::int32_t>& ids) { return {ids.begin(), ids.end()}; }
};

TEST_F(Library, MoreThreadsThanThereCanBeAreRefusedNotStarted) {
    const int before = omp_get_max_threads();
    omp_set_num_threads(100000);
    EXPECT_TRUE(contains(failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { cpu(); }), "told to start 100000 threads"));
    omp_set_num_threads(before);
    EXPECT_NO_THROW(cpu());
}

TEST_F(Library, VersionIsThatOfTheHeader) {
    EXPECT_EQ(gnntune_version(), 10000U * GNNTUNE_VERSION_MAJOR + 100U * GNNTUNE_VERSION_MINOR + GNNTUNE_VERSION_PATCH);
    EXPECT_STREQ(gnntune_status_string(GNNTUNE_DATABASE), "GNNTUNE_DATABASE");
    EXPECT_STREQ(gnntune_status_string(4711), "unknown status");
}

TEST_F(Library, SddmmAndReversedSpmmAreRight) {
    gt::Context context = cpu();
    const gt::Graph graph = coo_graph_in(context);
    const gt::Plan back = context.plan(graph, gt::spmm(kK).weighted().reversed());
    const auto grad = values(static_cast<std::size_t>(csr_.n_rows * kK), 3);
    std::vector<float> y(static_cast<std::size_t>(csr_.n_cols * kK));
    HostWorkspace workspace(back.workspace_bytes());
    back.run(grad.data(), weight_.data(), y.data(), workspace.data(), workspace.bytes());
    CsrGraph with_weights = csr_;
    with_weights.edge_weight.assign(weight_.begin(), weight_.end());
    const CsrGraph reversed = reverse(with_weights.view());
    expect_near(y, spmm_of(reversed, grad, {reversed.edge_weight.begin(), reversed.edge_weight.end()}, kK));

    const gt::Plan dots = context.plan(graph, gt::sddmm(kK));
    gt::Operands operands;
    std::vector<float> scores(static_cast<std::size_t>(csr_.m()));
    operands.x = x_.data();
    operands.x_row = grad.data();
    operands.y = scores.data();
    HostWorkspace more(dots.workspace_bytes());
    dots.run(operands, more.data(), more.bytes());
    std::vector<float> expected;
    for (std::size_t e = 0; e < scores.size(); ++e) {
        double sum = 0;
        for (std::int32_t f = 0; f < kK; ++f) {
            sum += static_cast<double>(grad[static_cast<std::size_t>(row_idx_[e] * kK + f)]) *
                   static_cast<double>(x_[static_cast<std::size_t>(csr_.col_idx[e] * kK + f)]);
        }
        expected.push_back(static_cast<float>(sum));
    }
    expect_near(scores, expected);
}

TEST_F(Library, WideIdsAreCopiedAndNarrowed) {
    gt::Context context = cpu();
    auto row_ptr = widened(csr_.row_ptr);
    auto col_idx = widened(csr_.col_idx);
    auto row_idx = widened(expand_rows(csr_.view()));
    const gt::Graph csr = context.csr(40, 30, csr_.m(), row_ptr.data(), col_idx.data());
    const gt::Graph mixed = context.csr(40, 30, csr_.m(), row_ptr.data(), csr_.col_idx.data());
    const gt::Graph coo = context.coo(40, 30, csr_.m(), row_idx.data(), col_idx.data());
    for (auto* array : {&row_ptr, &col_idx, &row_idx}) array->assign(array->size(), -1);
    const std::string expected = fingerprint(csr_.view()).text();
    for (const gt::Graph* graph : {&csr, &mixed, &coo}) {
        EXPECT_EQ(graph->fingerprint(), expected);
        expect_right(context.plan(*graph, weighted_spmm()));
    }
}

TEST_F(Library, ArraysThatAreNoGraphAreRefusedInWords) {
    gt::Context context = cpu();
    csr_.col_idx[5] = 30;
    EXPECT_TRUE(
        contains(failure_of(GNNTUNE_INVALID_GRAPH, [&] { graph_in(context); }), "col_idx[5] is 30, expected 0 to 29"));
    csr_.col_idx[5] = -1;
    EXPECT_TRUE(contains(failure_of(GNNTUNE_INVALID_GRAPH, [&] { graph_in(context); }), "col_idx[5] is -1"));
    EXPECT_TRUE(contains(failure_of(GNNTUNE_INVALID_GRAPH, [&] { coo_graph_in(context); }), "edge 5"));
    csr_.col_idx[5] = 0;
    std::swap(csr_.row_ptr[0], csr_.row_ptr[40]);
    EXPECT_TRUE(
        contains(failure_of(GNNTUNE_INVALID_GRAPH, [&] { graph_in(context); }), "row_ptr[0] is 200, expected 0"));
}

TEST_F(Library, IdsAndSizesOverInt32AreRefusedInWords) {
    gt::Context context = cpu();
    auto col_idx = widened(csr_.col_idx);
    col_idx[7] = std::int64_t{1} << 32;  // its low half would be a valid id
    const std::string words =
        failure_of(GNNTUNE_UNSUPPORTED, [&] { context.csr(40, 30, csr_.m(), csr_.row_ptr.data(), col_idx.data()); });
    EXPECT_TRUE(contains(words, "col_idx[7] is 4294967296; ids and offsets must fit int32"));
    gt::Csr csr = csr_description();
    csr.n_cols = std::int64_t{1} << 31;
    failure_of(GNNTUNE_UNSUPPORTED, [&] { context.graph(csr); });
    csr.n_cols = -1;
    EXPECT_TRUE(contains(failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { context.graph(csr); }), "n_cols=-1"));
}

// What a program has that was compiled against a newer header. (StructsThatGrow are those of an older one.)
TEST_F(Library, StructsMayBeNewerThanTheLibrary) {
    gt::Context context = cpu();
    const gt::Graph graph = graph_in(context);
    gnntune_plan* plan = nullptr;
    struct NewerProblem {
        gnntune_problem known;
        std::int64_t unknown;
    } newer{GNNTUNE_PROBLEM_INIT, 1};
    EXPECT_EQ(gnntune_problem_init(&newer.known, sizeof newer), GNNTUNE_OK);
    newer.known.op = GNNTUNE_SPMM;
    newer.known.k = kK;
    EXPECT_EQ(gnntune_plan_create(context.get(), graph.get(), &newer.known, nullptr, &plan), GNNTUNE_OK)
        << gnntune_last_error();
    gnntune_plan_destroy(plan);
    newer.unknown = 1;
    EXPECT_EQ(gnntune_plan_create(context.get(), graph.get(), &newer.known, nullptr, &plan), GNNTUNE_INVALID_ARGUMENT);
    EXPECT_EQ(plan, nullptr);
    EXPECT_TRUE(contains(gnntune_last_error(), "a field beyond them is set"));
}

// A zero that was meant as "not said" is told from one that was meant.
TEST_F(Library, StructsThatWereOnlyZeroedAreRefused) {
    const auto words = [](auto&& f) { return failure_of(GNNTUNE_INVALID_ARGUMENT, f); };
    gnntune_open_options options{};
    options.struct_size = sizeof options;
    EXPECT_TRUE(contains(words([&] { gt::Context(file().c_str(), options); }), "the -1 of GNNTUNE_OPEN_OPTIONS_INIT"));

    gt::Context context = cpu();
    gnntune_csr csr{};
    csr.struct_size = sizeof csr;
    csr.memory = GNNTUNE_HOST;
    csr.n_rows = csr_.n_rows;
    csr.n_cols = csr_.n_cols;
    csr.m = csr_.m();
    csr.row_ptr = csr_.row_ptr.data();
    csr.col_idx = csr_.col_idx.data();
    EXPECT_TRUE(contains(words([&] { context.graph(csr); }), "the -1 of GNNTUNE_CSR_INIT"));
    csr.longest_row = -1;
    const gt::Graph graph = context.graph(csr);

    gnntune_problem problem{};
    problem.struct_size = sizeof problem;
    problem.op = GNNTUNE_SPMM;
    problem.k = kK;
    gnntune_plan* plan = nullptr;
    for (const char* named : {"heads", "operand_alignment", "expected_calls"}) {
        EXPECT_EQ(gnntune_plan_create(context.get(), graph.get(), &problem, nullptr, &plan), GNNTUNE_INVALID_ARGUMENT);
        EXPECT_TRUE(contains(gnntune_last_error(), "GNNTUNE_PROBLEM_INIT")) << gnntune_last_error();
        if (named == std::string("heads")) problem.heads = 1;
        if (named == std::string("operand_alignment")) problem.operand_alignment = 16;
        if (named == std::string("expected_calls")) problem.expected_calls = 1;
    }
    // What is left is meant: no workspace.
    ASSERT_EQ(gnntune_plan_create(context.get(), graph.get(), &problem, nullptr, &plan), GNNTUNE_OK)
        << gnntune_last_error();
    const gt::Plan made(plan);
    EXPECT_EQ(made.workspace_bytes(), 0U);

    std::vector<float> y(static_cast<std::size_t>(csr_.n_rows * kK));
    gnntune_operands operands{};
    operands.struct_size = sizeof operands;
    operands.x = x_.data();
    operands.y = y.data();
    EXPECT_TRUE(contains(words([&] { made.run(operands); }), "as in GNNTUNE_OPERANDS_INIT"));
}

TEST_F(Library, WithoutAGpuTheCudaBackendIsRefusedInWordsOfTheInterface) {
    if (cuda_device_count() > 0) GTEST_SKIP() << "there is a GPU";
    for (const std::int32_t device : {0, -1, 3}) {
        gt::OpenOptions options;
        options.backend = GNNTUNE_BACKEND_CUDA;
        options.device = device;
        const std::string words = failure_of(GNNTUNE_NO_DEVICE, [&] { gt::Context(file().c_str(), options); });
        EXPECT_EQ(words.rfind("options.backend is GNNTUNE_BACKEND_CUDA, and ", 0), 0U) << words;
        EXPECT_TRUE(contains(words, "or set options.backend to GNNTUNE_BACKEND_CPU or GNNTUNE_BACKEND_AUTO"));
    }
}

TEST_F(Library, RunRefusesMissingOperandsAndWorkspaceInWords) {
    setenv("GNNTUNE_FORCE", "spmm.cpu_edges{parts=8}", 1);
    gt::Context context = cpu();
    const gt::Graph graph = graph_in(context);
    const gt::Plan plan = context.plan(graph, weighted_spmm());
    std::vector<float> y(40 * kK);
    HostWorkspace workspace(plan.workspace_bytes());
    const auto words = [&](const float* x, const float* w, float* out, void* memory, std::size_t bytes) {
        return failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { plan.run(x, w, out, memory, bytes); });
    };
    const std::size_t bytes = workspace.bytes();
    ASSERT_GT(bytes, 0U);
    EXPECT_TRUE(contains(words(nullptr, weight_.data(), y.data(), workspace.data(), bytes), "operands.x is NULL"));
    EXPECT_TRUE(contains(words(x_.data(), nullptr, y.data(), workspace.data(), bytes), "operands.edge_weight is NULL"));
    EXPECT_TRUE(contains(words(x_.data(), weight_.data(), nullptr, workspace.data(), bytes), "operands.y is NULL"));
    EXPECT_TRUE(contains(words(x_.data(), weight_.data(), y.data(), workspace.data(), bytes - 1),
                         "needs " + std::to_string(bytes)));
    EXPECT_TRUE(contains(words(x_.data(), weight_.data(), y.data(), nullptr, bytes), "workspace is NULL"));
    EXPECT_TRUE(contains(words(x_.data(), weight_.data(), y.data(), static_cast<char*>(workspace.data()) + 4, bytes),
                         "not aligned to 256"));
    const gt::Plan plain = context.plan(graph, gt::spmm(kK));
    EXPECT_TRUE(contains(failure_of(GNNTUNE_INVALID_ARGUMENT,
                                    [&] { plain.run(x_.data(), weight_.data(), y.data(), workspace.data(), bytes); }),
                         "not weighted"));
}

TEST_F(Library, ArraysOfNoElementsMayBeNullAndNoOthers) {
    gt::Context context = cpu();
    const std::int32_t offsets[] = {0, 0, 0};
    const gt::Graph no_edges = context.csr(2, 5, 0, offsets, static_cast<const std::int32_t*>(nullptr));
    std::vector<float> y(2 * kK, 7.0F);
    const std::vector<float> x(5 * kK, 3.0F);
    const gt::Plan plan = context.plan(no_edges, weighted_spmm().workspace_limit_bytes(0));
    plan.run(x.data(), nullptr, y.data());
    EXPECT_EQ(y, std::vector<float>(2 * kK, 0.0F));
    // What belongs to vertices is read without edges too: for self loops, or row by row.
    EXPECT_TRUE(contains(failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { plan.run(nullptr, nullptr, y.data()); }),
                         "operands.x is NULL; expected 40 elements"));
    const gt::Plan attention = context.plan(no_edges, gt::gat(kK).workspace_limit_bytes(0));
    gt::Operands operands;
    operands.x = operands.score_col = x.data();
    operands.y = y.data();
    EXPECT_TRUE(contains(failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { attention.run(operands); }),
                         "operands.score_row is NULL; expected 2 elements"));
    const auto* none = static_cast<const std::int64_t*>(nullptr);
    const gt::Graph nothing = context.coo(0, 0, 0, none, none);
    context.plan(nothing, gt::spmm(kK).workspace_limit_bytes(0)).run(nullptr, nullptr, nullptr);
}

TEST_F(Library, HandlesMayBeDestroyedInAnyOrder) {
    auto context = std::make_unique<gt::Context>(cpu());
    auto graph = std::make_unique<gt::Graph>(graph_in(*context));
    const gt::Plan plan = context->plan(*graph, weighted_spmm());
    context.reset();
    graph.reset();
    expect_right(plan);
}

TEST_F(Library, TextsAreCutToTheBuffer) {
    gt::Context context = cpu();
    const gt::Plan plan = context.plan(graph_in(context), weighted_spmm());
    const std::string whole = plan.explain();
    char small[8];
    std::memset(small, '#', sizeof small);
    EXPECT_EQ(gnntune_plan_explain(plan.get(), small, 5), whole.size());
    EXPECT_EQ(std::string(small, 8), whole.substr(0, 4) + std::string("\0###", 4));
}

TEST_F(Library, ThreadsPlanAndRunAtOnce) {
    write({row("spmm.cpu_edges{parts=8}", 1, 100), row("spmm.cpu_rows{tile=16,row_block=16}", 2, 1)});
    gt::Context context = cpu();
    const gt::Graph graph = coo_graph_in(context);
    const gt::Plan shared = context.plan(graph, weighted_spmm());
    const std::vector<float> expected = spmm_of(csr_, x_, weight_, kK);
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
            for (int round = 0; round < 20; ++round) {
                const gt::Plan own = context.plan(graph, weighted_spmm().reversed(round % 2 == 1));
                const gt::Plan mine = context.plan(graph, weighted_spmm().expected_calls(1 + t * 1000));
                for (const gt::Plan* plan : {&shared, &mine}) {
                    std::vector<float> y(40 * kK);
                    HostWorkspace workspace(plan->workspace_bytes());
                    plan->run(x_.data(), weight_.data(), y.data(), workspace.data(), workspace.bytes());
                    bool close = true;
                    for (std::size_t i = 0; i < y.size(); ++i) close = close && std::abs(y[i] - expected[i]) < 1e-4F;
                    right += close ? 1 : 0;
                }
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right.load(), 8 * 20 * 2);
}

TEST_F(Library, EachThreadHasItsOwnLastError) {
    gnntune_run(nullptr, nullptr, nullptr, 0, nullptr);
    const std::string mine = gnntune_last_error();
    EXPECT_EQ(mine, "plan is NULL");
    std::string before;
    std::string after;
    std::thread([&] {
        before = gnntune_last_error();
        gnntune_graph_release_formats(nullptr);
        after = gnntune_last_error();
    }).join();
    EXPECT_EQ(before, "");
    EXPECT_EQ(after, "graph is NULL");
    EXPECT_EQ(gnntune_last_error(), mine);
    gt::Context context = cpu();  // a success changes nothing
    EXPECT_EQ(gnntune_last_error(), mine);
}

}  // namespace
}  // namespace gnntune

// A child of fork goes on with what its parent has made and makes its own, on the calling thread alone: OpenMP's threads
// stay behind, and whoever waits for them waits for ever.
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "tests/unit/common/child_process.hpp"
#include "tests/unit/library/library_ops_fixture.hpp"

namespace gnntune {
namespace {

#if defined(__has_feature)
constexpr bool kThreadSanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool kThreadSanitizer = false;
#endif
constexpr int kThreads = 4;
constexpr unsigned kPatienceSeconds = 60;

class LibraryFork : public LibraryOps {
protected:
    void SetUp() override {
        LibraryOps::SetUp();
        // Large enough for threads everywhere: in sorts, fingerprints, features and runs.
        square_ = test::csr_of(3000, 3000, test::random_edges(3000, 3000, 60000, 2, 11));
        omp_set_num_threads(kThreads);
    }
    void TearDown() override {
        omp_set_num_threads(omp_get_num_procs());
        LibraryOps::TearDown();
    }

    gt::Graph csr_in(gt::Context& context) const {
        return context.csr(square_.n_rows, square_.n_cols, square_.m(), square_.row_ptr.data(), square_.col_idx.data());
    }

    /// Whether a run of the plan on `run` has the results that its oracles expect. Compared without OpenMP, which a child
    /// does not have.
    static bool runs_right(const gt::Plan& plan, Run& run) {
        for (auto& result : run.results) std::fill(result.begin(), result.end(), NAN);
        HostWorkspace workspace(plan.workspace_bytes());
        plan.run(run.operands, workspace.data(), workspace.bytes());
        for (std::size_t i = 0; i < run.expected.size(); ++i) {
            omp_set_num_threads(1);
            const auto outcome = reference::compare(run.expected[i], run.results[i].data(), Precision::fp32);
            omp_set_num_threads(kThreads);
            if (!outcome.pass()) return false;
        }
        return true;
    }
    static void require(bool holds, const std::string& what) {
        if (!holds) throw std::runtime_error(what);
    }
};

TEST_F(LibraryFork, AChildRunsAndPlansEveryOperation) {
    gt::Context context = cpu();
    const gt::Graph graph = csr_in(context);
    struct Prepared {
        gt::Problem wanted;
        gt::Plan plan;
        Run run;
    };
    std::vector<Prepared> all;
    for (const auto& [wanted, problem] : every_op()) {
        all.push_back({wanted, context.plan(graph, wanted), prepare(problem)});
        ASSERT_TRUE(runs_right(all.back().plan, all.back().run)) << to_text(problem);
    }
    const std::string fingerprint = graph.fingerprint();
    const pid_t child = test::in_child([&] {
        alarm(kPatienceSeconds);  // a child that waits for lost threads is ended
        for (Prepared& p : all) require(runs_right(p.plan, p.run), "a plan of the parent");
        // On new graphs of the parent's context, whose formats have to be built.
        const gt::Graph again = csr_in(context);
        require(again.fingerprint() == fingerprint, "the fingerprint");
        for (Prepared& p : all) {
            const gt::Plan plan = context.plan(again, p.wanted);
            require(runs_right(plan, p.run), "a plan of the child");
        }
        gt::Context own = cpu();
        require(contains(own.describe(), " 1 threads)"), "a context of the child has one thread");
        const gt::Graph of_own = csr_in(own);
        for (Prepared& p : all) require(runs_right(own.plan(of_own, p.wanted), p.run), "a context of the child");
        require(omp_get_max_threads() == kThreads, "the program's own number of threads is as it was");
    });
    EXPECT_EQ(test::wait_for(child), 0);
    // The parent has its threads.
    for (Prepared& p : all) EXPECT_TRUE(runs_right(p.plan, p.run));
}

TEST_F(LibraryFork, AChildOfAnotherThreadAndItsChildRun) {
    if (kThreadSanitizer) GTEST_SKIP() << "libarcher, which watches OpenMP, does not survive such a fork";
    gt::Context context = cpu();
    const gt::Graph graph = csr_in(context);
    const gt::Plan plan = context.plan(graph, gt::spmm(5));
    Run run = prepare(problem_of(Op::spmm, 5));
    ASSERT_TRUE(runs_right(plan, run));
    int code = -1;
    std::thread([&] {
        code = test::wait_for(test::in_child([&] {
            alarm(kPatienceSeconds);
            require(runs_right(plan, run), "the child");
            require(test::wait_for(test::in_child([&] {
                        alarm(kPatienceSeconds);
                        require(runs_right(plan, run), "the grandchild");
                    })) == 0,
                    "the grandchild's end");
        }));
    }).join();
    EXPECT_EQ(code, 0);
}

// Its one thread is not the context's environment: rows of it would be taken for those of all threads.
TEST_F(LibraryFork, AChildMeasuresNothingForItsParentsContext) {
    square_ = test::csr_of(40, 40, test::random_edges(40, 40, 260, 2, 11));
    gt::OpenOptions options;
    options.backend = GNNTUNE_BACKEND_CPU;
    options.sources = GNNTUNE_TUNE_ON_MISS;
    gt::Context context(file().c_str(), options);
    const gt::Graph graph = csr_in(context);
    const pid_t child = test::in_child([&] {
        alarm(kPatienceSeconds);
        const std::string text = context.plan(graph, gt::spmm(5)).explain();
        require(contains(text, "tuning     not tuned: this process was forked and has one thread"), text);
    });
    EXPECT_EQ(test::wait_for(child), 0);
    EXPECT_FALSE(contains(context.plan(graph, gt::spmm(5)).explain(), "was forked")) << "the parent has its threads";
}

}  // namespace
}  // namespace gnntune

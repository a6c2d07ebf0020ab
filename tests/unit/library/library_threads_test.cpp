// What gnntune.h promises of threads, all of it at once: one context, a graph that all share and graphs of their own,
// plans that are made, run and destroyed while others build and release formats. The preset `tsan` runs this too.
#include <latch>
#include <thread>

#include "tests/unit/library/library_fixture.hpp"

namespace gnntune::library_threads_test {
namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 12;

class LibraryThreads : public LibraryTest {
protected:
    /// Runs `f(thread)` in every thread at once. The sentences it returns are failures.
    template <typename F>
    static void in_threads(F&& f) {
        std::vector<std::string> wrong(kThreads);
        std::latch start(kThreads);
        std::vector<std::thread> threads;
        for (int t = 0; t < kThreads; ++t) {
            threads.emplace_back([&, t] {
                start.arrive_and_wait();
                try {
                    wrong[static_cast<std::size_t>(t)] = f(t);
                } catch (const std::exception& error) {
                    wrong[static_cast<std::size_t>(t)] = error.what();
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        for (int t = 0; t < kThreads; ++t) EXPECT_EQ(wrong[static_cast<std::size_t>(t)], "") << "thread " << t;
    }

    /// y of one run, in arrays of its own.
    static std::vector<float> result_of(const gt::Plan& plan, const std::vector<float>& x,
                                        const std::vector<float>& weight, std::int32_t rows) {
        std::vector<float> y(static_cast<std::size_t>(rows * kK), -7.0F);
        HostWorkspace workspace(plan.workspace_bytes());
        plan.run(x.data(), weight.data(), y.data(), workspace.data(), workspace.bytes());
        return y;
    }
    static bool close(const std::vector<float>& a, const std::vector<float>& b) {
        bool all = a.size() == b.size();
        for (std::size_t i = 0; all && i < a.size(); ++i) all = std::abs(a[i] - b[i]) < 1e-4F;
        return all;
    }
};

TEST_F(LibraryThreads, PlansRunsAndReleasesOnASharedGraph) {
    write({row("spmm.cpu_edges{parts=8}", 2, 1), row("spmm.cpu_rows{tile=16,row_block=16}", 1, 1)});
    // What exists costs nothing, so that choosing looks at the formats while other threads build and release them.
    write_builds({{"coo", "coo", Direction::forward, 0, 0}, {"coo", "csr", Direction::forward, 900, 0}},
                 cpu_device().environment);
    gt::Context context = cpu();
    gt::Graph graph = coo_graph_in(context);
    const gt::Plan kept = context.plan(graph, weighted_spmm());
    const std::vector<float> expected = spmm_of(csr_, x_, weight_, kK);
    const std::string fingerprint_text = fingerprint(csr_.view()).text();

    in_threads([&](int t) -> std::string {
        for (int round = 0; round < kRounds; ++round) {
            // Both directions and both formats: what one thread builds another one takes, or has just released.
            const gt::Plan mine = context.plan(graph, weighted_spmm().expected_calls(t % 2 == 0 ? 1 : 1e6));
            const gt::Plan back = context.plan(graph, weighted_spmm().reversed());
            const gt::Plan attention = context.plan(graph, gt::gat_grad(4, 2));
            if ((round + t) % 3 == 0) graph.release_formats();
            for (const gt::Plan* plan : {&kept, &mine}) {
                if (!close(result_of(*plan, x_, weight_, csr_.n_rows), expected)) return plan->config() + " is wrong";
            }
            if (graph.fingerprint() != fingerprint_text) return "the fingerprint is wrong";
            if (mine.source() != "database" || !contains(mine.explain(), mine.config())) return mine.explain();
            if (back.explain().empty() || attention.explain().empty()) return "nothing is explained";
            if (!contains(context.describe(), "2 measurements")) return context.describe();
        }
        return "";
    });
}

TEST_F(LibraryThreads, GraphsOfTheirOwnComeAndGo) {
    gt::Context context = cpu();
    in_threads([&](int t) -> std::string {
        for (int round = 0; round < kRounds; ++round) {
            const std::int32_t n = 20 + 5 * t + round;
            const CsrGraph own = test::csr_of(n, n, test::random_edges(n, n, 6 * n, 2, static_cast<std::uint32_t>(n)));
            const HostVector<std::int32_t> rows = expand_rows(own.view());
            auto graph = std::make_unique<gt::Graph>(
                round % 2 == 0 ? context.csr(n, n, own.m(), own.row_ptr.data(), own.col_idx.data())
                               : context.coo(n, n, own.m(), rows.data(), own.col_idx.data()));
            const auto x = values(static_cast<std::size_t>(n * kK), 1);
            const auto weight = values(static_cast<std::size_t>(own.m()), 2);
            const gt::Plan plan = context.plan(*graph, weighted_spmm());
            graph->release_formats();
            graph.reset();  // the plan keeps what it needs of it
            if (!close(result_of(plan, x, weight, n), spmm_of(own, x, weight, kK))) return plan.config() + " is wrong";
        }
        return "";
    });
}

TEST_F(LibraryThreads, ErrorsStayInTheirThread) {
    gt::Context context = cpu();
    const gt::Graph graph = graph_in(context);
    in_threads([&](int t) -> std::string {
        for (int round = 0; round < kRounds; ++round) {
            gnntune_problem problem = gt::spmm(kK).raw();
            problem.op = 100 + t;
            gnntune_plan* plan = nullptr;
            if (gnntune_plan_create(context.get(), graph.get(), &problem, nullptr, &plan) != GNNTUNE_INVALID_ARGUMENT) {
                return "an operation that does not exist was planned";
            }
            const std::string words = gnntune_last_error();
            if (!contains(words, "problem.op is " + std::to_string(100 + t) + ";")) return words;
        }
        return "";
    });
}

TEST_F(LibraryThreads, ContextsAreOpenedAndClosedAtOnce) {
    write({row("spmm.cpu_edges{parts=8}", 1)});
    in_threads([&](int) -> std::string {
        for (int round = 0; round < kRounds / 2; ++round) {
            gt::Context context = cpu(true);
            const gt::Plan plan = context.plan(graph_in(context), weighted_spmm());
            if (plan.source() != "database") return plan.explain();
        }
        return "";
    });
}

}  // namespace
}  // namespace gnntune::library_threads_test

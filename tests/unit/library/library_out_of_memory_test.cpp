// Memory that runs out at any allocation of any function of the library: a status and a sentence come out, nothing is
// made, and the next call is as if nothing had been. Every allocation of C++ in this program passes through here.
#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>

#include "core/features/features.hpp"
#include "core/ops/oracles.hpp"
#include "tests/unit/library/library_ops_fixture.hpp"

namespace {

/// Which allocations fail: from `first` on one, or all.
struct Shortage {
    std::atomic<bool> armed = false;
    std::atomic<std::int64_t> seen = 0;
    std::atomic<std::int64_t> first = 0;
    std::atomic<bool> lasting = false;

    bool strikes() noexcept {
        if (!armed.load(std::memory_order_relaxed)) return false;
        const std::int64_t number = seen.fetch_add(1, std::memory_order_relaxed);
        return lasting ? number >= first : number == first;
    }
};
constinit Shortage shortage;

void* allocate(std::size_t bytes, std::size_t alignment) {
    if (shortage.strikes()) throw std::bad_alloc();
    const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    void* memory =
        alignment > alignof(std::max_align_t) ? std::aligned_alloc(alignment, rounded) : std::malloc(rounded);
    if (!memory) throw std::bad_alloc();
    return memory;
}

// Not inlined, or the compiler takes memory of malloc() for that of an operator that it knows.
#define GNNTUNE_TEST_OPERATOR __attribute__((noinline))

}  // namespace

GNNTUNE_TEST_OPERATOR void* operator new(std::size_t bytes) {
    return allocate(bytes, alignof(std::max_align_t));
}
GNNTUNE_TEST_OPERATOR void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocate(bytes, static_cast<std::size_t>(alignment));
}
GNNTUNE_TEST_OPERATOR void operator delete(void* memory) noexcept {
    std::free(memory);
}
GNNTUNE_TEST_OPERATOR void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
GNNTUNE_TEST_OPERATOR void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
GNNTUNE_TEST_OPERATOR void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}

namespace gnntune {
namespace {

class LibraryOutOfMemory : public LibraryOps {
protected:
    void SetUp() override {
        LibraryOps::SetUp();
        // Threads that take turns on a processor are not measured, and what is not measured is not stored.
        omp_set_num_threads(std::clamp(omp_get_num_procs(), 2, 3));
    }
    void TearDown() override {
        omp_set_num_threads(omp_get_num_procs());
        LibraryOps::TearDown();
    }

    /// Does `work` where the allocation of that number fails, or it and all that follow; whether it came to that.
    template <typename F>
    static bool short_of(std::int64_t number, bool lasting, F&& work) {
        shortage.seen = 0;
        shortage.first = number;
        shortage.lasting = lasting;
        shortage.armed = true;
        work();
        shortage.armed = false;
        return shortage.seen > number;
    }

    /// Calls `make(&handle)`, a function that makes one, with a shortage at each of its allocations, or at every
    /// `step`-th. `ready` prepares a call while there is memory.
    template <typename Handle>
    static void try_all(const std::string& what, void (*destroy)(Handle*),
                        const std::function<gnntune_status(Handle**)>& make, const std::function<void()>& ready = {},
                        std::int64_t step = 1) {
        for (const bool lasting : {false, true}) {
            bool struck = true;
            std::int64_t failed = 0;
            for (std::int64_t number = 0; struck; number += step) {
                SCOPED_TRACE(what + ", allocation " + std::to_string(number) + (lasting ? " and all after it" : ""));
                if (ready) ready();
                auto* handle = reinterpret_cast<Handle*>(std::uintptr_t{64});
                gnntune_status status = GNNTUNE_OK;
                struck = short_of(number, lasting, [&] { status = make(&handle); });
                if (status != GNNTUNE_OK) {
                    // What is read while there is no memory may look damaged, and says so.
                    ASSERT_TRUE(status == GNNTUNE_OUT_OF_MEMORY || status == GNNTUNE_DATABASE)
                        << gnntune_status_string(status) << ": " << gnntune_last_error();
                    ASSERT_STRNE(gnntune_last_error(), "");
                    ASSERT_EQ(handle, nullptr);
                    ++failed;
                    continue;
                }
                ASSERT_NE(handle, nullptr);
                // To let go takes no memory.
                ASSERT_FALSE(short_of(0, true, [&] { destroy(handle); }));
            }
            EXPECT_GT(failed, 0) << what;
        }
    }
    /// The same of a function that makes no handle.
    static void try_all(const std::string& what, const std::function<gnntune_status()>& call,
                        const std::function<void()>& ready = {}) {
        static int kMade = 0;
        try_all<int>(
            what, [](int*) {},
            [&](int** out) {
                const gnntune_status status = call();
                *out = status == GNNTUNE_OK ? &kMade : nullptr;
                return status;
            },
            ready);
    }
};

TEST_F(LibraryOutOfMemory, OpeningEndsInAStatus) {
    write({row("spmm.cpu_rows{tile=16,row_block=16}", 10), row("spmm.cpu_edges{parts=8}", 12)});
    std::filesystem::create_directory(folder_ / "shipped");
    std::filesystem::copy_file(file(), folder_ / "shipped" / "more.db");
    write_file("shipped/errata.txt", "variant=spmm.none reason=\"of a test\"\n");
    setenv("GNNTUNE_PROFILES", (folder_ / "shipped").c_str(), 1);
    gt::OpenOptions options;
    options.backend = GNNTUNE_BACKEND_CPU;
    const std::string path = file().string();
    try_all<gnntune_context>("gnntune_open", gnntune_close,
                             [&](gnntune_context** out) { return gnntune_open(path.c_str(), &options, out); });
    gt::Context context(path.c_str(), options);
    EXPECT_EQ(context.plan(graph_in(context), weighted_spmm()).config(), "spmm.cpu_rows{tile=16,row_block=16}");
    setenv("GNNTUNE_PROFILES", "", 1);
}

TEST_F(LibraryOutOfMemory, DescribingAGraphEndsInAStatus) {
    gt::Context context = cpu();
    const auto row_idx = expand_rows(csr_.view());
    const std::vector<std::int64_t> wide(row_idx.begin(), row_idx.end());
    const std::vector<std::int64_t> wide_cols(csr_.col_idx.begin(), csr_.col_idx.end());
    const gt::Csr csr = csr_description();
    try_all<gnntune_graph>("gnntune_graph_create_csr", gnntune_graph_destroy, [&](gnntune_graph** out) {
        return gnntune_graph_create_csr(context.get(), &csr, nullptr, out);
    });
    gt::Coo coo;
    coo.memory = GNNTUNE_HOST;
    coo.id_type = GNNTUNE_INT64;
    coo.n_rows = csr_.n_rows;
    coo.n_cols = csr_.n_cols;
    coo.m = csr_.m();
    coo.row_idx = wide.data();
    coo.col_idx = wide_cols.data();
    try_all<gnntune_graph>("gnntune_graph_create_coo", gnntune_graph_destroy, [&](gnntune_graph** out) {
        return gnntune_graph_create_coo(context.get(), &coo, nullptr, out);
    });
    std::unique_ptr<gt::Graph> graph;
    const auto ready = [&] { graph = std::make_unique<gt::Graph>(graph_in(context)); };
    char text[33];
    try_all(
        "gnntune_graph_fingerprint", [&] { return gnntune_graph_fingerprint(graph->get(), nullptr, text); }, ready);
}

TEST_F(LibraryOutOfMemory, PlanningEveryOperationEndsInAStatus) {
    gt::Context context = cpu();
    std::unique_ptr<gt::Graph> graph;
    const auto row_idx = expand_rows(square_.view());
    const auto ready = [&] {
        graph = std::make_unique<gt::Graph>(
            context.coo(square_.n_rows, square_.n_cols, square_.m(), row_idx.data(), square_.col_idx.data()));
    };
    for (const auto& [wanted, problem] : every_op()) {
        const gnntune_problem raw = wanted.raw();
        try_all<gnntune_plan>(
            "gnntune_plan_create of " + to_text(problem), gnntune_plan_destroy,
            [&](gnntune_plan** out) { return gnntune_plan_create(context.get(), graph->get(), &raw, nullptr, out); },
            ready);
    }
}

TEST_F(LibraryOutOfMemory, RunningTakesNone) {
    square_ = test::csr_of(40, 40, test::random_edges(40, 40, 20000, 2, 11));  // rows that are summed in pieces
    for (const std::string config : {"", "spmm.cpu_edges{parts=8}", "spmm.eigen",
                                     "spmm.cpu_sampled{sampling=fastrand,S=1024,prime=577,second_prime=0,rescale=0}"}) {
        if (!config.empty()) setenv("GNNTUNE_FORCE", config.c_str(), 1);
        gt::Context under = cpu();
        unsetenv("GNNTUNE_FORCE");
        const gt::Graph its =
            under.csr(square_.n_rows, square_.n_cols, square_.m(), square_.row_ptr.data(), square_.col_idx.data());
        for (const auto& [wanted, problem] : every_op()) {
            const bool plain = problem == problem_of(Op::spmm, 5);
            if (!config.empty() && !plain) continue;
            const gt::Plan plan = under.plan(its, wanted);
            Run run = prepare(problem);
            HostWorkspace workspace(plan.workspace_bytes());
            gnntune_status status = GNNTUNE_INTERNAL;
            const bool struck = short_of(0, true, [&] {
                status = gnntune_run(plan.get(), &run.operands, workspace.data(), workspace.bytes(), nullptr);
            });
            EXPECT_FALSE(struck) << plan.config() << ", " << to_text(problem);
            EXPECT_EQ(status, GNNTUNE_OK) << gnntune_last_error();
        }
    }
}

TEST_F(LibraryOutOfMemory, TextsAreEmptyOrWhole) {
    gt::Context context = cpu();
    const gt::Plan plan = context.plan(graph_in(context), weighted_spmm());
    const std::size_t described = gnntune_context_describe(context.get(), nullptr, 0);
    const std::size_t explained = gnntune_plan_explain(plan.get(), nullptr, 0);
    for (const bool lasting : {false, true}) {
        bool struck = true;
        for (std::int64_t number = 0; struck; ++number) {
            std::size_t text = 0;
            struck = short_of(number, lasting, [&] { text = gnntune_context_describe(context.get(), nullptr, 0); });
            EXPECT_TRUE(text == 0 || text == described || struck) << number;
        }
        struck = true;
        for (std::int64_t number = 0; struck; ++number) {
            std::size_t text = 0;
            struck = short_of(number, lasting, [&] { text = gnntune_plan_explain(plan.get(), nullptr, 0); });
            EXPECT_TRUE(text == 0 || text == explained || struck) << number;
        }
    }
}

TEST_F(LibraryOutOfMemory, RefusalsThatCannotBeSaidAreStillRefusals) {
    const gnntune_open_options wrong{};
    bool struck = true;
    for (std::int64_t number = 0; struck; ++number) {
        gnntune_context* context = nullptr;
        gnntune_status status = GNNTUNE_OK;
        struck = short_of(number, true, [&] { status = gnntune_open(nullptr, &wrong, &context); });
        EXPECT_TRUE(status == GNNTUNE_INVALID_ARGUMENT || status == GNNTUNE_OUT_OF_MEMORY);
        EXPECT_STRNE(gnntune_last_error(), "");
    }
    // By a thread that has never failed before, which has nothing to keep a sentence in.
    pthread_t thread{};
    struct Answer {
        const gnntune_open_options* wrong;
        gnntune_status status;
        const char* said;
    } answer{&wrong, GNNTUNE_OK, nullptr};
    shortage.seen = 0;
    shortage.first = 0;
    shortage.lasting = true;
    ASSERT_EQ(pthread_create(
                  &thread, nullptr,
                  [](void* data) -> void* {
                      auto& out = *static_cast<Answer*>(data);
                      gnntune_context* context = nullptr;
                      shortage.armed = true;
                      out.status = gnntune_open(nullptr, out.wrong, &context);
                      shortage.armed = false;
                      out.said = gnntune_last_error();
                      return nullptr;
                  },
                  &answer),
              0);
    pthread_join(thread, nullptr);
    EXPECT_EQ(answer.status, GNNTUNE_OUT_OF_MEMORY);
    EXPECT_STREQ(answer.said, "host memory ran out while an error was being reported");
}

// What is measured on a miss has threads, oracles and a database of its own. So many allocations that one in seven is tried.
TEST_F(LibraryOutOfMemory, MeasuringOnAMissEndsInAPlanOrAStatus) {
    square_ = test::csr_of(400, 400, test::random_edges(400, 400, 12000, 2, 3));
    gt::OpenOptions options;
    options.backend = GNNTUNE_BACKEND_CPU;
    options.sources = GNNTUNE_TUNE_ON_MISS;
    options.tune_budget_us = 20000;
    const gnntune_problem problem = gt::gat(2).raw();
    std::unique_ptr<gt::Context> context;
    std::unique_ptr<gt::Graph> graph;
    const auto ready = [&] {
        graph.reset();
        std::filesystem::remove(file("new.db"));
        context = std::make_unique<gt::Context>(file("new.db").c_str(), options);
        graph = std::make_unique<gt::Graph>(
            context->csr(square_.n_rows, square_.n_cols, square_.m(), square_.row_ptr.data(), square_.col_idx.data()));
    };
    try_all<gnntune_plan>(
        "gnntune_plan_create", gnntune_plan_destroy,
        [&](gnntune_plan** out) { return gnntune_plan_create(context->get(), graph->get(), &problem, nullptr, out); },
        ready, 7);
}

/// Whether `work` ends in std::bad_alloc, and in nothing else, at each of its allocations.
template <typename F>
void expect_thrown(const std::string& what, F&& work,
                   const std::function<bool(std::int64_t, const std::function<void()>&)>& run_short) {
    bool struck = true;
    int thrown = 0;
    for (std::int64_t number = 0; struck; ++number) {
        struck = run_short(number, [&] {
            try {
                work();
            } catch (const std::bad_alloc&) {
                ++thrown;
            }
        });
    }
    EXPECT_GT(thrown, 0) << what;
}

TEST_F(LibraryOutOfMemory, ThreadsOfFeaturesAndReferencesThrow) {
    const auto in_team = [](std::int64_t number, const std::function<void()>& work) {
        return short_of(number, number % 2 == 0, work);
    };
    const CsrGraph large = test::csr_of(300, 2000, test::random_edges(300, 2000, 12000, 2, 3));
    expect_thrown(
        "features", [&] { (void)count_features(large.view()); }, in_team);
    for (const auto& both : every_op()) {
        const Problem& problem = both.second;  // clang captures no part of a pair by its name
        const Run run = prepare(problem);
        expect_thrown(
            to_text(problem),
            [&] { (void)reference::oracles(problem, square_.view(), nullptr, run.inputs.operands()); }, in_team);
    }
}

// The unwinding of a cancelled thread must not meet the place where exceptions end, nor leave a lock behind.
TEST_F(LibraryOutOfMemory, ThreadsAreCancelledOutsideOfCalls) {
    write({row("spmm.cpu_rows{tile=16,row_block=16}", 10)});
    struct Shared {
        std::string path;
        std::atomic<bool> cancelled = false;
        std::atomic<int> status = -1;
        std::atomic<bool> went_on = false;
    } shared;
    shared.path = file().string();
    pthread_t thread{};
    ASSERT_EQ(pthread_create(
                  &thread, nullptr,
                  [](void* data) -> void* {
                      auto& s = *static_cast<Shared*>(data);
                      while (!s.cancelled) {
                      }
                      gt::OpenOptions options;
                      options.backend = GNNTUNE_BACKEND_CPU;
                      gnntune_context* context = nullptr;
                      s.status = gnntune_open(s.path.c_str(), &options, &context);
                      gnntune_close(context);
                      pthread_testcancel();
                      s.went_on = true;
                      return nullptr;
                  },
                  &shared),
              0);
    ASSERT_EQ(pthread_cancel(thread), 0);
    shared.cancelled = true;
    void* result = nullptr;
    ASSERT_EQ(pthread_join(thread, &result), 0);
    EXPECT_EQ(shared.status, GNNTUNE_OK);
    EXPECT_EQ(result, PTHREAD_CANCELED);
    EXPECT_FALSE(shared.went_on);
}

}  // namespace
}  // namespace gnntune

// Plans of what no database has where the sources are tune_on_miss: what is measured, what is left behind, and what
// happens where nothing can be.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <latch>
#include <regex>
#include <thread>

#include "tests/unit/common/child_process.hpp"
#include "tests/unit/library/library_fixture.hpp"

namespace gnntune {
namespace {

class LibraryTuneOnMiss : public LibraryTest {
protected:
    void TearDown() override {
        unsetenv("GNNTUNE_TUNE_BUDGET");
        LibraryTest::TearDown();
    }

    static gnntune_open_options options(std::int64_t budget_us = 5'000'000) {
        gt::OpenOptions options;
        options.backend = GNNTUNE_BACKEND_CPU;
        options.sources = GNNTUNE_TUNE_ON_MISS;
        options.tune_budget_us = budget_us;
        return options;
    }
    gt::Context tuning(std::int64_t budget_us = 5'000'000) const {
        return gt::Context(file().c_str(), options(budget_us));
    }
    std::vector<Measurement> rows() const {
        const store::Store store = store::Store::open(file(), store::Mode::read_only);
        const auto graph = store.find_graph_id(fingerprint(csr_.view()));
        const auto environment = store.find_environment_id(cpu_device().environment);
        const auto asked = store.find_problem_id(problem(kK));
        if (!graph || !environment || !asked) return {};
        return store.measurements({*graph, *environment, *asked});
    }
    std::size_t runs() const { return store::Store::open(file(), store::Mode::read_only).runs().size(); }
};

TEST_F(LibraryTuneOnMiss, MeasuresAndLeavesRowsToOthers) {
    std::string chosen;
    {
        gt::Context context = tuning();
        EXPECT_TRUE(contains(context.describe(), "sources    tune_on_miss, at most 5000 ms each"));
        const gt::Graph graph = graph_in(context);
        const gt::Plan plan = context.plan(graph, weighted_spmm());
        const std::string text = plan.explain();
        EXPECT_EQ(plan.source(), "tuned") << text;
        EXPECT_TRUE(std::regex_search(
            text, std::regex(R"(source     tuned by this process: \d+ of \d+ configs in \d+ ms, stored in )")))
            << text;
        EXPECT_TRUE(contains(text, "stored in " + file().string() + "\n")) << text;
        EXPECT_TRUE(contains(text, ", policy hot, clock host\n")) << text;
        EXPECT_TRUE(contains(text, "why        cheapest of")) << text;
        expect_right(plan);
        chosen = plan.config();
        // The same again, and under other demands: nothing is measured anew.
        EXPECT_EQ(context.plan(graph, weighted_spmm()).source(), "tuned");
        const gt::Plan other = context.plan(graph, weighted_spmm().expected_calls(2).deterministic());
        EXPECT_EQ(other.source(), "tuned");
        EXPECT_TRUE(contains(other.explain(), "tuned by this process")) << other.explain();
        expect_right(other);
        EXPECT_EQ(runs(), 1U);
    }
    // As `gnntune tune` leaves them.
    const auto stored = rows();
    ASSERT_GE(stored.size(), 2U);
    std::size_t ok = 0;
    for (const Measurement& m : stored) {
        EXPECT_TRUE(m.status == MeasurementStatus::ok || m.status == MeasurementStatus::abandoned) << m.reason;
        EXPECT_EQ(m.policy, Policy::hot);
        EXPECT_EQ(m.clock, Clock::host);
        if (m.status != MeasurementStatus::ok) continue;
        ++ok;
        EXPECT_GE(m.samples, 10);
        EXPECT_LE(m.ci_low_us, m.median_us);
        EXPECT_GE(m.ci_high_us, m.median_us);
        EXPECT_LE(m.worst_ratio, 1.0);
        EXPECT_FALSE(m.approximate);
    }
    EXPECT_GE(ok, 2U);
    {
        const store::Store store = store::Store::open(file(), store::Mode::read_only);
        EXPECT_EQ(store.check(), std::vector<std::string>{});
        ASSERT_EQ(store.choices().size(), 1U);
        EXPECT_EQ(store.choices().front().choice.config.text(), chosen);
        ASSERT_EQ(store.graphs().size(), 1U);
        EXPECT_EQ(store.graphs().front().record.name, fingerprint(csr_.view()).text().substr(0, 12));
        EXPECT_TRUE(contains(store.graphs().front().record.features_json, "\"degree_mean\":5.0"));
        EXPECT_TRUE(store.runs().front().ended_at.has_value());
    }
    // Whatever its sources are, a context that is opened now finds them.
    gt::Context plain = cpu(true);
    const gt::Plan found = plain.plan(graph_in(plain), weighted_spmm());
    EXPECT_EQ(found.source(), "database");
    EXPECT_EQ(found.config(), chosen);
    EXPECT_TRUE(contains(found.explain(), "exact: ")) << found.explain();
    gt::Context again = tuning();
    EXPECT_EQ(again.plan(coo_graph_in(again), weighted_spmm()).source(), "database");
    EXPECT_EQ(runs(), 1U);
}

TEST_F(LibraryTuneOnMiss, IsOffUnlessAskedFor) {
    {
        gt::Context context = cpu();
        EXPECT_EQ(context.plan(graph_in(context), weighted_spmm()).source(), "default");
    }
    EXPECT_FALSE(std::filesystem::exists(file()));
    setenv("GNNTUNE_SOURCES", "tune_on_miss", 1);
    setenv("GNNTUNE_TUNE_BUDGET", "1.5s", 1);
    {
        gt::Context context = cpu();
        EXPECT_TRUE(contains(context.describe(), "sources    tune_on_miss, at most 1500 ms each"));
        EXPECT_EQ(context.plan(graph_in(context), weighted_spmm()).source(), "tuned");
    }
    setenv("GNNTUNE_SOURCES", "tune", 1);
    EXPECT_TRUE(contains(failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { cpu(); }),
                         "expected db_only, db_then_model or tune_on_miss, not 'tune'"));
    unsetenv("GNNTUNE_SOURCES");
    for (const char* wrong : {"soon", "200", "-1ms", "0ms", "5min", "infs", "200 ms"}) {
        setenv("GNNTUNE_TUNE_BUDGET", wrong, 1);
        EXPECT_TRUE(contains(failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { cpu(); }),
                             "GNNTUNE_TUNE_BUDGET: expected a time such as 200ms or 2s"))
            << wrong;
    }
}

TEST_F(LibraryTuneOnMiss, RowsOfADatabaseComeFirst) {
    Measurement cold = row("spmm.cpu_rows{tile=16,row_block=16}", 1);
    cold.policy = Policy::cold;
    write({cold});
    gt::Context context = tuning();
    const gt::Graph graph = graph_in(context);
    const auto asked = [] { return weighted_spmm().policy(GNNTUNE_COLD); };
    EXPECT_EQ(context.plan(graph, asked()).source(), "database");
    // Another policy is another question, and measuring it leaves the first one's answer.
    EXPECT_EQ(context.plan(graph, weighted_spmm()).source(), "tuned");
    EXPECT_EQ(context.plan(graph, asked().expected_calls(3)).source(), "database");
    const gt::Plan refused = context.plan(graph, weighted_spmm().policy(GNNTUNE_GRAPH));
    EXPECT_EQ(refused.source(), "default");
    EXPECT_TRUE(contains(refused.explain(), "tuning     not tuned: the cpu backend has no CUDA graphs to measure"))
        << refused.explain();
}

TEST_F(LibraryTuneOnMiss, RowsThatDemandsRefuseAreNoMiss) {
    Measurement loose = row("spmm.cpu_rows{tile=16,row_block=16}", 1);
    loose.deterministic = false;
    write({loose});
    gt::Context context = tuning();
    const gt::Plan plan = context.plan(graph_in(context), weighted_spmm().deterministic());
    EXPECT_EQ(plan.source(), "default");
    EXPECT_FALSE(contains(plan.explain(), "\ntuning ")) << plan.explain();
    EXPECT_EQ(rows().size(), 1U);
}

TEST_F(LibraryTuneOnMiss, RowsOfOlderVersionsAreAMiss) {
    Measurement stale = row("spmm.cpu_rows{tile=16,row_block=16}", 1);
    stale.variant_version = 99;
    write({stale});
    gt::Context context = tuning();
    EXPECT_EQ(context.plan(graph_in(context), weighted_spmm()).source(), "tuned");
}

TEST_F(LibraryTuneOnMiss, EveryOperationIsMeasuredAndRight) {
    gt::Context context = tuning();
    const CsrGraph square = test::csr_of(40, 40, test::random_edges(40, 40, 200, 2, 7));
    const gt::Graph graph =
        context.csr(square.n_rows, square.n_cols, square.m(), square.row_ptr.data(), square.col_idx.data());
    for (const gt::Problem& asked :
         {gt::spmm(kK).reversed(), gt::sddmm(kK), gt::gat(4, 2), gt::gat_grad(4, 2), gt::spmm(kK).dtype(GNNTUNE_F16)}) {
        // Of an operation with one config nothing may be timed where other programs have the processors: the next plan
        // tries again.
        std::string source;
        std::string text;
        for (int tries = 0; tries < 20 && source != "tuned"; ++tries) {
            const gt::Plan plan = context.plan(graph, asked);
            source = plan.source();
            text = plan.explain();
            if (!contains(text, "other programs had the processor")) break;
        }
        EXPECT_EQ(source, "tuned") << text;
    }
    EXPECT_EQ(store::Store::open(file(), store::Mode::read_only).check(), std::vector<std::string>{});
}

TEST_F(LibraryTuneOnMiss, TheBudgetEndsIt) {
    const CsrGraph large = test::csr_of(20000, 20000, test::random_edges(20000, 20000, 200000, 2, 7));
    const auto explained = [&](std::int64_t budget_us) {
        for (const char* side : {"", "-wal", "-shm"}) std::filesystem::remove(file().string() + side);
        gt::Context context = tuning(budget_us);
        const gt::Graph graph =
            context.csr(large.n_rows, large.n_cols, large.m(), large.row_ptr.data(), large.col_idx.data());
        return context.plan(graph, gt::spmm(32)).explain();
    };
    const std::string hopeless = explained(1000);
    EXPECT_TRUE(contains(hopeless, "the graph is too large for the budget")) << hopeless;
    EXPECT_FALSE(std::filesystem::exists(file()));
    // The shortest budget that is taken has room for a check or two, of the ten configs that whoever ignores it measures. A
    // busy machine gets less far, and may have no time for those.
    std::smatch ms;
    ASSERT_TRUE(std::regex_search(hopeless, ms, std::regex("expected to take ([0-9]+) ms"))) << hopeless;
    const std::string short_one = explained(1000 * (std::stoi(ms[1]) + 1));
    std::smatch counts;
    ASSERT_TRUE(std::regex_search(short_one, counts, std::regex("([0-9]+) of ([0-9]+) configs( could not)?")))
        << short_one;
    EXPECT_LT(std::stoi(counts[counts[3].matched ? 2 : 1]), 8) << short_one;
}

TEST_F(LibraryTuneOnMiss, PlansAllTheSameWhereThereIsNoFolder) {
    gt::Context context(file("absent/user.db").c_str(), options());
    const gt::Graph graph = graph_in(context);
    const gt::Plan plan = context.plan(graph, weighted_spmm());
    EXPECT_EQ(plan.source(), "tuned");
    EXPECT_TRUE(contains(plan.explain(), "not stored: ")) << plan.explain();
    EXPECT_TRUE(contains(plan.explain(), "absent does not exist")) << plan.explain();
    expect_right(plan);
    EXPECT_EQ(context.plan(graph, weighted_spmm().expected_calls(2)).source(), "tuned");
}

TEST_F(LibraryTuneOnMiss, PlansAllTheSameWhereFilesMayNotGrow) {
    gt::Context context = tuning();
    const gt::Graph graph = graph_in(context);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small{8192, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const gt::Plan plan = context.plan(graph, weighted_spmm());
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_EQ(plan.source(), "tuned");
    EXPECT_TRUE(contains(plan.explain(), "not stored: " + file().string())) << plan.explain();
    expect_right(plan);
}

TEST_F(LibraryTuneOnMiss, StoresWhereItWasOpenedWhateverFolderTheApplicationGoesTo) {
    const std::filesystem::path here = std::filesystem::current_path();
    std::filesystem::current_path(file().parent_path());
    gt::Context context(file().filename().c_str(), options());
    std::filesystem::current_path(here);
    const gt::Plan plan = context.plan(graph_in(context), weighted_spmm());
    EXPECT_TRUE(contains(plan.explain(), "stored in " + file().string())) << plan.explain();
    EXPECT_FALSE(rows().empty());

    gt::Context nowhere("", options());
    EXPECT_TRUE(contains(nowhere.plan(graph_in(nowhere), weighted_spmm()).explain(), "not stored: "));
}

TEST_F(LibraryTuneOnMiss, PlansAllTheSameWhereTheFileIsReadOnly) {
    if (geteuid() == 0) GTEST_SKIP() << "root may write to every file";
    write({});
    ASSERT_EQ(chmod(file().c_str(), 0444), 0);
    gt::Context context = tuning();
    const gt::Plan plan = context.plan(graph_in(context), weighted_spmm());
    EXPECT_EQ(plan.source(), "tuned");
    EXPECT_TRUE(contains(plan.explain(), "not stored: " + file().string())) << plan.explain();
    EXPECT_TRUE(rows().empty());
}

TEST_F(LibraryTuneOnMiss, PlansAllTheSameWhereTheFileIsLocked) {
    write({});
    // Another process: where the library and this test have an SQLite each, two connections of one process do not see
    // each other's locks.
    int ready[2];
    int done[2];
    ASSERT_EQ(pipe(ready) + pipe(done), 0);
    const pid_t holder = test::in_child([&] {
        close(done[1]);
        store::Store other = open();
        const store::Transaction writing = other.transaction();
        char byte = 0;
        if (::write(ready[1], &byte, 1) != 1) throw std::runtime_error("pipe");
        while (::read(done[0], &byte, 1) > 0) {
        }
    });
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    {
        gt::Context context = tuning();
        const gt::Plan plan = context.plan(graph_in(context), weighted_spmm());
        EXPECT_EQ(plan.source(), "tuned");
        EXPECT_TRUE(contains(plan.explain(), "not stored: " + file().string())) << plan.explain();
        expect_right(plan);
    }
    close(done[1]);
    EXPECT_EQ(test::wait_for(holder), 0);
    for (const int end : {ready[0], ready[1], done[0]}) close(end);
    EXPECT_TRUE(rows().empty());
}

TEST_F(LibraryTuneOnMiss, AShippedDatabaseIsNotWritten) {
    write({});
    setenv("GNNTUNE_PROFILES", file().parent_path().c_str(), 1);
    gt::Context context = tuning();
    const gt::Plan plan = context.plan(graph_in(context), weighted_spmm());
    EXPECT_EQ(plan.source(), "tuned");
    EXPECT_TRUE(contains(plan.explain(), "came with the installation, and is not written to")) << plan.explain();
    EXPECT_TRUE(rows().empty());
}

TEST_F(LibraryTuneOnMiss, TheDefaultDatabaseIsMadeWithItsFolder) {
    setenv("XDG_DATA_HOME", file("home").c_str(), 1);
    {
        gt::Context context(nullptr, options());
        EXPECT_EQ(context.plan(graph_in(context), weighted_spmm()).source(), "tuned");
    }
    unsetenv("XDG_DATA_HOME");
    EXPECT_TRUE(std::filesystem::exists(file("home") / "gnntune" / "user.db"));
}

TEST_F(LibraryTuneOnMiss, AFileThatIsNoDatabaseIsLeftAsItIs) {
    const std::string content = "this is no database, and it shall stay what it is";
    write_file("test.db", content);
    gt::Context context = tuning();
    const gt::Plan plan = context.plan(graph_in(context), weighted_spmm());
    EXPECT_EQ(plan.source(), "tuned");
    EXPECT_TRUE(contains(plan.explain(), "not stored: " + file().string())) << plan.explain();
    std::string now;
    std::getline(std::ifstream(file()), now, '\0');
    EXPECT_EQ(now, content);
}

TEST_F(LibraryTuneOnMiss, ThreadsThatMissTheSameTuneOnce) {
    gt::Context context = tuning();
    const gt::Graph graph = graph_in(context);
    constexpr int kThreads = 4;
    std::vector<std::string> sources(kThreads);
    std::latch start(kThreads);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            start.arrive_and_wait();
            // Two problems, each of them twice.
            const gt::Plan plan = context.plan(graph, t % 2 == 0 ? weighted_spmm() : gt::sddmm(kK));
            sources[static_cast<std::size_t>(t)] = plan.source();
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(sources, std::vector<std::string>(kThreads, "tuned"));
    EXPECT_EQ(runs(), 2U);
}

TEST_F(LibraryTuneOnMiss, MemoryIsTheCallersAndIsGivenBack) {
    struct Counted {
        std::size_t held = 0;
        std::size_t most = 0;
        std::size_t limit = SIZE_MAX;
    } counted;
    gnntune_open_options given = options();
    given.allocator_user = &counted;
    given.alloc = [](std::size_t bytes, std::size_t alignment, void* user) -> void* {
        auto& c = *static_cast<Counted*>(user);
        if (c.held + bytes > c.limit) return nullptr;
        c.held += bytes;
        c.most = std::max(c.most, c.held);
        return std::aligned_alloc(std::max<std::size_t>(alignment, 16),
                                  (bytes + alignment - 1) / alignment * alignment);
    };
    given.free = [](void* memory, std::size_t bytes, void* user) {
        static_cast<Counted*>(user)->held -= bytes;
        std::free(memory);
    };
    gt::Context context(file().c_str(), given);
    const gt::Graph graph = graph_in(context);
    counted.limit = counted.held + 4096;  // not enough for the operands
    {
        const gt::Plan plan = context.plan(graph, weighted_spmm());
        EXPECT_EQ(plan.source(), "default") << plan.explain();
        EXPECT_TRUE(contains(plan.explain(), "tuning     not tuned: the allocator")) << plan.explain();
        expect_right(plan);
    }
    counted.limit = SIZE_MAX;
    {
        const gt::Plan plan = context.plan(graph, weighted_spmm());
        EXPECT_EQ(plan.source(), "tuned") << plan.explain();
        expect_right(plan);
        EXPECT_GT(counted.most, static_cast<std::size_t>(csr_.n_rows) * kK * sizeof(float));
        EXPECT_LE(counted.held, graph.format_bytes() + plan.own_bytes());
    }
}

TEST_F(LibraryTuneOnMiss, TransientAndEmptyGraphsAreNotMeasured) {
    gt::Context context = tuning();
    gt::Csr description;
    description.memory = GNNTUNE_HOST;
    description.n_rows = csr_.n_rows;
    description.n_cols = csr_.n_cols;
    description.m = csr_.m();
    description.row_ptr = csr_.row_ptr.data();
    description.col_idx = csr_.col_idx.data();
    description.transient = 1;
    gnntune_graph* transient = nullptr;
    ASSERT_EQ(gnntune_graph_create_csr(context.get(), &description, nullptr, &transient), GNNTUNE_OK);
    const gnntune_problem asked = weighted_spmm().raw();
    gnntune_plan* plan = nullptr;
    ASSERT_EQ(gnntune_plan_create(context.get(), transient, &asked, nullptr, &plan), GNNTUNE_OK);
    EXPECT_STREQ(gnntune_plan_source(plan), "default");
    gnntune_plan* again = nullptr;  // by the bucket's memo
    ASSERT_EQ(gnntune_plan_create(context.get(), transient, &asked, nullptr, &again), GNNTUNE_OK);
    for (gnntune_plan* made : {plan, again}) {
        const std::string text = gt::Plan(made).explain();
        EXPECT_TRUE(contains(text, "\ntuning     not tuned: transient graphs are not measured\n")) << text;
    }
    gnntune_graph_destroy(transient);
    const std::int32_t offsets[] = {0, 0, 0};
    const gt::Graph empty = context.csr(2, 5, 0, offsets, static_cast<const std::int32_t*>(nullptr));
    const gt::Plan none = context.plan(empty, weighted_spmm());
    EXPECT_EQ(none.source(), "default");
    EXPECT_TRUE(contains(none.explain(), "the graph has no edges")) << none.explain();
    EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(LibraryTuneOnMiss, ForcedConfigsAreNotMeasured) {
    setenv("GNNTUNE_FORCE", "spmm.cpu_edges{parts=8}", 1);
    gt::Context context = tuning();
    EXPECT_EQ(context.plan(graph_in(context), weighted_spmm()).source(), "forced");
    EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(LibraryTuneOnMiss, VerboseSaysHowLongItTook) {
    setenv("GNNTUNE_VERBOSE", "dispatch", 1);
    gt::Context context = tuning();
    const gt::Graph graph = graph_in(context);
    testing::internal::CaptureStderr();
    context.plan(graph, weighted_spmm());
    const std::string first = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(contains(first, ",source=tuned,config=spmm.")) << first;
    EXPECT_TRUE(std::regex_search(first, std::regex(R"(,tune_us=\d+\.\d,graph=)"))) << first;
    testing::internal::CaptureStderr();
    context.plan(graph, weighted_spmm());
    const std::string second = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(contains(second, ",source=tuned,")) << second;
    EXPECT_FALSE(contains(second, "tune_us=")) << second;
}

}  // namespace
}  // namespace gnntune

// Memory of graphs and plans: the application's allocator, its failures, the limit of formats, and what is reported.
#include <cstdlib>
#include <map>
#include <mutex>

#include "tests/unit/library/library_fixture.hpp"

namespace gnntune {
namespace {

/// An allocator that counts, fails at one call, and notices what it is given back wrong.
class Allocator {
public:
    static void* alloc(std::size_t bytes, std::size_t alignment, void* user) {
        auto& self = *static_cast<Allocator*>(user);
        const std::lock_guard lock(self.mutex_);
        if (++self.calls_ == self.fails_at_) return nullptr;
        void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignment, 0U);
        EXPECT_GT(bytes, 0U);
        self.held_[memory] = bytes;
        return static_cast<char*>(memory) + self.offset_;
    }
    static void free(void* memory, std::size_t bytes, void* user) {
        auto& self = *static_cast<Allocator*>(user);
        const std::lock_guard lock(self.mutex_);
        void* begin = static_cast<char*>(memory) - self.offset_;
        EXPECT_EQ(self.held_.count(begin), 1U) << "it never had that";
        EXPECT_EQ(self.held_[begin], bytes);
        self.held_.erase(begin);
        std::free(begin);
    }

    void fail_at(int call) { fails_at_ = calls_ + call; }
    void never_fail() { fails_at_ = 0; }
    void misalign() { offset_ = 1; }
    int calls() const { return calls_; }
    bool failed() const { return fails_at_ > 0 && calls_ >= fails_at_; }
    std::size_t held_bytes() const {
        std::size_t bytes = 0;
        for (const auto& [memory, size] : held_) bytes += size;
        return bytes;
    }

private:
    std::mutex mutex_;
    std::map<void*, std::size_t> held_;
    int calls_ = 0;
    int fails_at_ = 0;
    std::size_t offset_ = 0;
};

class LibraryMemory : public LibraryTest {
protected:
    gt::Context context_with(Allocator* allocator, std::uint64_t format_limit_bytes = GNNTUNE_NO_LIMIT) const {
        gt::OpenOptions options;
        options.backend = GNNTUNE_BACKEND_CPU;
        options.format_limit_bytes = format_limit_bytes;
        if (allocator) {
            options.alloc = &Allocator::alloc;
            options.free = &Allocator::free;
            options.allocator_user = allocator;
        }
        return gt::Context(file().c_str(), options);
    }
    /// A list of int64 ids: they are copied, and the default needs the CSR of it.
    gt::Graph wide_graph_in(gt::Context& context) {
        const HostVector<std::int32_t> rows = expand_rows(csr_.view());
        wide_rows_.assign(rows.begin(), rows.end());
        wide_cols_.assign(csr_.col_idx.begin(), csr_.col_idx.end());
        return context.coo(csr_.n_rows, csr_.n_cols, csr_.m(), wide_rows_.data(), wide_cols_.data());
    }

    std::vector<std::int64_t> wide_rows_;
    std::vector<std::int64_t> wide_cols_;
};

// A promise about the application's allocator: the cpu backend has no streams, and plans as ever.
TEST_F(LibraryMemory, TheOrderOfStreamsIsPromisedOfAnAllocator) {
    gt::OpenOptions options;
    options.backend = GNNTUNE_BACKEND_CPU;
    options.memory_in_stream_order = 1;
    try {
        const gt::Context context(file().c_str(), options);
        FAIL() << "it was taken without an allocator";
    } catch (const gt::Error& error) {
        EXPECT_EQ(error.status(), GNNTUNE_INVALID_ARGUMENT);
        EXPECT_TRUE(contains(error.what(), "options.memory_in_stream_order is a promise about alloc and free"));
    }
    Allocator allocator;
    options.alloc = &Allocator::alloc;
    options.free = &Allocator::free;
    options.allocator_user = &allocator;
    gt::Context context(file().c_str(), options);
    gt::Csr csr;
    csr.memory = GNNTUNE_HOST;
    csr.trusted = 1;
    csr.transient = 1;
    csr.n_rows = csr_.n_rows;
    csr.n_cols = csr_.n_cols;
    csr.m = csr_.m();
    csr.row_ptr = csr_.row_ptr.data();
    csr.col_idx = csr_.col_idx.data();
    const gt::Plan plan = context.plan(context.graph(csr), weighted_spmm());
    expect_right(plan);
    EXPECT_TRUE(contains(plan.explain(), ", longest row ")) << "it was looked for";
}

TEST_F(LibraryMemory, ComesFromTheApplicationAndGoesBack) {
    Allocator allocator;
    {
        gt::Context context = context_with(&allocator);
        {
            const gt::Graph graph = wide_graph_in(context);
            const auto copied = 2 * static_cast<std::size_t>(csr_.m()) * sizeof(std::int32_t);
            EXPECT_EQ(allocator.held_bytes(), copied) << "the ids, narrowed";
            EXPECT_EQ(graph.format_bytes(), 0U);
            const gt::Plan plan = context.plan(graph, weighted_spmm());
            const auto csr = (static_cast<std::size_t>(csr_.n_rows) + 1 + 2 * static_cast<std::size_t>(csr_.m())) *
                             sizeof(std::int32_t);
            EXPECT_EQ(graph.format_bytes(), csr);
            EXPECT_EQ(plan.format_bytes(), csr);
            EXPECT_EQ(allocator.held_bytes(), copied + csr + plan.own_bytes());
            EXPECT_GT(plan.prepare_us(), 0);
            EXPECT_TRUE(contains(context.describe(), "formats    " + std::to_string(csr) + " bytes held\n"));
            const int calls = allocator.calls();
            expect_right(plan);
            EXPECT_EQ(allocator.calls(), calls) << "a run allocates nothing";
        }
        EXPECT_EQ(allocator.held_bytes(), 0U);
    }
    EXPECT_EQ(gnntune_graph_format_bytes(nullptr), 0U);
    EXPECT_EQ(gnntune_plan_format_bytes(nullptr), 0U);
    EXPECT_EQ(gnntune_plan_own_bytes(nullptr), 0U);
    EXPECT_EQ(gnntune_plan_prepare_us(nullptr), 0);
}

TEST_F(LibraryMemory, EveryFailureOfTheAllocatorIsSurvived) {
    write({row("spmm.cpu_edges{parts=8}", 1, 100), row("spmm.cpu_rows{tile=16,row_block=16}", 2, 1)});
    Allocator allocator;
    int refused = 0;
    int n = 1;
    for (bool failed = true; failed; ++n) {
        ASSERT_LT(n, 100);
        gt::Context context = context_with(&allocator);
        allocator.fail_at(n);
        const auto attempt = [&] {
            const gt::Graph graph = wide_graph_in(context);
            (void)graph.fingerprint();
            for (const gt::Problem& problem : {weighted_spmm(), weighted_spmm().reversed(), gt::gat_grad(4, 2)}) {
                const gt::Plan plan = context.plan(graph, problem);
                if (!contains(plan.explain(), plan.config())) throw std::runtime_error("nothing is explained");
            }
            expect_right(context.plan(graph, weighted_spmm()));
        };
        try {
            attempt();
        } catch (const gt::Error& error) {
            EXPECT_EQ(error.status(), GNNTUNE_OUT_OF_MEMORY) << error.what();
            EXPECT_TRUE(contains(error.what(), "the allocator that gnntune_open was given has no ")) << error.what();
            ++refused;
        }
        failed = allocator.failed();
        EXPECT_EQ(allocator.held_bytes(), 0U) << "after the failure of call " << n;
        allocator.never_fail();
        attempt();  // and the same context does it all now
    }
    EXPECT_GT(refused, 0);
    EXPECT_GT(n, 5);
}

TEST_F(LibraryMemory, AConfigThatCannotBeHadGivesWayForOnce) {
    write({row("spmm.cpu_edges{parts=8}", 1), row("spmm.cpu_rows{tile=16,row_block=16}", 2)});
    Allocator allocator;
    gt::Context context = context_with(&allocator);
    const gt::Graph graph = coo_graph_in(context);
    (void)graph.fingerprint();

    allocator.fail_at(1);
    const gt::Plan next = context.plan(graph, weighted_spmm());
    EXPECT_EQ(next.config(), "spmm.cpu_rows{tile=16,row_block=16}");
    EXPECT_TRUE(contains(next.explain(), "unusable   spmm.cpu_edges{parts=8}: the allocator that gnntune_open"));
    EXPECT_EQ(context.plan(graph, weighted_spmm()).config(), "spmm.cpu_edges{parts=8}");
}

TEST_F(LibraryMemory, AnAllocatorIsHeldToItsWord) {
    gt::OpenOptions options;
    options.alloc = &Allocator::alloc;
    gnntune_context* context = nullptr;
    EXPECT_EQ(gnntune_open(file().c_str(), &options, &context), GNNTUNE_INVALID_ARGUMENT);
    EXPECT_TRUE(contains(gnntune_last_error(), "set both or neither"));

    Allocator allocator;
    allocator.misalign();
    gt::Context misaligned = context_with(&allocator);
    EXPECT_TRUE(contains(failure_of(GNNTUNE_RUNTIME, [&] { wide_graph_in(misaligned); }), "not aligned"));
    EXPECT_EQ(allocator.held_bytes(), 0U);
}

TEST_F(LibraryMemory, FormatsOverTheLimitGiveWay) {
    write({row("spmm.cpu_rows{tile=16,row_block=16}", 1)});
    gt::Context context = context_with(nullptr, 64);
    const gt::Graph graph = coo_graph_in(context);
    const std::string words = failure_of(GNNTUNE_OUT_OF_MEMORY, [&] { context.plan(graph, weighted_spmm()); });
    EXPECT_TRUE(contains(words, "the formats of this context's graphs may hold 64 bytes; 0 are held")) << words;
    EXPECT_TRUE(contains(words, " 0 are held and at least ")) << words;
    EXPECT_TRUE(contains(words, "perhaps others after it; raise the limit")) << words;
    EXPECT_EQ(words.find("release formats"), std::string::npos) << "nothing is held: " << words;
    EXPECT_EQ(graph.format_bytes(), 0U);

    // What needs nothing built is had all the same.
    const gt::Graph given = graph_in(context);
    EXPECT_EQ(context.plan(given, weighted_spmm()).config(), "spmm.cpu_rows{tile=16,row_block=16}");
    EXPECT_EQ(given.format_bytes(), 0U);

    // Room for the first array alone: more is said to be needed, and what may make room.
    gt::Context narrow = context_with(nullptr, 1000);
    const gt::Graph begun = coo_graph_in(narrow);
    const std::string more = failure_of(GNNTUNE_OUT_OF_MEMORY, [&] { narrow.plan(begun, weighted_spmm()); });
    EXPECT_TRUE(contains(more, " are held, what is being built among them, and at least ")) << more;
    EXPECT_TRUE(contains(more, "raise the limit, or release formats")) << more;

    gt::Context wide = context_with(nullptr, 1 << 20);
    const gt::Graph first = coo_graph_in(wide);
    const gt::Plan plan = wide.plan(first, weighted_spmm());
    EXPECT_GT(first.format_bytes(), 0U);
    EXPECT_TRUE(contains(wide.describe(), " bytes held, at most 1048576"));
}

TEST_F(LibraryMemory, ReleasedFormatsMakeRoom) {
    const auto csr = (static_cast<std::size_t>(csr_.n_rows) + 1 + 2 * static_cast<std::size_t>(csr_.m())) * 4;
    gt::Context context = context_with(nullptr, 1 << 20);
    gt::Graph graph = coo_graph_in(context);
    { const gt::Plan plan = context.plan(graph, weighted_spmm()); }
    EXPECT_EQ(graph.format_bytes(), csr);
    graph.release_formats();
    EXPECT_EQ(graph.format_bytes(), 0U);
    const gt::Plan kept = context.plan(graph, weighted_spmm());
    graph.release_formats();
    EXPECT_EQ(graph.format_bytes(), csr) << "the plan keeps what it uses";
    expect_right(kept);
}

}  // namespace
}  // namespace gnntune

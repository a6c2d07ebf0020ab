// libgnntune on the cuda backend; every case is skipped where no device is usable.
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <optional>

#include "core/gpu/device_buffer.hpp"
#include "core/gpu/stream.hpp"
#include "core/graph/convert.hpp"
#include "tests/unit/library/library_fixture.hpp"

namespace gnntune {
namespace {

namespace fs = std::filesystem;

class LibraryGpu : public LibraryTest {
protected:
    void SetUp() override {
        LibraryTest::SetUp();
        if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device is usable here";
        d_row_ptr_ = to_device(csr_.row_ptr.data(), csr_.row_ptr.size());
        d_col_idx_ = to_device(csr_.col_idx.data(), csr_.col_idx.size());
        d_x_ = to_device(x_.data(), x_.size());
        d_weight_ = to_device(weight_.data(), weight_.size());
        d_y_ = DeviceBuffer<float>(static_cast<std::size_t>(csr_.n_rows * kK));
    }

    gt::Context cuda() const {
        gt::OpenOptions options;
        options.backend = GNNTUNE_BACKEND_CUDA;
        return gt::Context(file().c_str(), options);
    }
    gt::Graph device_graph_in(gt::Context& context) const {
        return context.csr(csr_.n_rows, csr_.n_cols, csr_.m(), d_row_ptr_.data(), d_col_idx_.data(), GNNTUNE_DEVICE);
    }
    void enqueue(const gt::Plan& plan, DeviceBuffer<unsigned char>& workspace, cudaStream_t stream) {
        plan.run(d_x_.data(), d_weight_.data(), d_y_.data(), workspace.data(), workspace.size(), stream);
    }
    std::vector<float> result() const {
        const auto y = d_y_.to_host();
        return {y.begin(), y.end()};
    }
    void expect_right_on_device(const gt::Plan& plan) {
        DeviceBuffer<unsigned char> workspace(plan.workspace_bytes());
        const CudaStream stream;
        enqueue(plan, workspace, stream.get());
        stream.synchronize();
        expect_near(result(), spmm_of(csr_, x_, weight_, kK));
    }

    DeviceBuffer<std::int32_t> d_row_ptr_;
    DeviceBuffer<std::int32_t> d_col_idx_;
    DeviceBuffer<float> d_x_;
    DeviceBuffer<float> d_weight_;
    DeviceBuffer<float> d_y_;
};

TEST_F(LibraryGpu, AutoPicksCuda) {
    gt::Context context(file().string());
    EXPECT_EQ(context.backend(), GNNTUNE_BACKEND_CUDA) << context.describe();
}

// The paper's question: GAS takes COO as it is, GAR has to build CSR first.
TEST_F(LibraryGpu, ExpectedCallsDecideBetweenGasOnCooAndGarOnCsr) {
    const Environment here = cuda_device(0).environment;
    std::vector<Measurement> rows;
    // Of every version that there may be: rows of others than the current one do not count.
    for (std::int32_t version = 1; version < 10; ++version) {
        rows.push_back(row("spmm.gas{block_size=256}", 20, 60));
        rows.back().deterministic = false;
        rows.push_back(row("spmm.gar{block_size=128}", 10, 0));
        for (Measurement* m : {&rows.back(), &rows[rows.size() - 2]}) {
            m->clock = Clock::events;
            m->variant_version = version;
        }
    }
    write(rows, here);
    // From CSR the COO list has to be written out (60 us), from COO the CSR has to be sorted (900 us).
    write_builds({{"csr", "csr", Direction::forward, 0, 0},
                  {"csr", "coo", Direction::forward, 60, 0},
                  {"coo", "coo", Direction::forward, 0, 0},
                  {"coo", "csr", Direction::forward, 900, 0}},
                 here);
    gt::Context context = cuda();
    gt::Graph graph = coo_graph_in(context);

    const gt::Plan once = context.plan(graph, weighted_spmm().expected_calls(1));
    const gt::Plan often = context.plan(graph, weighted_spmm().expected_calls(200));

    EXPECT_EQ(once.config(), "spmm.gas{block_size=256}");
    EXPECT_EQ(often.config(), "spmm.gar{block_size=128}");
    expect_right_on_device(once);
    expect_right_on_device(often);
    // What exists is free from now on.
    EXPECT_EQ(context.plan(graph, weighted_spmm().expected_calls(1)).config(), "spmm.gar{block_size=128}");
}

// The default part of a composition follows from what is known of the graph: to a tuner more than to a dispatcher.
TEST_F(LibraryGpu, ACompositionRunsWithThePartThatItWasMeasuredWith) {
    constexpr std::int32_t kOddWidth = 3;
    constexpr std::int32_t kRowsVersion = 2;  // of spmm.rows
    const Config part = Config::parse("spmm.rows{lanes=1,split=1,vec=4,items=1,unroll=4,warps_per_block=8}");
    Measurement m = row("spmm.padded{spmm=default}", 5);
    m.clock = Clock::events;
    {
        store::Store store = open();
        const GraphRecord record{
            fingerprint(csr_.view()), csr_.n_rows, csr_.n_cols, csr_.m(), "test", "generated", "{}"};
        const store::Key key{store.graph_id(record), store.environment_id(cuda_device(0).environment),
                             store.problem_id(problem(kOddWidth))};
        const std::int64_t run = store.begin_run(run_info());
        m.parts = {{part, kRowsVersion}};
        // Of every version that there may be: rows of others than the current one do not count.
        for (m.variant_version = 1; m.variant_version < 10; ++m.variant_version) store.add_measurement(run, key, m);
        store.end_run(run);
    }
    gt::Context context = cuda();
    const gt::Graph graph = device_graph_in(context);
    const gt::Plan plan = context.plan(graph, gt::spmm(kOddWidth).weighted());
    EXPECT_EQ(plan.source(), "database") << plan.explain();
    EXPECT_EQ(plan.config(), "spmm.padded{spmm=" + part.text() + "}") << plan.explain();
    const std::vector<float> x(x_.begin(), x_.begin() + csr_.n_cols * kOddWidth);
    DeviceBuffer<unsigned char> workspace(plan.workspace_bytes());
    plan.run(d_x_.data(), d_weight_.data(), d_y_.data(), workspace.data(), workspace.size());
    GNNTUNE_CUDA(cudaDeviceSynchronize());
    std::vector<float> y = result();
    y.resize(static_cast<std::size_t>(csr_.n_rows) * kOddWidth);
    expect_near(y, spmm_of(csr_, x, weight_, kOddWidth));
}

TEST_F(LibraryGpu, BorrowedHostAndWideArraysAgree) {
    gt::Context context = cuda();
    const gt::Graph borrowed = device_graph_in(context);
    expect_right_on_device(context.plan(borrowed, weighted_spmm()));

    auto host = csr_;
    const gt::Graph copied = context.csr(40, 30, host.m(), host.row_ptr.data(), host.col_idx.data());
    host = {};
    expect_right_on_device(context.plan(copied, weighted_spmm()));

    const std::vector<std::int64_t> wide_ptr(csr_.row_ptr.begin(), csr_.row_ptr.end());
    const std::vector<std::int64_t> wide_idx(csr_.col_idx.begin(), csr_.col_idx.end());
    auto d_wide_ptr = to_device(wide_ptr.data(), wide_ptr.size());
    auto d_wide_idx = to_device(wide_idx.data(), wide_idx.size());
    const gt::Graph wide = context.csr(40, 30, csr_.m(), d_wide_ptr.data(), d_wide_idx.data(), GNNTUNE_DEVICE);
    d_wide_ptr = {};
    d_wide_idx = {};
    expect_right_on_device(context.plan(wide, weighted_spmm()));
    for (const gt::Graph* graph : {&borrowed, &copied, &wide}) {
        EXPECT_EQ(graph->fingerprint(), fingerprint(csr_.view()).text());
    }
}

// Rows of 200 edges: groups of lanes share them, and read ids four at a time where these stand at multiples of four.
TEST_F(LibraryGpu, BorrowedIdsMayStandAnywhere) {
    constexpr std::int32_t kCols = 3000;
    csr_ = test::csr_of(20, kCols, test::random_edges(20, kCols, 4000, 2, 7));
    x_ = values(static_cast<std::size_t>(kCols) * kK, 1);
    weight_ = values(static_cast<std::size_t>(csr_.m()), 2);
    d_x_ = to_device(x_.data(), x_.size());
    d_weight_ = to_device(weight_.data(), weight_.size());
    d_y_ = DeviceBuffer<float>(static_cast<std::size_t>(csr_.n_rows) * kK);
    for (std::ptrdiff_t place = 0; place < 4; ++place) {
        const auto at = [place](const auto& values) {
            std::vector<std::int32_t> out(static_cast<std::size_t>(place), -1);
            out.insert(out.end(), values.begin(), values.end());
            return to_device(out.data(), out.size());
        };
        const auto row_ptr = at(csr_.row_ptr);
        const auto col_idx = at(csr_.col_idx);
        for (const char* config : {"spmm.binned", "spmm.rows{lanes=2,split=8,vec=4,items=1,unroll=4,warps_per_block=4}",
                                   "spmm.row_runs", "spmm.edges"}) {
            setenv("GNNTUNE_FORCE", config, 1);
            gt::Context context = cuda();
            const gt::Graph graph = context.csr(csr_.n_rows, csr_.n_cols, csr_.m(), row_ptr.data() + place,
                                                col_idx.data() + place, GNNTUNE_DEVICE);
            expect_right_on_device(context.plan(graph, weighted_spmm()));
        }
    }
}

TEST_F(LibraryGpu, ACapturedRunReplaysWithChangedValues) {
    gt::Context context = cuda();
    const gt::Graph graph = device_graph_in(context);
    const CudaStream stream;
    const gt::Plan plan = context.plan(graph, weighted_spmm(), stream.get());
    DeviceBuffer<unsigned char> workspace(plan.workspace_bytes());
    cudaGraph_t captured = nullptr;
    cudaGraphExec_t executable = nullptr;
    GNNTUNE_CUDA(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal));
    enqueue(plan, workspace, stream.get());
    EXPECT_TRUE(
        contains(failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { context.plan(graph, weighted_spmm(), stream.get()); }),
                 "cannot be captured"));
    GNNTUNE_CUDA(cudaStreamEndCapture(stream.get(), &captured));
    GNNTUNE_CUDA(cudaGraphInstantiate(&executable, captured, 0));
    for (std::uint32_t seed = 10; seed < 13; ++seed) {
        x_ = values(x_.size(), seed);
        weight_ = values(weight_.size(), seed + 100);
        d_x_.copy_from_host(x_.data());
        d_weight_.copy_from_host(weight_.data());
        GNNTUNE_CUDA(cudaMemset(d_y_.data(), 0xff, d_y_.bytes()));
        GNNTUNE_CUDA(cudaDeviceSynchronize());
        GNNTUNE_CUDA(cudaGraphLaunch(executable, stream.get()));
        stream.synchronize();
        expect_near(result(), spmm_of(csr_, x_, weight_, kK));
    }
    GNNTUNE_CUDA(cudaGraphExecDestroy(executable));
    GNNTUNE_CUDA(cudaGraphDestroy(captured));
}

TEST_F(LibraryGpu, DeviceArraysAreCheckedInWords) {
    gt::Context context = cuda();
    auto bad = csr_;
    bad.col_idx[5] = 30;
    d_col_idx_.copy_from_host(bad.col_idx.data());
    EXPECT_TRUE(contains(failure_of(GNNTUNE_INVALID_GRAPH, [&] { device_graph_in(context); }),
                         "col_idx[5] is 30, expected 0 to 29"));
    d_col_idx_.copy_from_host(csr_.col_idx.data());
    bad.row_ptr[3] = 1000;
    d_row_ptr_.copy_from_host(bad.row_ptr.data());
    EXPECT_TRUE(contains(failure_of(GNNTUNE_INVALID_GRAPH, [&] { device_graph_in(context); }), "falls at row 3"));
    std::vector<std::int64_t> wide(csr_.col_idx.begin(), csr_.col_idx.end());
    wide[9] = std::int64_t{5} << 33;
    const auto d_wide = to_device(wide.data(), wide.size());
    EXPECT_TRUE(
        contains(failure_of(GNNTUNE_UNSUPPORTED,
                            [&] { context.csr(40, 30, csr_.m(), d_row_ptr_.data(), d_wide.data(), GNNTUNE_DEVICE); }),
                 "col_idx[9] is 42949672960"));
    EXPECT_TRUE(contains(
        failure_of(GNNTUNE_INVALID_ARGUMENT,
                   [&] { context.csr(40, 30, csr_.m(), csr_.row_ptr.data(), csr_.col_idx.data(), GNNTUNE_DEVICE); }),
        "row_ptr is no device memory"));
}

// A `gnntune tune` holds this lock.
TEST_F(LibraryGpu, AMissDoesNotMeasureBesideAnotherThatDoes) {
    const fs::path locks = file().parent_path() / "locks";
    fs::create_directory(locks);
    setenv("GNNTUNE_LOCK_DIR", locks.c_str(), 1);
    gt::OpenOptions options;
    options.backend = GNNTUNE_BACKEND_CUDA;
    options.sources = GNNTUNE_TUNE_ON_MISS;
    options.tune_budget_us = 1e6;
    gt::Context context(file().c_str(), options);
    const gt::Graph graph = device_graph_in(context);
    ASSERT_EQ(context.plan(graph, gt::sddmm(kK)).source(), "tuned");
    ASSERT_EQ(std::distance(fs::directory_iterator(locks), {}), 1);
    const int other = ::open(fs::directory_iterator(locks)->path().c_str(), O_RDWR);
    ASSERT_EQ(flock(other, LOCK_EX | LOCK_NB), 0) << "the lock was not given back";

    const gt::Plan meanwhile = context.plan(graph, weighted_spmm());
    EXPECT_NE(meanwhile.source(), "tuned");
    EXPECT_TRUE(contains(meanwhile.explain(), "in use for measuring by another process")) << meanwhile.explain();
    expect_right_on_device(meanwhile);

    ::close(other);
    EXPECT_EQ(context.plan(graph, weighted_spmm()).source(), "tuned");
    unsetenv("GNNTUNE_LOCK_DIR");
}

/// Memory of one stream, in its order.
struct StreamMemory {
    cudaStream_t stream;

    static void* alloc(std::size_t bytes, std::size_t, void* user) {
        void* memory = nullptr;
        return cudaMallocAsync(&memory, bytes, static_cast<StreamMemory*>(user)->stream) == cudaSuccess ? memory
                                                                                                        : nullptr;
    }
    static void free(void* memory, std::size_t, void* user) {
        GNNTUNE_CUDA_NOEXCEPT(cudaFreeAsync(memory, static_cast<StreamMemory*>(user)->stream));
    }
};

/// Holds a stream up until it is let go.
class HeldStream {
public:
    explicit HeldStream(cudaStream_t stream) : stream_(stream) {
        GNNTUNE_CUDA(cudaLaunchHostFunc(
            stream, [](void* held) { static_cast<std::atomic<bool>*>(held)->wait(true); }, &held_));
    }
    ~HeldStream() {
        let_go();
        GNNTUNE_CUDA_NOEXCEPT(cudaStreamSynchronize(stream_));  // the function reads held_
    }
    void let_go() {
        held_ = false;
        held_.notify_all();
    }

private:
    cudaStream_t stream_;
    std::atomic<bool> held_ = true;
};

// If anything waited for the stream, this test would never end.
TEST_F(LibraryGpu, ATransientGraphIsPlannedBehindAStreamThatIsHeldUp) {
    const CudaStream stream;
    StreamMemory memory{stream.get()};
    gt::OpenOptions options;
    options.backend = GNNTUNE_BACKEND_CUDA;
    options.alloc = &StreamMemory::alloc;
    options.free = &StreamMemory::free;
    options.allocator_user = &memory;
    options.memory_in_stream_order = 1;
    gt::Context context(file().c_str(), options);
    const HostVector<std::int32_t> rows = expand_rows(csr_.view());
    const DeviceBuffer<std::int32_t> d_rows = to_device(rows.data(), rows.size());
    // Kernels are loaded at their first launch, which waits for the device.
    for (const bool held : {false, true}) {
        for (const bool as_list : {false, true}) {
            for (const bool reversed : {false, true}) {
                std::optional<HeldStream> hold;
                if (held) hold.emplace(stream.get());
                gt::Csr csr;
                gt::Coo coo;
                const auto describe = [&](auto& d) {
                    d.memory = GNNTUNE_DEVICE;
                    d.trusted = d.transient = 1;
                    d.n_rows = csr_.n_rows;
                    d.n_cols = csr_.n_cols;
                    d.m = csr_.m();
                    d.col_idx = d_col_idx_.data();
                };
                describe(csr);
                describe(coo);
                csr.row_ptr = d_row_ptr_.data();
                coo.row_idx = d_rows.data();
                const gt::Graph graph = as_list ? context.graph(coo, stream.get()) : context.graph(csr, stream.get());
                const gt::Plan plan =
                    context.plan(graph, weighted_spmm().reversed(reversed).expected_calls(1), stream.get());
                EXPECT_TRUE(contains(plan.explain(), "planned without waiting")) << plan.explain();
                if (reversed) continue;
                DeviceBuffer<unsigned char> workspace(plan.workspace_bytes());
                enqueue(plan, workspace, stream.get());
                if (hold) hold->let_go();
                stream.synchronize();
                expect_near(result(), spmm_of(csr_, x_, weight_, kK));
                expect_right_on_device(plan);  // on a stream of its own
            }
        }
    }
}

TEST_F(LibraryGpu, TheCallersDeviceStaysCurrent) {
    if (cuda_device_count() < 2) GTEST_SKIP() << "needs two devices";
    gt::Context context = cuda();
    const gt::Graph graph = device_graph_in(context);
    const gt::Plan plan = context.plan(graph, weighted_spmm());
    DeviceBuffer<unsigned char> workspace(plan.workspace_bytes());
    const CudaStream stream;
    GNNTUNE_CUDA(cudaSetDevice(1));
    enqueue(plan, workspace, stream.get());
    int current = -1;
    GNNTUNE_CUDA(cudaGetDevice(&current));
    EXPECT_EQ(current, 1);
    GNNTUNE_CUDA(cudaSetDevice(0));
    stream.synchronize();
    expect_near(result(), spmm_of(csr_, x_, weight_, kK));
}

TEST_F(LibraryGpu, TheDeviceIsTheCurrentOneUnlessOneIsNamed) {
    const auto opened = [](const gnntune_open_options* options) {
        gnntune_context* context = nullptr;
        gt::check(gnntune_open("none.db", options, &context));
        const std::int32_t device = gnntune_context_device(context);
        gnntune_close(context);
        return device;
    };
    gt::OpenOptions named;
    named.backend = GNNTUNE_BACKEND_CUDA;
    named.device = 0;
    EXPECT_EQ(opened(nullptr), 0);
    EXPECT_EQ(opened(&named), 0);
    if (cuda_device_count() < 2) GTEST_SKIP() << "the rest needs two devices";
    GNNTUNE_CUDA(cudaSetDevice(1));
    EXPECT_EQ(opened(nullptr), 1);
    EXPECT_EQ(opened(&named), 0);
    const gt::Context context;
    EXPECT_EQ(context.device(), 1);
    GNNTUNE_CUDA(cudaSetDevice(0));
}

}  // namespace
}  // namespace gnntune

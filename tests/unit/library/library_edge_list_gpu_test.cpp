// gnntune_edge_list on the GPU: what it writes, what it says to whom, and captures. Skipped where no device is usable.
#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <optional>
#include <thread>

#include "core/gpu/stream.hpp"
#include "core/registry/device.hpp"
#include "tests/unit/kernels/edge_list_cases.hpp"
#include "tests/unit/kernels/shifted_array.hpp"
#include "tests/unit/library/library_fixture.hpp"

namespace gnntune::library_edge_list_gpu_test {
namespace {

using kernels::EdgeListCase;
using kernels::for_every_edge_list;
using kernels::ShiftedArray;

class LibraryEdgeListGpu : public LibraryTest {
protected:
    void SetUp() override {
        LibraryTest::SetUp();
        if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device is usable here";
        gt::OpenOptions options;
        options.backend = GNNTUNE_BACKEND_CUDA;
        context_.emplace(file().c_str(), options);
    }

    std::optional<gt::Context> context_;
};

template <typename Id>
void expect_list_right(gt::Context& context, const EdgeListCase<Id>& in, std::size_t off) {
    std::vector<std::int32_t> edges(in.edges().size(), -1);
    const CudaStream stream;
    ShiftedArray<Id> sources(in.sources, off), targets(in.targets, off);
    ShiftedArray<std::int32_t> out(edges, off);
    const bool seen =
        context.edge_list(std::ssize(in.sources), sources.data(), targets.data(), in.loops, out.data(), stream.get());
    out.copy_to(edges);
    EXPECT_EQ(edges, in.edges());
    EXPECT_EQ(seen, in.has_loop);
}

TEST_F(LibraryEdgeListGpu, NarrowsPutsLoopsBehindAndSeesThem) {
    gt::Context& context = *context_;
    for (const std::size_t off : {0, 1}) {
        for_every_edge_list<std::int32_t>([&](const auto& in) { expect_list_right(context, in, off); });
        for_every_edge_list<std::int64_t>([&](const auto& in) { expect_list_right(context, in, off); });
    }
}

TEST_F(LibraryEdgeListGpu, EachThreadGetsItsOwnAnswer) {
    gt::Context& context = *context_;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            EdgeListCase<std::int64_t> list;
            list.has_loop = t % 2 == 0;
            list.sources.assign(5000, 7);
            list.targets.assign(5000, 8);
            if (list.has_loop) list.targets[4321] = 7;
            for (int i = 0; i < 50; ++i) expect_list_right(context, list, 0);
        });
    }
    for (std::thread& thread : threads) thread.join();
}

TEST_F(LibraryEdgeListGpu, IsRefusedInACaptureWhereItWouldWait) {
    gt::Context& context = *context_;
    const CudaStream stream;
    const std::vector<std::int32_t> ids{1, 2};
    ShiftedArray<std::int32_t> sources(ids, 0), targets(ids, 0), edges({0, 0, 0, 0}, 0);
    std::int32_t has_loops = 5;
    const auto list = [&](std::int32_t* asked) {
        return gnntune_edge_list(context.get(), 2, GNNTUNE_INT32, sources.data(), targets.data(), 0, edges.data(),
                                 asked, stream.get());
    };
    GNNTUNE_CUDA(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal));
    EXPECT_EQ(list(&has_loops), GNNTUNE_INVALID_ARGUMENT);
    EXPECT_EQ(has_loops, 5);
    EXPECT_EQ(list(nullptr), GNNTUNE_OK);
    cudaGraph_t graph = nullptr;
    GNNTUNE_CUDA(cudaStreamEndCapture(stream.get(), &graph));
    cudaGraphExec_t exec = nullptr;
    GNNTUNE_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    GNNTUNE_CUDA(cudaGraphLaunch(exec, stream.get()));
    GNNTUNE_CUDA(cudaStreamSynchronize(stream.get()));
    std::vector<std::int32_t> out(4);
    edges.copy_to(out);
    EXPECT_EQ(out, (std::vector<std::int32_t>{1, 2, 1, 2}));
    GNNTUNE_CUDA(cudaGraphExecDestroy(exec));
    GNNTUNE_CUDA(cudaGraphDestroy(graph));
}

}  // namespace
}  // namespace gnntune::library_edge_list_gpu_test

// Features and fingerprint counted on the GPU equal the host's, bit for bit. Skipped where there is no GPU.
#include "core/features/features_gpu.hpp"

#include <gtest/gtest.h>

#include "core/common/error.hpp"
#include "core/gpu/device_buffer.hpp"
#include "core/gpu/stream.hpp"
#include "core/graph/fingerprint_gpu.hpp"
#include "core/registry/device.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune {
namespace {

/// A graph's arrays in device memory, as CSR and as COO.
struct DeviceGraph {
    explicit DeviceGraph(const CsrGraph& graph)
        : host(graph),
          row_ptr(to_device(graph.row_ptr.data(), graph.row_ptr.size())),
          col_idx(to_device(graph.col_idx.data(), graph.col_idx.size())) {
        const auto rows = expand_rows(graph.view());
        row_idx = to_device(rows.data(), rows.size());
    }
    CsrView csr() const {
        return {host.n_rows, host.n_cols, host.m(), row_ptr.data(), col_idx.data(), nullptr, MemorySpace::device};
    }
    CooView coo() const {
        return {host.n_rows, host.n_cols, host.m(), row_idx.data(), col_idx.data(), nullptr, MemorySpace::device};
    }

    const CsrGraph& host;
    DeviceBuffer<std::int32_t> row_ptr;
    DeviceBuffer<std::int32_t> col_idx;
    DeviceBuffer<std::int32_t> row_idx;
};

void expect_equal_on_both(const std::string& name, const CsrGraph& graph) {
    const CudaStream stream;
    const DeviceGraph device(graph);
    EXPECT_EQ(count_features_gpu(device.csr(), stream.get()), count_features(graph.view())) << name;
    EXPECT_EQ(fingerprint_gpu(device.csr(), stream.get()), fingerprint(graph.view())) << name << ", CSR";
    EXPECT_EQ(fingerprint_gpu(device.coo(), stream.get()), fingerprint(graph.view())) << name << ", COO";
}

TEST(FeaturesGpu, EqualsTheHostOnAwkwardGraphs) {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
    for (const auto& [name, graph] : test::awkward_graphs()) expect_equal_on_both(name, graph);
}

TEST(FeaturesGpu, EqualsTheHostWhereWarpsShareRowsAndCrossManyRows) {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
    // Large enough for several steps per warp; the last rows are empty, and m is no multiple of 32.
    expect_equal_on_both("skewed", test::csr_of(200003, 50021, test::random_edges(150001, 50021, 1500007, 6, 11)));
    expect_equal_on_both("even", test::csr_of(400009, 400009, test::random_edges(400009, 400009, 1000003, 1, 12)));
    expect_equal_on_both("long rows", test::csr_of(33, 20011, test::random_edges(33, 20011, 700001, 2, 13)));
}

TEST(FeaturesGpu, RefusesHostMemory) {
    const CsrGraph graph = test::csr_of(2, 2, {{0, 1}});
    EXPECT_THROW(count_features_gpu(graph.view(), nullptr), Error);
    EXPECT_THROW(fingerprint_gpu(graph.view(), nullptr), Error);
}

}  // namespace
}  // namespace gnntune

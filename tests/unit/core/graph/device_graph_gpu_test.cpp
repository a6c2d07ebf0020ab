// Device copies of graphs hold what the host graph holds.
#include <gtest/gtest.h>

#include "core/graph/convert.hpp"
#include "core/graph/device_graph.hpp"
#include "core/registry/device.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune {
namespace {

template <typename T>
std::vector<T> download(const T* device, std::size_t n) {
    std::vector<T> host(n);
    if (n > 0) GNNTUNE_CUDA(cudaMemcpy(host.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

template <typename T>
std::vector<T> plain(const HostVector<T>& v) {
    return {v.begin(), v.end()};
}

TEST(DeviceGraphGpu, HoldsTheArraysOfItsHostGraph) {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
    CsrGraph host = test::csr_of(40, 30, test::random_edges(40, 30, 200, 2, 7));
    for (std::int64_t e = 0; e < host.m(); ++e) host.edge_weight.push_back(static_cast<float>(e) - 3.5F);
    const CscGraph transposed = csr_to_csc(host.view());
    const auto m = static_cast<std::size_t>(host.m());

    const DeviceCsr csr(host.view());
    const DeviceCsc csc(transposed.view());

    EXPECT_EQ(csr.view().space, MemorySpace::device);
    EXPECT_EQ(csr.view().m, host.m());
    EXPECT_EQ(download(csr.view().row_ptr, 41), plain(host.row_ptr));
    EXPECT_EQ(download(csr.view().col_idx, m), plain(host.col_idx));
    EXPECT_EQ(download(csr.view().edge_weight, m), plain(host.edge_weight));
    EXPECT_EQ(download(csc.view().col_ptr, 31), plain(transposed.col_ptr));
    EXPECT_EQ(download(csc.view().row_idx, m), plain(transposed.row_idx));
    EXPECT_EQ(download(csc.view().edge_weight, m), plain(transposed.edge_weight));
}

TEST(DeviceGraphGpu, OfAnUnweightedListHasNoWeights) {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
    test::CooGraph host;
    host.n_rows = host.n_cols = 3;
    host.row_idx = {2, 0};
    host.col_idx = {1, 2};

    const DeviceCoo coo(host.view());

    EXPECT_EQ(coo.view().edge_weight, nullptr);
    EXPECT_EQ(download(coo.view().row_idx, 2), plain(host.row_idx));
    EXPECT_EQ(download(coo.view().col_idx, 2), plain(host.col_idx));
}

}  // namespace
}  // namespace gnntune

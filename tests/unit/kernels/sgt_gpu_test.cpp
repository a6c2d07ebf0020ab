// Sparse graph translation on the GPU against the CPU's, array by array. Skipped where there is no GPU.

#include "core/gpu/device_buffer.hpp"
#include "core/gpu/stream.hpp"
#include "core/registry/device.hpp"
#include "tests/unit/kernels/sgt_reference.hpp"

namespace gnntune {
namespace {

HostVector<std::int32_t> filled(std::size_t n) {
    return test::sized<std::int32_t>(n, -7);
}

/// The CPU's translation, whose correctness the test of the CPU settles.
test::Translation on_cpu(const CsrFormat& csr, const formats::SgtShape& shape) {
    const auto m = static_cast<std::size_t>(csr.m);
    HostVector<unsigned char> scratch(formats::sgt_scratch_bytes_cpu(csr.m));
    auto window_ptr = filled(static_cast<std::size_t>(formats::sgt_windows(csr.n_rows, shape)) + 1);
    formats::sgt_count_cpu(csr, shape, window_ptr.data(), scratch.data());
    const auto blocks = static_cast<std::size_t>(window_ptr.back());
    auto block_ptr = filled(blocks + 1);
    auto block_cols = filled(blocks * static_cast<std::size_t>(shape.block_width));
    HostVector<unsigned char> position(m * shape.position_bytes());
    auto edge_id = filled(m);
    formats::sgt_fill_cpu(csr, shape,
                          {window_ptr.data(), block_ptr.data(), block_cols.data(), position.data(), edge_id.data()},
                          scratch.data());
    return test::collect(shape, csr.m, window_ptr, block_ptr, block_cols, position, edge_id);
}

test::Translation on_gpu(const CsrGraph& graph, const HostVector<std::int32_t>& ids, const formats::SgtShape& shape) {
    const CudaStream stream;
    const auto m = static_cast<std::size_t>(graph.m());
    const auto row_ptr = to_device(graph.row_ptr.data(), graph.row_ptr.size());
    const auto col_idx = to_device(graph.col_idx.data(), graph.col_idx.size());
    const auto edge_order = to_device(ids.data(), ids.size());
    const CsrFormat csr{graph.n_rows,   graph.n_cols,      graph.m(), row_ptr.data(),
                        col_idx.data(), edge_order.data(), nullptr};
    const auto blocks = static_cast<std::size_t>(formats::sgt_max_blocks(csr.n_rows, csr.m, shape));
    const formats::SgtScratch places = formats::sgt_scratch_cuda(csr.n_rows, csr.n_cols, csr.m, shape);
    DeviceBuffer<unsigned char> scratch(places.total);
    DeviceBuffer<std::int32_t> window_ptr(static_cast<std::size_t>(formats::sgt_windows(csr.n_rows, shape)) + 1);
    DeviceBuffer<std::int32_t> block_ptr(blocks + 1);
    DeviceBuffer<std::int32_t> block_cols(blocks * static_cast<std::size_t>(shape.block_width));
    DeviceBuffer<unsigned char> position(m * shape.position_bytes());
    DeviceBuffer<std::int32_t> edge_id(m);
    const auto sorted = formats::sgt_count_cuda(csr, shape, window_ptr.data(), places, scratch.data(), stream.get());
    formats::sgt_fill_cuda(csr, shape,
                           {window_ptr.data(), block_ptr.data(), block_cols.data(), position.data(), edge_id.data()},
                           sorted, stream.get());
    stream.synchronize();
    return test::collect(shape, csr.m, window_ptr.to_host(), block_ptr.to_host(), block_cols.to_host(),
                         position.to_host(), edge_id.to_host());
}

TEST(SgtGpu, EqualsTheCpuForEveryGraphAndShape) {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
    auto graphs = test::awkward_graphs();
    graphs.push_back({"skewed, large", test::csr_of(200003, 50021, test::random_edges(150001, 50021, 1500007, 6, 11))});
    graphs.push_back(
        {"keys beyond 64 bits", test::csr_of(1 << 24, 1 << 24, test::random_edges(1 << 24, 9 << 20, 70001, 1, 17))});
    graphs.push_back({"long rows", test::csr_of(33, 20011, test::random_edges(33, 20011, 700001, 2, 13))});
    for (const auto& [name, graph] : graphs) {
        const auto ids = test::reversed_order(graph.m());
        for (const formats::SgtShape& shape : test::translation_shapes()) {
            const auto expected = on_cpu(test::format_of(graph, ids.data()), shape);
            EXPECT_TRUE(on_gpu(graph, ids, shape) == expected)
                << name << ", " << shape.block_height << " x " << shape.block_width;
        }
    }
}

}  // namespace
}  // namespace gnntune

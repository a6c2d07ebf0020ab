// From CSR, its rows written out for the time of the build. Edge e of row i moves to e + i, the loop of row i stands before
// the first edge of row i + 1.
#include "core/common/error.hpp"
#include "core/gpu/device_buffer.hpp"
#include "core/registry/graph.hpp"
#include "kernels/common/host.hpp"
#include "kernels/formats/csr/convert.hpp"
#include "kernels/formats/with_loops/with_loops.hpp"

namespace gnntune {
namespace formats {
namespace {

constexpr int kLoopThreads = 256;

struct LoopedArrays {
    std::int32_t* row_ptr;
    std::int32_t* row_idx;
    std::int32_t* col_idx;
    std::int32_t* source;

    __device__ void put(std::int64_t at, std::int32_t row, std::int32_t col, std::int32_t from) const {
        row_idx[at] = row;
        col_idx[at] = col;
        source[at] = from;
    }
};

// Thread -> an edge.
__global__ void place_edges(const std::int32_t* __restrict__ row_idx, const std::int32_t* __restrict__ col_idx,
                            const std::int32_t* __restrict__ edge_id, std::int64_t m, LoopedArrays to) {
    const std::int64_t e = std::int64_t{blockIdx.x} * kLoopThreads + threadIdx.x;
    if (e >= m) return;
    const std::int32_t row = row_idx[e];
    to.put(e + row, row, col_idx[e], edge_id ? edge_id[e] : static_cast<std::int32_t>(e));
}

// Thread -> a row's offset and its self loop; one more for the last offset.
__global__ void place_loops(const std::int32_t* __restrict__ row_ptr, std::int32_t n_rows, LoopedArrays to) {
    const std::int64_t i = std::int64_t{blockIdx.x} * kLoopThreads + threadIdx.x;
    if (i > n_rows) return;
    const auto row = static_cast<std::int32_t>(i);
    to.row_ptr[i] = row_ptr[i] + row;
    if (i < n_rows) to.put(std::int64_t{row_ptr[i + 1]} + i, row, row, -1 - row);
}

struct LoopedStorage {
    DeviceBuffer<std::int32_t> row_ptr;
    DeviceBuffer<std::int32_t> row_idx;
    DeviceBuffer<std::int32_t> col_idx;
    DeviceBuffer<std::int32_t> source;
};

std::shared_ptr<const void> build_with_loops(Graph& graph, Direction direction, StreamHandle handle,
                                             std::size_t* bytes) {
    auto* stream = static_cast<cudaStream_t>(handle);
    const auto csr = graph.format_as<CsrFormat>(kFormatCsr, direction, handle);
    if (csr->n_rows != csr->n_cols) throw unsupported("self loops need a square graph");
    const std::int64_t m = csr->m + csr->n_rows;
    if (m > kMaxEdges) throw unsupported("the graph with its self loops would have more than 2^31-1 edges");
    auto storage = std::make_shared<LoopedStorage>();
    storage->row_ptr = DeviceBuffer<std::int32_t>(static_cast<std::size_t>(csr->n_rows) + 1);
    storage->row_idx = DeviceBuffer<std::int32_t>(static_cast<std::size_t>(m));
    storage->col_idx = DeviceBuffer<std::int32_t>(static_cast<std::size_t>(m));
    storage->source = DeviceBuffer<std::int32_t>(static_cast<std::size_t>(m));
    const LoopedArrays to{storage->row_ptr.data(), storage->row_idx.data(), storage->col_idx.data(),
                          storage->source.data()};
    DeviceBuffer<std::int32_t> rows(static_cast<std::size_t>(csr->m));
    if (csr->m > 0) {
        expand_rows(*csr, rows.data(), handle);
        place_edges<<<kernels::blocks_for(csr->m, kLoopThreads), kLoopThreads, 0, stream>>>(rows.data(), csr->col_idx,
                                                                                            csr->edge_id, csr->m, to);
        GNNTUNE_CUDA(cudaGetLastError());
    }
    place_loops<<<kernels::blocks_for(std::int64_t{csr->n_rows} + 1, kLoopThreads), kLoopThreads, 0, stream>>>(
        csr->row_ptr, csr->n_rows, to);
    GNNTUNE_CUDA(cudaGetLastError());
    GNNTUNE_CUDA(cudaStreamSynchronize(stream));  // before the rows are freed
    *bytes = storage->row_ptr.bytes() + storage->row_idx.bytes() + storage->col_idx.bytes() + storage->source.bytes();
    return std::make_shared<LoopedFormat>(
        LoopedFormat{csr->n_rows, m, to.row_ptr, to.row_idx, to.col_idx, to.source, std::move(storage)});
}

}  // namespace
}  // namespace formats

void register_format_with_loops(Registry& registry) {
    registry.add(FormatBuilder{formats::kFormatWithLoops, Backend::cuda, &formats::build_with_loops, kFormatCsr});
}

}  // namespace gnntune

// CSR on the GPU: a stable radix sort of edge positions by row, then row offsets by binary search in the sorted rows.
// A list that is sorted by row already keeps its order and needs no edge_id.
#include <cub/device/device_radix_sort.cuh>

#include "core/gpu/device_buffer.hpp"
#include "core/graph/graph.hpp"

namespace gnntune {
namespace {

constexpr int kThreads = 256;

unsigned blocks_for(std::int64_t n) { return static_cast<unsigned>((n + kThreads - 1) / kThreads); }

__global__ void fill_positions(std::int32_t* ids, std::int64_t m) {
    const std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
    if (e < m) ids[e] = static_cast<std::int32_t>(e);
}

__global__ void find_unsorted(const std::int32_t* rows, std::int64_t m, int* unsorted) {
    const std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
    if (e + 1 < m && rows[e] > rows[e + 1]) *unsorted = 1;
}

__global__ void gather_ids(const std::int32_t* source, const std::int32_t* position, std::int64_t m,
                           std::int32_t* out) {
    const std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
    if (e < m) out[e] = source[position[e]];
}

// row_ptr[i] = number of edges with a row below i: one binary search per row.
__global__ void lower_bounds(const std::int32_t* sorted_rows, std::int64_t m, std::int32_t n_rows,
                             std::int32_t* row_ptr) {
    const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
    if (i > n_rows) return;
    std::int64_t low = 0;
    std::int64_t high = m;
    while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (sorted_rows[middle] < i) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    row_ptr[i] = static_cast<std::int32_t>(low);
}

struct Storage {
    DeviceBuffer<std::int32_t> row_ptr;
    DeviceBuffer<std::int32_t> col_idx;
    DeviceBuffer<std::int32_t> edge_id;
    std::shared_ptr<const void> coo;  // where col_idx is shared with it
};

std::shared_ptr<const void> build(Graph& graph, Direction direction, StreamHandle stream_handle, std::size_t* bytes) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const auto coo = graph.format_as<CooFormat>(kFormatCoo, direction, stream_handle);
    const std::int64_t m = coo->m;
    const auto size = static_cast<std::size_t>(m);
    auto storage = std::make_shared<Storage>();
    storage->row_ptr = DeviceBuffer<std::int32_t>(static_cast<std::size_t>(coo->n_rows) + 1);
    auto csr = std::make_shared<CsrFormat>(
        CsrFormat{coo->n_rows, coo->n_cols, m, storage->row_ptr.data(), coo->col_idx, coo->edge_id, storage});

    int unsorted = 0;
    if (m > 0) {
        DeviceBuffer<int> flag(1);
        GNNTUNE_CUDA(cudaMemsetAsync(flag.data(), 0, sizeof(int), stream));
        find_unsorted<<<blocks_for(m), kThreads, 0, stream>>>(coo->row_idx, m, flag.data());
        GNNTUNE_CUDA(cudaGetLastError());
        GNNTUNE_CUDA(cudaMemcpyAsync(&unsorted, flag.data(), sizeof(int), cudaMemcpyDeviceToHost, stream));
        GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    }

    DeviceBuffer<std::int32_t> sorted_rows;
    const std::int32_t* rows = coo->row_idx;
    if (unsorted != 0) {
        sorted_rows = DeviceBuffer<std::int32_t>(size);
        storage->col_idx = DeviceBuffer<std::int32_t>(size);
        storage->edge_id = DeviceBuffer<std::int32_t>(size);
        DeviceBuffer<std::int32_t> positions(size);
        fill_positions<<<blocks_for(m), kThreads, 0, stream>>>(positions.data(), m);
        GNNTUNE_CUDA(cudaGetLastError());

        int bits = 1;
        while (bits < 31 && (coo->n_rows - 1) >> bits != 0) ++bits;
        std::size_t temporary_bytes = 0;
        GNNTUNE_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, temporary_bytes, coo->row_idx, sorted_rows.data(),
                                                     positions.data(), storage->edge_id.data(), m, 0, bits, stream));
        DeviceBuffer<unsigned char> temporary(temporary_bytes);
        GNNTUNE_CUDA(cub::DeviceRadixSort::SortPairs(temporary.data(), temporary_bytes, coo->row_idx,
                                                     sorted_rows.data(), positions.data(), storage->edge_id.data(), m,
                                                     0, bits, stream));
        gather_ids<<<blocks_for(m), kThreads, 0, stream>>>(coo->col_idx, storage->edge_id.data(), m,
                                                           storage->col_idx.data());
        GNNTUNE_CUDA(cudaGetLastError());
        if (coo->edge_id) {
            // Positions in the COO list become positions in the caller's order; `positions` is free for the result.
            gather_ids<<<blocks_for(m), kThreads, 0, stream>>>(coo->edge_id, storage->edge_id.data(), m,
                                                               positions.data());
            GNNTUNE_CUDA(cudaGetLastError());
            GNNTUNE_CUDA(cudaStreamSynchronize(stream));
            storage->edge_id = std::move(positions);
        }
        GNNTUNE_CUDA(cudaStreamSynchronize(stream));
        rows = sorted_rows.data();
        csr->col_idx = storage->col_idx.data();
        csr->edge_id = storage->edge_id.data();
    } else {
        storage->coo = coo;
    }
    lower_bounds<<<blocks_for(coo->n_rows + std::int64_t{1}), kThreads, 0, stream>>>(rows, m, coo->n_rows,
                                                                                    storage->row_ptr.data());
    GNNTUNE_CUDA(cudaGetLastError());
    GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    *bytes = storage->row_ptr.bytes() + storage->col_idx.bytes() + storage->edge_id.bytes();
    return csr;
}

}  // namespace

void register_format_csr_cuda(Registry& registry) { registry.add(FormatBuilder{kFormatCsr, Backend::cuda, &build}); }

}  // namespace gnntune

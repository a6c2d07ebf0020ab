// Both dense formats from CSR, its rows written out for the time of the build.
#include <cub/device/device_radix_sort.cuh>

#include "core/gpu/device_buffer.hpp"
#include "core/registry/graph.hpp"
#include "kernels/common/host.hpp"
#include "kernels/formats/csr/convert.hpp"
#include "kernels/formats/dense/dense.hpp"
#include "kernels/formats/dense/kernel.cuh"

namespace gnntune {
namespace formats {
namespace {

using Ids = DeviceBuffer<std::int32_t>;

struct DenseStorage {
    DeviceBuffer<float> values;
};

std::shared_ptr<const void> build_dense(Graph& graph, Direction direction, StreamHandle handle, std::size_t* bytes) {
    auto* stream = static_cast<cudaStream_t>(handle);
    const auto csr = graph.format_as<CsrFormat>(kFormatCsr, direction, handle);
    const std::int64_t stride = kernels::dense_stride(csr->n_cols);
    const std::int64_t cells = csr->n_rows * stride;
    auto storage = std::make_shared<DenseStorage>();
    storage->values = DeviceBuffer<float>(static_cast<std::size_t>(cells));
    float* values = storage->values.data();
    std::int32_t largest = 0;
    if (csr->m > 0) {
        Ids rows(static_cast<std::size_t>(csr->m));
        Ids largest_there(1);
        expand_rows(*csr, rows.data(), handle);
        GNNTUNE_CUDA(cudaMemsetAsync(values, 0, storage->values.bytes(), stream));
        GNNTUNE_CUDA(cudaMemsetAsync(largest_there.data(), 0, largest_there.bytes(), stream));
        count_edges<<<kernels::blocks_for(csr->m, kDenseThreads), kDenseThreads, 0, stream>>>(
            rows.data(), csr->col_idx, csr->m, stride, reinterpret_cast<std::int32_t*>(values));
        GNNTUNE_CUDA(cudaGetLastError());
        counts_to_floats<<<kernels::blocks_for(cells, kDenseThreads), kDenseThreads, 0, stream>>>(values, cells,
                                                                                                  largest_there.data());
        GNNTUNE_CUDA(cudaGetLastError());
        largest = value_of(largest_there.data(), stream);  // before the temporaries are freed
    } else if (cells > 0) {
        GNNTUNE_CUDA(cudaMemsetAsync(values, 0, storage->values.bytes(), stream));
        GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    }
    *bytes = storage->values.bytes();
    return std::make_shared<DenseFormat>(
        DenseFormat{csr->n_rows, csr->n_cols, stride, values, largest, std::move(storage)});
}

struct CellsStorage {
    DeviceBuffer<std::uint64_t> cell;
    Ids edge_id;
};

/// Bits in which cells of the array differ.
int cell_bits(std::int64_t cells) {
    int bits = 1;
    while (bits < 63 && (cells - 1) >> bits > 0) ++bits;
    return bits;
}

std::shared_ptr<const void> build_cells(Graph& graph, Direction direction, StreamHandle handle, std::size_t* bytes) {
    auto* stream = static_cast<cudaStream_t>(handle);
    const auto csr = graph.format_as<CsrFormat>(kFormatCsr, direction, handle);
    const auto m = static_cast<std::size_t>(csr->m);
    const std::int64_t stride = kernels::dense_stride(csr->n_cols);
    auto storage = std::make_shared<CellsStorage>();
    storage->cell = DeviceBuffer<std::uint64_t>(m);
    storage->edge_id = Ids(m);
    std::uint64_t* cell = storage->cell.data();
    std::int32_t* edge_id = storage->edge_id.data();
    if (m > 0) {
        const int bits = cell_bits(csr->n_rows * stride);
        DeviceBuffer<std::uint64_t> unsorted(m);
        Ids rows(m);
        expand_rows(*csr, rows.data(), handle);
        cells_of_edges<<<kernels::blocks_for(csr->m, kDenseThreads), kDenseThreads, 0, stream>>>(
            rows.data(), csr->col_idx, csr->m, stride, unsorted.data());
        GNNTUNE_CUDA(cudaGetLastError());
        const std::int32_t* ids = csr->edge_id;
        if (!ids) {
            fill_positions(rows.data(), csr->m, handle);  // the rows have been read
            ids = rows.data();
        }
        std::size_t temporary_bytes = 0;
        GNNTUNE_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, temporary_bytes,
                                                     static_cast<const std::uint64_t*>(unsorted.data()), cell, ids,
                                                     edge_id, csr->m, 0, bits, stream));
        DeviceBuffer<unsigned char> temporary(temporary_bytes);
        // Stable: duplicates stay in CSR order.
        GNNTUNE_CUDA(cub::DeviceRadixSort::SortPairs(temporary.data(), temporary_bytes,
                                                     static_cast<const std::uint64_t*>(unsorted.data()), cell, ids,
                                                     edge_id, csr->m, 0, bits, stream));
        GNNTUNE_CUDA(cudaStreamSynchronize(stream));  // before the temporaries are freed
    }
    *bytes = storage->cell.bytes() + storage->edge_id.bytes();
    return std::make_shared<DenseCellsFormat>(
        DenseCellsFormat{csr->n_rows, csr->n_cols, csr->m, stride, cell, edge_id, std::move(storage)});
}

}  // namespace
}  // namespace formats

void register_format_dense(Registry& registry) {
    registry.add(FormatBuilder{formats::kFormatDense, Backend::cuda, &formats::build_dense, kFormatCsr});
    registry.add(FormatBuilder{formats::kFormatDenseCells, Backend::cuda, &formats::build_cells, kFormatCsr});
}

}  // namespace gnntune

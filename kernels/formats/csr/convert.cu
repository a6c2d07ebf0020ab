#include <cub/device/device_radix_sort.cuh>

#include <algorithm>

#include "core/gpu/device_buffer.hpp"
#include "kernels/formats/csr/convert.cuh"
#include "kernels/formats/csr/convert.hpp"

namespace gnntune::formats {
namespace {

cudaStream_t cuda(StreamHandle stream) { return static_cast<cudaStream_t>(stream); }

unsigned blocks_for(std::int64_t n) { return static_cast<unsigned>((n + kConvertThreads - 1) / kConvertThreads); }

/// Bits in which rows differ: what the radix sort has to look at.
int row_bits(std::int64_t n_rows) {
    int bits = 1;
    while (bits < 31 && (n_rows - 1) >> bits > 0) ++bits;
    return bits;
}

/// Stable: CUB's radix sort keeps the order of equal keys.
std::size_t sort_bytes(std::int64_t m, std::int32_t n_rows) {
    std::size_t bytes = 0;
    const std::int32_t* in = nullptr;
    std::int32_t* out = nullptr;
    GNNTUNE_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, in, out, in, out, m, 0, row_bits(n_rows)));
    return bytes;
}

}  // namespace

// Workspace: the sorted rows, where the list has names of its own also the order, then CUB's part.
std::size_t group_by_row_bytes(const CooFormat& list) {
    if (list.m == 0) return 0;
    const std::size_t array = aligned_bytes(static_cast<std::size_t>(list.m) * sizeof(std::int32_t));
    return (list.edge_id ? 2 : 1) * array + aligned_bytes(sort_bytes(list.m, list.n_rows));
}

void group_by_row(const CooFormat& list, const GroupedEdges& out, void* workspace, std::size_t workspace_bytes,
                  StreamHandle stream) {
    const std::int64_t m = list.m;
    if (m == 0) {
        GNNTUNE_CUDA(cudaMemsetAsync(out.ptr, 0, (static_cast<std::size_t>(list.n_rows) + 1) * sizeof(std::int32_t),
                                     cuda(stream)));
        return;
    }
    const std::size_t array = aligned_bytes(static_cast<std::size_t>(m) * sizeof(std::int32_t));
    auto* free_space = static_cast<unsigned char*>(workspace);
    auto* sorted_rows = reinterpret_cast<std::int32_t*>(free_space);
    free_space += array;
    std::int32_t* order = out.edge_id;
    if (list.edge_id) {
        order = reinterpret_cast<std::int32_t*>(free_space);
        free_space += array;
    }
    // The columns' place holds the unsorted positions until the sort has read them.
    fill_positions(out.idx, m, stream);
    std::size_t bytes = workspace_bytes - static_cast<std::size_t>(free_space - static_cast<unsigned char*>(workspace));
    GNNTUNE_CUDA(cub::DeviceRadixSort::SortPairs(free_space, bytes, list.row_idx, sorted_rows,
                                                 static_cast<const std::int32_t*>(out.idx), order, m, 0,
                                                 row_bits(list.n_rows), cuda(stream)));
    finish_kernel<<<blocks_for(std::max(m, list.n_rows + std::int64_t{1})), kConvertThreads, 0, cuda(stream)>>>(
        sorted_rows, order, list.col_idx, list.edge_id, m, list.n_rows, out.ptr, out.idx, out.edge_id);
    GNNTUNE_CUDA(cudaGetLastError());
}

// Positions written; rows read for the histogram; each pass of 8 bits reads and writes row and position; at the end the
// order read, one sector gathered and one result written for every edge, and the offsets.
CostTerms group_by_row_cost(std::int64_t m, std::int64_t n_rows) {
    const double edges = static_cast<double>(m);
    const double passes = (row_bits(n_rows) + 7) / 8;
    CostTerms terms;
    terms.dram_bytes = edges * (4 + 4 + 16 * passes + 12) + 4.0 * (static_cast<double>(n_rows) + 1);
    terms.l2_bytes = terms.dram_bytes + 28 * edges;
    terms.launches = 4 + passes;
    return terms;
}

bool is_sorted(const CooFormat& list, StreamHandle stream) {
    if (list.m == 0) return true;
    DeviceBuffer<std::int32_t> flag(1);
    std::int32_t unsorted = 0;
    GNNTUNE_CUDA(cudaMemsetAsync(flag.data(), 0, flag.bytes(), cuda(stream)));
    unsorted_kernel<<<blocks_for(list.m), kConvertThreads, 0, cuda(stream)>>>(list.row_idx, list.m, flag.data());
    GNNTUNE_CUDA(cudaGetLastError());
    GNNTUNE_CUDA(cudaMemcpyAsync(&unsorted, flag.data(), flag.bytes(), cudaMemcpyDeviceToHost, cuda(stream)));
    GNNTUNE_CUDA(cudaStreamSynchronize(cuda(stream)));
    return unsorted == 0;
}

void copy_sorted(const CooFormat& list, const GroupedEdges& out, StreamHandle stream) {
    const std::int64_t edges = out.idx || out.edge_id ? list.m : 0;
    const std::int64_t threads = std::max(edges, list.n_rows + std::int64_t{1});
    in_order_kernel<<<blocks_for(threads), kConvertThreads, 0, cuda(stream)>>>(
        list.row_idx, list.col_idx, list.edge_id, list.m, list.n_rows, out.ptr, out.idx, out.edge_id);
    GNNTUNE_CUDA(cudaGetLastError());
}

void expand_rows(const CsrFormat& csr, std::int32_t* rows, StreamHandle stream) {
    if (csr.m == 0) return;
    expand_kernel<<<blocks_for(csr.m), kConvertThreads, 0, cuda(stream)>>>(csr.row_ptr, csr.n_rows, csr.m, rows);
    GNNTUNE_CUDA(cudaGetLastError());
}

void fill_positions(std::int32_t* positions, std::int64_t m, StreamHandle stream) {
    if (m == 0) return;
    positions_kernel<<<blocks_for(m), kConvertThreads, 0, cuda(stream)>>>(positions, m);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::formats

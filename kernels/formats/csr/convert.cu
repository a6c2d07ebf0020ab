#include <cub/device/device_radix_sort.cuh>

#include <algorithm>

#include "core/gpu/device_buffer.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/workspace.hpp"
#include "kernels/formats/csr/convert.cuh"
#include "kernels/formats/csr/convert.hpp"

namespace gnntune::formats {
namespace {

cudaStream_t cuda(StreamHandle stream) {
    return static_cast<cudaStream_t>(stream);
}

/// Blocks that take kConvertEdges edges each and have a thread for each of `rows`.
unsigned edge_blocks(std::int64_t edges, std::int64_t rows) {
    return std::max(static_cast<unsigned>((edges + kConvertEdges - 1) / kConvertEdges),
                    kernels::blocks_for(rows, kConvertThreads));
}

/// Stable: CUB's radix sort keeps the order of equal keys.
std::size_t sort_bytes(std::int64_t m, std::int32_t n_rows) {
    std::size_t bytes = 0;
    const std::int32_t* in = nullptr;
    std::int32_t* out = nullptr;
    GNNTUNE_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, in, out, in, out, m, 0, kernels::bits_below(n_rows)));
    return bytes;
}

std::size_t sort_bytes(std::int64_t m, const EdgeKeyBits& bits) {
    std::size_t bytes = 0;
    cub::DoubleBuffer<std::uint64_t> keys;
    GNNTUNE_CUDA(
        cub::DeviceRadixSort::SortKeys(nullptr, bytes, keys, static_cast<std::int32_t>(m), bits.begin(), bits.end()));
    return bytes;
}

// Workspace of a sort of keys: the keys twice, then CUB's part.
std::size_t keys_bytes(std::int64_t m) {
    return kernels::align_workspace(static_cast<std::size_t>(m) * sizeof(std::uint64_t));
}

std::size_t group_keys_bytes(std::int64_t m, const EdgeKeyBits& bits) {
    return 2 * keys_bytes(m) + kernels::align_workspace(sort_bytes(m, bits));
}

/// The keys stand at the start of the workspace. Stable by the bits that are not sorted: a group's edges keep their
/// order.
void group_keys(std::int64_t m, std::int32_t groups, const EdgeKeyBits& bits, const GroupedEdges& out,
                unsigned char* workspace, std::size_t workspace_bytes, cudaStream_t stream) {
    unsigned char* temporary = workspace + 2 * keys_bytes(m);
    std::size_t bytes = workspace_bytes - 2 * keys_bytes(m);
    cub::DoubleBuffer<std::uint64_t> keys(reinterpret_cast<std::uint64_t*>(workspace),
                                          reinterpret_cast<std::uint64_t*>(workspace + keys_bytes(m)));
    GNNTUNE_CUDA(cub::DeviceRadixSort::SortKeys(temporary, bytes, keys, static_cast<std::int32_t>(m), bits.begin(),
                                                bits.end(), stream));
    unpack_kernel<<<edge_blocks(m + 1, 0), kConvertThreads, 0, stream>>>(keys.Current(), m, groups, bits, out.ptr,
                                                                         out.idx, out.edge_id);
    GNNTUNE_CUDA(cudaGetLastError());
}

void clear_offsets(std::int32_t* ptr, std::int32_t groups, cudaStream_t stream) {
    GNNTUNE_CUDA(cudaMemsetAsync(ptr, 0, (static_cast<std::size_t>(groups) + 1) * sizeof(std::int32_t), stream));
}

/// The edges of a CSR graph as a list with its ends exchanged.
CooFormat exchanged(const CsrFormat& csr, const std::int32_t* rows) {
    return {csr.n_cols, csr.n_rows, csr.m, csr.col_idx, rows, csr.edge_id, nullptr};
}

std::size_t rows_bytes(const CsrFormat& csr) {
    return kernels::align_workspace(static_cast<std::size_t>(csr.m) * sizeof(std::int32_t));
}

/// `source_bytes` is what makes the keys or pairs reads of an edge beside its group; a key is written, or a place. The
/// histogram reads what is sorted by; each pass of 8 bits reads and writes a key, or a row and a place; at the end the
/// keys are taken apart, or the order is read and a sector gathered for every edge; offsets.
CostTerms group_cost(std::int64_t m, std::int64_t groups, std::int64_t others, double source_bytes) {
    const double edges = static_cast<double>(m);
    const EdgeKeyBits bits = key_bits(groups, others, m);
    const double passes = (bits.group + 7) / 8;
    CostTerms terms;
    if (bits.id > 0) {
        terms.dram_bytes = edges * (4 + source_bytes + 8 + 8 + 16 * passes + 16);
        terms.l2_bytes = terms.dram_bytes;
    } else {
        terms.dram_bytes = edges * (4 + 4 + 16 * passes + 12);
        terms.l2_bytes = terms.dram_bytes + 28 * edges;
    }
    terms.dram_bytes += 4.0 * (static_cast<double>(groups) + 1);
    terms.l2_bytes += 4.0 * (static_cast<double>(groups) + 1);
    terms.launches = 4 + passes;
    return terms;
}

}  // namespace

// Workspace of a sort of pairs: the sorted rows, where the list has names of its own also the order, then CUB's part.
std::size_t group_by_row_bytes(const CooFormat& list) {
    if (list.m == 0) return 0;
    const EdgeKeyBits bits = key_bits(list.n_rows, list.n_cols, list.m);
    if (bits.id > 0) return group_keys_bytes(list.m, bits);
    const std::size_t array = kernels::align_workspace(static_cast<std::size_t>(list.m) * sizeof(std::int32_t));
    return (list.edge_id ? 2 : 1) * array + kernels::align_workspace(sort_bytes(list.m, list.n_rows));
}

void group_by_row(const CooFormat& list, const GroupedEdges& out, void* workspace, std::size_t workspace_bytes,
                  StreamHandle stream) {
    const std::int64_t m = list.m;
    if (m == 0) return clear_offsets(out.ptr, list.n_rows, cuda(stream));
    auto* free_space = static_cast<unsigned char*>(workspace);
    const EdgeKeyBits bits = key_bits(list.n_rows, list.n_cols, m);
    if (bits.id > 0) {
        list_keys_kernel<<<edge_blocks(m, 0), kConvertThreads, 0, cuda(stream)>>>(
            list.row_idx, list.col_idx, list.edge_id, m, bits, reinterpret_cast<std::uint64_t*>(free_space));
        GNNTUNE_CUDA(cudaGetLastError());
        return group_keys(m, list.n_rows, bits, out, free_space, workspace_bytes, cuda(stream));
    }
    const std::size_t array = kernels::align_workspace(static_cast<std::size_t>(m) * sizeof(std::int32_t));
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
                                                 kernels::bits_below(list.n_rows), cuda(stream)));
    finish_kernel<<<edge_blocks(m, list.n_rows + std::int64_t{1}), kConvertThreads, 0, cuda(stream)>>>(
        sorted_rows, order, list.col_idx, list.edge_id, m, list.n_rows, out.ptr, out.idx, out.edge_id);
    GNNTUNE_CUDA(cudaGetLastError());
}

CostTerms group_by_row_cost(std::int64_t m, std::int64_t n_rows, std::int64_t n_cols) {
    return group_cost(m, n_rows, n_cols, 4);
}

// Where keys do not fit, the rows are written out in front of what the list needs.
std::size_t group_by_column_bytes(const CsrFormat& csr) {
    if (csr.m == 0) return 0;
    const bool keys = key_bits(csr.n_cols, csr.n_rows, csr.m).id > 0;
    return (keys ? 0 : rows_bytes(csr)) + group_by_row_bytes(exchanged(csr, nullptr));
}

void group_by_column(const CsrFormat& csr, const GroupedEdges& out, void* workspace, std::size_t workspace_bytes,
                     StreamHandle stream) {
    if (csr.m == 0) return clear_offsets(out.ptr, csr.n_cols, cuda(stream));
    auto* free_space = static_cast<unsigned char*>(workspace);
    const EdgeKeyBits bits = key_bits(csr.n_cols, csr.n_rows, csr.m);
    if (bits.id > 0) {
        column_keys_kernel<<<kernels::walk_blocks(csr.m), edge_walk::kThreadsPerBlock, 0, cuda(stream)>>>(
            csr.row_ptr, csr.col_idx, csr.edge_id, csr.n_rows, csr.m, bits,
            reinterpret_cast<std::uint64_t*>(free_space));
        GNNTUNE_CUDA(cudaGetLastError());
        return group_keys(csr.m, csr.n_cols, bits, out, free_space, workspace_bytes, cuda(stream));
    }
    auto* rows = reinterpret_cast<std::int32_t*>(free_space);
    expand_rows(csr, rows, stream);
    group_by_row(exchanged(csr, rows), out, free_space + rows_bytes(csr), workspace_bytes - rows_bytes(csr), stream);
}

CostTerms group_by_column_cost(std::int64_t m, std::int64_t n_rows, std::int64_t n_cols) {
    CostTerms terms = group_cost(m, n_cols, n_rows, 0);
    const double offsets = 4.0 * (static_cast<double>(n_rows) + 1);
    const bool keys = key_bits(n_cols, n_rows, m).id > 0;
    const double rows = keys ? 0.0 : 4.0 * static_cast<double>(m);
    terms.dram_bytes += offsets + rows;
    terms.l2_bytes += offsets + rows;
    if (!keys) terms.launches += 1;
    return terms;
}

bool is_sorted(const CooFormat& list, StreamHandle stream) {
    if (list.m == 0) return true;
    DeviceBuffer<std::int32_t> flag(1);
    GNNTUNE_CUDA(cudaMemsetAsync(flag.data(), 0, flag.bytes(), cuda(stream)));
    unsorted_kernel<<<kernels::blocks_for(list.m, kConvertThreads), kConvertThreads, 0, cuda(stream)>>>(
        list.row_idx, list.m, flag.data());
    GNNTUNE_CUDA(cudaGetLastError());
    return value_of(flag.data(), cuda(stream)) == 0;
}

void copy_sorted(const CooFormat& list, const GroupedEdges& out, StreamHandle stream) {
    const std::int64_t edges = out.idx || out.edge_id ? list.m : 0;
    const std::int64_t threads = std::max(edges, list.n_rows + std::int64_t{1});
    in_order_kernel<<<kernels::blocks_for(threads, kConvertThreads), kConvertThreads, 0, cuda(stream)>>>(
        list.row_idx, list.col_idx, list.edge_id, list.m, list.n_rows, out.ptr, out.idx, out.edge_id);
    GNNTUNE_CUDA(cudaGetLastError());
}

void expand_rows(const CsrFormat& csr, std::int32_t* rows, StreamHandle stream) {
    if (csr.m == 0) return;
    expand_kernel<<<kernels::walk_blocks(csr.m), edge_walk::kThreadsPerBlock, 0, cuda(stream)>>>(
        csr.row_ptr, csr.col_idx, csr.n_rows, csr.m, rows);
    GNNTUNE_CUDA(cudaGetLastError());
}

void fill_positions(std::int32_t* positions, std::int64_t m, StreamHandle stream) {
    if (m == 0) return;
    positions_kernel<<<kernels::blocks_for(m, kConvertThreads), kConvertThreads, 0, cuda(stream)>>>(positions, m);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::formats

// SGT on the GPU, balanced over edges: one row with all the edges costs what the same edges spread out cost.
//
//   keys     one pass over the CSR arrays writes (window, column, row in window) and the CSR position of every edge
//   sort     a stable radix sort over the bits of window and column alone: rows come ascending already
//   distinct flags where (window, column) changes, inclusive sum: the condensed column of every edge
//   windows  TC blocks of each window from the sums at its ends, exclusive sum: window_ptr
//   fill     one thread per edge writes its tile position and edge_id; the first edge of a column writes block_cols,
//            the first of a TC block block_ptr, the last of a window the -1 behind its last column
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "core/gpu/cuda_check.hpp"
#include "core/graph/edge_walk.cuh"
#include "kernels/formats/sgt/translate.hpp"

namespace gnntune::formats {
namespace {

constexpr int kThreads = 256;

unsigned blocks_for(std::int64_t n) {
    return static_cast<unsigned>((n + kThreads - 1) / kThreads);
}

/// Bits that hold every number below `n`; at least one.
int bits_below(std::int64_t n) {
    int bits = 1;
    while (bits < 31 && (n - 1) >> bits != 0) ++bits;
    return bits;
}

/// Bits of the three parts of a key: 31 + 31 + 1 at most, since a window of several rows halves their number.
struct KeyBits {
    KeyBits(std::int32_t n_rows, std::int32_t n_cols, const SgtShape& shape)
        : row(bits_below(shape.block_height)),
          col(bits_below(n_cols)),
          window(bits_below(sgt_windows(n_rows, shape))) {}
    int end() const { return row + col + window; }

    int row;
    int col;
    int window;
};

__global__ void __launch_bounds__(edge_walk::kThreadsPerBlock)
    write_keys(const std::int32_t* __restrict__ row_ptr, const std::int32_t* __restrict__ col_idx, std::int32_t n_rows,
               std::int64_t m, std::int32_t block_height, int row_bits, int col_bits, std::uint64_t* __restrict__ keys,
               std::int32_t* __restrict__ positions) {
    edge_walk::for_each_edge(row_ptr, col_idx, n_rows, 0, m, [&](std::int64_t e, std::int32_t row, std::int32_t col) {
        const std::int32_t window = row / block_height;
        const auto high = static_cast<std::uint64_t>(window) << col_bits | static_cast<std::uint64_t>(col);
        keys[e] = high << row_bits | static_cast<std::uint64_t>(row - window * block_height);
        positions[e] = static_cast<std::int32_t>(e);
    });
}

__global__ void flag_columns(const std::uint64_t* __restrict__ keys, std::int64_t m, int row_bits,
                             std::int32_t* __restrict__ first) {
    const std::int64_t p = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
    if (p < m) first[p] = p == 0 || keys[p] >> row_bits != keys[p - 1] >> row_bits ? 1 : 0;
}

// The last entry is 0: the exclusive sum puts the total there.
__global__ void count_blocks(const std::int32_t* __restrict__ row_ptr, std::int32_t n_rows, std::int32_t windows,
                             SgtShape shape, const std::int32_t* __restrict__ distinct,
                             std::int32_t* __restrict__ window_ptr) {
    const std::int64_t w = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
    if (w > windows) return;
    std::int32_t blocks = 0;
    if (w < windows) {
        const std::int64_t first_row = w * shape.block_height;
        const std::int64_t last_row = first_row + shape.block_height < n_rows ? first_row + shape.block_height : n_rows;
        const std::int32_t begin = row_ptr[first_row];
        const std::int32_t end = row_ptr[last_row];
        if (begin < end) {
            const std::int32_t columns = distinct[end - 1] - (begin > 0 ? distinct[begin - 1] : 0);
            blocks = (columns - 1) / shape.block_width + 1;
        }
    }
    window_ptr[w] = blocks;
}

__global__ void fill_edges(const std::int32_t* __restrict__ row_ptr, const std::int32_t* __restrict__ csr_edge_id,
                           std::int64_t m, SgtShape shape, SgtSorted sorted, SgtArrays out) {
    const std::int64_t p = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
    if (p >= m) return;
    const std::uint64_t key = sorted.keys[p];
    const int window_shift = sorted.row_bits + sorted.col_bits;
    const auto row = static_cast<std::int32_t>(key & ((std::uint64_t{1} << sorted.row_bits) - 1));
    const auto col = static_cast<std::int32_t>(key >> sorted.row_bits & ((std::uint64_t{1} << sorted.col_bits) - 1));
    const auto window = static_cast<std::int64_t>(key >> window_shift);

    const std::int32_t begin = row_ptr[window * shape.block_height];
    const std::int32_t before = begin > 0 ? sorted.distinct[begin - 1] : 0;
    const std::int32_t condensed = sorted.distinct[p] - 1 - before;
    const std::int32_t slot = condensed % shape.block_width;
    const std::int64_t block = std::int64_t{out.window_ptr[window]} + condensed / shape.block_width;
    std::int32_t* cols = out.block_cols + block * shape.block_width;

    if (p == begin || key >> sorted.row_bits != sorted.keys[p - 1] >> sorted.row_bits) {
        cols[slot] = col;
        if (slot == 0) out.block_ptr[block] = static_cast<std::int32_t>(p);
    }
    if (p + 1 == m || static_cast<std::int64_t>(sorted.keys[p + 1] >> window_shift) != window) {
        for (std::int32_t i = slot + 1; i < shape.block_width; ++i) cols[i] = -1;
    }
    if (p + 1 == m) out.block_ptr[block + 1] = static_cast<std::int32_t>(m);

    const std::int32_t cell = row * shape.block_width + slot;
    if (shape.position_bytes() == 1) {
        static_cast<std::uint8_t*>(out.tile_position)[p] = static_cast<std::uint8_t>(cell);
    } else {
        static_cast<std::uint16_t*>(out.tile_position)[p] = static_cast<std::uint16_t>(cell);
    }
    const std::int32_t position = sorted.positions[p];
    out.edge_id[p] = csr_edge_id ? csr_edge_id[position] : position;
}

}  // namespace

SgtScratch sgt_scratch_cuda(std::int32_t n_rows, std::int32_t n_cols, std::int64_t m, const SgtShape& shape) {
    validate(shape);
    SgtScratch s;
    if (m == 0) return s;
    const auto size = static_cast<std::size_t>(m);
    for (std::size_t& place : s.keys) {
        place = take_place(size * sizeof(std::uint64_t), &s.total);
    }
    for (std::size_t& place : s.positions) {
        place = take_place(size * sizeof(std::int32_t), &s.total);
    }
    const KeyBits bits(n_rows, n_cols, shape);
    cub::DoubleBuffer<std::uint64_t> keys;
    cub::DoubleBuffer<std::int32_t> positions;
    std::size_t sort = 0;
    std::size_t edges = 0;
    std::size_t windows = 0;
    auto* none = static_cast<std::int32_t*>(nullptr);
    GNNTUNE_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, sort, keys, positions, static_cast<std::int32_t>(m), bits.row,
                                                 bits.end()));
    GNNTUNE_CUDA(cub::DeviceScan::InclusiveSum(nullptr, edges, none, none, static_cast<std::int32_t>(m)));
    GNNTUNE_CUDA(cub::DeviceScan::ExclusiveSum(nullptr, windows, none, none, sgt_windows(n_rows, shape) + 1));
    s.temporary_bytes = std::max({sort, edges, windows});
    s.temporary = take_place(s.temporary_bytes, &s.total);
    return s;
}

SgtSorted sgt_count_cuda(const CsrFormat& csr, const SgtShape& shape, std::int32_t* window_ptr,
                         const SgtScratch& places, void* scratch, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const std::int32_t windows = sgt_windows(csr.n_rows, shape);
    if (csr.m == 0) {
        const std::size_t bytes = (static_cast<std::size_t>(windows) + 1) * sizeof(std::int32_t);
        GNNTUNE_CUDA(cudaMemsetAsync(window_ptr, 0, bytes, stream));
        return {};
    }
    const auto at = [scratch](std::size_t place) { return static_cast<unsigned char*>(scratch) + place; };
    const auto keys_at = [&](int i) { return reinterpret_cast<std::uint64_t*>(at(places.keys[i])); };
    const auto positions_at = [&](int i) { return reinterpret_cast<std::int32_t*>(at(places.positions[i])); };
    const KeyBits bits(csr.n_rows, csr.n_cols, shape);
    const auto edges = static_cast<std::int32_t>(csr.m);
    void* temporary = at(places.temporary);
    std::size_t temporary_bytes = places.temporary_bytes;

    int device = 0;
    int multiprocessors = 0;
    GNNTUNE_CUDA(cudaGetDevice(&device));
    GNNTUNE_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const auto walkers = static_cast<unsigned>(edge_walk::grid_blocks(csr.m, multiprocessors));
    write_keys<<<walkers, edge_walk::kThreadsPerBlock, 0, stream>>>(csr.row_ptr, csr.col_idx, csr.n_rows, csr.m,
                                                                    shape.block_height, bits.row, bits.col, keys_at(0),
                                                                    positions_at(0));
    GNNTUNE_CUDA(cudaGetLastError());
    cub::DoubleBuffer<std::uint64_t> keys(keys_at(0), keys_at(1));
    cub::DoubleBuffer<std::int32_t> positions(positions_at(0), positions_at(1));
    GNNTUNE_CUDA(cub::DeviceRadixSort::SortPairs(temporary, temporary_bytes, keys, positions, edges, bits.row,
                                                 bits.end(), stream));

    auto* distinct = reinterpret_cast<std::int32_t*>(keys.Alternate());  // the sort is through with it
    flag_columns<<<blocks_for(csr.m), kThreads, 0, stream>>>(keys.Current(), csr.m, bits.row, distinct);
    GNNTUNE_CUDA(cudaGetLastError());
    temporary_bytes = places.temporary_bytes;
    GNNTUNE_CUDA(cub::DeviceScan::InclusiveSum(temporary, temporary_bytes, distinct, distinct, edges, stream));
    count_blocks<<<blocks_for(std::int64_t{windows} + 1), kThreads, 0, stream>>>(csr.row_ptr, csr.n_rows, windows,
                                                                                 shape, distinct, window_ptr);
    GNNTUNE_CUDA(cudaGetLastError());
    temporary_bytes = places.temporary_bytes;
    GNNTUNE_CUDA(
        cub::DeviceScan::ExclusiveSum(temporary, temporary_bytes, window_ptr, window_ptr, windows + 1, stream));
    return {keys.Current(), positions.Current(), distinct, bits.row, bits.col};
}

void sgt_fill_cuda(const CsrFormat& csr, const SgtShape& shape, const SgtArrays& out, const SgtSorted& sorted,
                   StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    if (csr.m == 0) {
        GNNTUNE_CUDA(cudaMemsetAsync(out.block_ptr, 0, sizeof(std::int32_t), stream));
        return;
    }
    fill_edges<<<blocks_for(csr.m), kThreads, 0, stream>>>(csr.row_ptr, csr.edge_id, csr.m, shape, sorted, out);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::formats

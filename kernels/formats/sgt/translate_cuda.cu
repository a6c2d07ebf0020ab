// SGT on the GPU, balanced over edges: one row with all the edges costs what the same edges spread out cost.
//
//   keys     one pass over the CSR arrays writes (window, column, row in window, edge id) of every edge; where they are
//            more than 64 bits, the CSR position instead of the id into an array of its own
//   sort     a stable radix sort over the bits of window and column alone: rows come ascending already
//   distinct inclusive sum of where (window, column) changes: the condensed column of every edge
//   windows  TC blocks of each window from the sums at its ends, exclusive sum: window_ptr
//   fill     one thread per edge writes its tile position and edge_id; the first edge of a column writes block_cols,
//            the first of a TC block block_ptr, the last of a window the -1 behind its last column
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "kernels/common/edge_keys.cuh"
#include "kernels/common/host.hpp"
#include "kernels/formats/sgt/translate.hpp"

namespace gnntune::formats {
namespace {

constexpr int kSgtThreads = 256;

/// Bits of the parts of a key: 31 + 31 + 1 at most without the id, since a window of several rows halves their number.
struct KeyBits {
    KeyBits(std::int32_t n_rows, std::int32_t n_cols, std::int64_t m, const SgtShape& shape)
        : row(kernels::bits_below(shape.block_height)),
          col(kernels::bits_below(n_cols)),
          window(kernels::bits_below(sgt_windows(n_rows, shape))),
          id(kernels::id_bits(row + col + window, m)) {}
    int begin() const { return id + row; }
    int end() const { return id + row + col + window; }

    int row;
    int col;
    int window;
    int id;  ///< 0: the caller's positions do not fit, those in the format stand in an array of their own
};

__global__ void __launch_bounds__(edge_walk::kThreadsPerBlock, 8)
    write_keys(const std::int32_t* __restrict__ row_ptr, const std::int32_t* __restrict__ col_idx,
               const std::int32_t* __restrict__ edge_id, std::int32_t n_rows, std::int64_t m, std::int32_t block_height,
               KeyBits bits, std::uint64_t* __restrict__ keys, std::int32_t* __restrict__ positions) {
    edge_walk::for_each_edge(row_ptr, col_idx, n_rows, 0, m, [&](std::int64_t e, std::int32_t row, std::int32_t col) {
        const std::int32_t window = row / block_height;
        const auto high = static_cast<std::uint64_t>(window) << bits.col | static_cast<std::uint64_t>(col);
        const std::uint64_t key = high << bits.row | static_cast<std::uint64_t>(row - window * block_height);
        const auto position = static_cast<std::int32_t>(e);
        if (bits.id > 0) {
            keys[e] = key << bits.id | static_cast<std::uint64_t>(edge_id ? __ldg(edge_id + e) : position);
        } else {
            keys[e] = key;
            positions[e] = position;
        }
    });
}

/// 1 where the column or the window of a sorted edge is another than that of the edge before.
struct FirstOfColumn {
    __device__ __forceinline__ std::int32_t operator()(std::int32_t p) const {
        return p == 0 || __ldg(keys + p) >> column_shift != __ldg(keys + p - 1) >> column_shift ? 1 : 0;
    }

    const std::uint64_t* keys;
    int column_shift;
};

auto firsts(const std::uint64_t* keys, const KeyBits& bits) {
    return thrust::make_transform_iterator(thrust::make_counting_iterator(std::int32_t{0}),
                                           FirstOfColumn{keys, bits.begin()});
}

// The last entry is 0: the exclusive sum puts the total there.
__global__ void count_blocks(const std::int32_t* __restrict__ row_ptr, std::int32_t n_rows, std::int32_t windows,
                             SgtShape shape, const std::int32_t* __restrict__ distinct,
                             std::int32_t* __restrict__ window_ptr) {
    const std::int64_t w = blockIdx.x * static_cast<std::int64_t>(kSgtThreads) + threadIdx.x;
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
    const std::int64_t p = blockIdx.x * static_cast<std::int64_t>(kSgtThreads) + threadIdx.x;
    if (p >= m) return;
    const std::uint64_t key = sorted.keys[p];
    const int column_shift = sorted.id_bits + sorted.row_bits;
    const int window_shift = column_shift + sorted.col_bits;
    const auto row = static_cast<std::int32_t>(kernels::low_bits(key >> sorted.id_bits, sorted.row_bits));
    const auto col = static_cast<std::int32_t>(kernels::low_bits(key >> column_shift, sorted.col_bits));
    const auto window = static_cast<std::int64_t>(key >> window_shift);

    const std::int32_t begin = row_ptr[window * shape.block_height];
    const std::int32_t before = begin > 0 ? sorted.distinct[begin - 1] : 0;
    const std::int32_t condensed = sorted.distinct[p] - 1 - before;
    const std::int32_t slot = condensed % shape.block_width;
    const std::int64_t block = std::int64_t{out.window_ptr[window]} + condensed / shape.block_width;
    std::int32_t* cols = out.block_cols + block * shape.block_width;

    if (p == begin || key >> column_shift != sorted.keys[p - 1] >> column_shift) {
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
    if (sorted.positions) {
        const std::int32_t position = sorted.positions[p];
        out.edge_id[p] = csr_edge_id ? csr_edge_id[position] : position;
    } else {
        out.edge_id[p] = static_cast<std::int32_t>(kernels::low_bits(key, sorted.id_bits));
    }
}

struct EdgeBuffers {
    cub::DoubleBuffer<std::uint64_t> keys;
    cub::DoubleBuffer<std::int32_t> positions;
};

/// By window and column. Without `temporary` it only says how many bytes that has to have.
void sort_edges(void* temporary, std::size_t& temporary_bytes, EdgeBuffers& edges, std::int64_t m, const KeyBits& bits,
                cudaStream_t stream) {
    const auto count = static_cast<std::int32_t>(m);
    if (bits.id > 0) {
        GNNTUNE_CUDA(cub::DeviceRadixSort::SortKeys(temporary, temporary_bytes, edges.keys, count, bits.begin(),
                                                    bits.end(), stream));
    } else {
        GNNTUNE_CUDA(cub::DeviceRadixSort::SortPairs(temporary, temporary_bytes, edges.keys, edges.positions, count,
                                                     bits.begin(), bits.end(), stream));
    }
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
    const KeyBits bits(n_rows, n_cols, m, shape);
    for (std::size_t& place : s.positions) {
        place = take_place(bits.id > 0 ? 0 : size * sizeof(std::int32_t), &s.total);
    }
    std::size_t sort = 0;
    std::size_t edges = 0;
    std::size_t windows = 0;
    auto* none = static_cast<std::int32_t*>(nullptr);
    EdgeBuffers buffers;
    sort_edges(nullptr, sort, buffers, m, bits, nullptr);
    GNNTUNE_CUDA(
        cub::DeviceScan::InclusiveSum(nullptr, edges, firsts(nullptr, bits), none, static_cast<std::int32_t>(m)));
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
    const KeyBits bits(csr.n_rows, csr.n_cols, csr.m, shape);
    const auto edges = static_cast<std::int32_t>(csr.m);
    void* temporary = at(places.temporary);
    std::size_t temporary_bytes = places.temporary_bytes;

    write_keys<<<kernels::walk_blocks(csr.m), edge_walk::kThreadsPerBlock, 0, stream>>>(
        csr.row_ptr, csr.col_idx, csr.edge_id, csr.n_rows, csr.m, shape.block_height, bits, keys_at(0),
        positions_at(0));
    GNNTUNE_CUDA(cudaGetLastError());
    EdgeBuffers buffers{{keys_at(0), keys_at(1)}, {positions_at(0), positions_at(1)}};
    sort_edges(temporary, temporary_bytes, buffers, csr.m, bits, stream);
    const std::uint64_t* keys = buffers.keys.Current();

    auto* distinct = reinterpret_cast<std::int32_t*>(buffers.keys.Alternate());  // the sort is through with it
    temporary_bytes = places.temporary_bytes;
    GNNTUNE_CUDA(
        cub::DeviceScan::InclusiveSum(temporary, temporary_bytes, firsts(keys, bits), distinct, edges, stream));
    count_blocks<<<kernels::blocks_for(std::int64_t{windows} + 1, kSgtThreads), kSgtThreads, 0, stream>>>(
        csr.row_ptr, csr.n_rows, windows, shape, distinct, window_ptr);
    GNNTUNE_CUDA(cudaGetLastError());
    temporary_bytes = places.temporary_bytes;
    GNNTUNE_CUDA(
        cub::DeviceScan::ExclusiveSum(temporary, temporary_bytes, window_ptr, window_ptr, windows + 1, stream));
    const std::int32_t* positions = bits.id > 0 ? nullptr : buffers.positions.Current();
    return {keys, positions, distinct, bits.row, bits.col, bits.id};
}

void sgt_fill_cuda(const CsrFormat& csr, const SgtShape& shape, const SgtArrays& out, const SgtSorted& sorted,
                   StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    if (csr.m == 0) {
        GNNTUNE_CUDA(cudaMemsetAsync(out.block_ptr, 0, sizeof(std::int32_t), stream));
        return;
    }
    fill_edges<<<kernels::blocks_for(csr.m, kSgtThreads), kSgtThreads, 0, stream>>>(csr.row_ptr, csr.edge_id, csr.m,
                                                                                    shape, sorted, out);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::formats

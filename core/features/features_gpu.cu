// Distinct columns per row window by sorting, in chunks of whole windows so that memory stays bounded.
//
// Every edge becomes one 64-bit key, from the high bits down: window of 16 rows (counted from the chunk's first) |
// column | which half of the window (0: rows 0-7, 1: rows 8-15). After the sort every count is a count of positions
// where a prefix of the key changes:
//   window, column, half            -> distinct columns of windows of 8 rows
//   window, column                  -> distinct columns of windows of 16 rows; per window, the SGT blocks
//   window, column / 8 (or / 16)    -> non-empty 16x8 (16x16) tiles
// because the column's low 3 or 4 bits lie below the rest of it.
#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <vector>

#include "core/common/error.hpp"
#include "core/features/degree_histogram.hpp"
#include "core/features/features_gpu.hpp"
#include "core/gpu/cuda_check.hpp"
#include "core/gpu/device_buffer.hpp"
#include "core/graph/edge_walk.cuh"

namespace gnntune {

namespace {

using edge_walk::kThreadsPerBlock;
using Key = std::uint64_t;
using Counter = unsigned long long;

constexpr std::int32_t kRowsPerWindow = 16;
constexpr std::int64_t kChunkEdges = std::int64_t{1} << 27;

/// What the kernels add up, in device memory.
struct Sums {
    Counter column_distance;
    Counter distinct_8;
    Counter distinct_16;
    Counter tiles_8;
    Counter tiles_16;
    Counter sgt_8;
    Counter sgt_16;
};

/// Whole windows [first_window, end_window) and their edges.
struct Chunk {
    std::int32_t first_window;
    std::int32_t end_window;
    std::int64_t edge_begin;
    std::int64_t edge_end;
};

__device__ void add_block_sum(std::uint64_t value, Counter* total) {
    __shared__ std::uint64_t shared[edge_walk::kWarpsPerBlock];
    value = edge_walk::block_sum(value, shared);
    if (threadIdx.x == 0 && value != 0) atomicAdd(total, static_cast<Counter>(value));
}

/// Writes the key of every edge of the chunk, coalesced; counts column degrees; sums |column - row|.
__global__ void __launch_bounds__(kThreadsPerBlock)
    make_keys_kernel(const std::int32_t* __restrict__ row_ptr, const std::int32_t* __restrict__ col_idx,
                     std::int32_t n_rows, Chunk chunk, int col_bits, Key* __restrict__ keys,
                     std::int32_t* __restrict__ col_degree, Sums* __restrict__ sums) {
    std::uint64_t distance = 0;
    edge_walk::for_each_edge(
        row_ptr, col_idx, n_rows, chunk.edge_begin, chunk.edge_end,
        [&](std::int64_t e, std::int32_t row, std::int32_t col) {
            const auto window = static_cast<Key>(row / kRowsPerWindow - chunk.first_window);
            const auto half = static_cast<Key>(row / 8 % 2);
            keys[e - chunk.edge_begin] = ((window << col_bits | static_cast<Key>(col)) << 1) | half;
            atomicAdd(&col_degree[col], 1);
            distance += static_cast<std::uint64_t>(col > row ? std::int64_t{col} - row : std::int64_t{row} - col);
        });
    add_block_sum(distance, &sums->column_distance);
}

/// Thread per sorted key, grid-strided by whole warps: compares it with its predecessor.
__global__ void __launch_bounds__(kThreadsPerBlock)
    count_runs_kernel(const Key* __restrict__ keys, std::int64_t count, int col_bits,
                      std::int32_t* __restrict__ window_distinct, Sums* __restrict__ sums) {
    std::uint64_t distinct_8 = 0;
    std::uint64_t distinct_16 = 0;
    std::uint64_t tiles_8 = 0;
    std::uint64_t tiles_16 = 0;
    const std::int64_t threads = std::int64_t{gridDim.x} * kThreadsPerBlock;
    // The bound is the block's, so that whole warps stay in the loop and may vote.
    for (std::int64_t base = std::int64_t{blockIdx.x} * kThreadsPerBlock; base < count; base += threads) {
        const std::int64_t i = base + threadIdx.x;
        const Key key = i < count ? keys[i] : 0;
        const Key changed = i >= count ? 0 : i == 0 ? ~Key{0} : key ^ keys[i - 1];
        distinct_8 += changed != 0;
        const bool new_column = changed >> 1 != 0;
        distinct_16 += new_column;
        tiles_8 += changed >> 4 != 0;
        tiles_16 += changed >> 5 != 0;
        const unsigned adders = __ballot_sync(edge_walk::kAllLanes, new_column);
        if (new_column) {
            // Neighbours mostly share a window: one lane per window adds for all of them.
            const Key window = key >> (col_bits + 1);
            const unsigned peers = __match_any_sync(adders, window);
            if (static_cast<int>(threadIdx.x % 32) == __ffs(static_cast<int>(peers)) - 1) {
                atomicAdd(&window_distinct[window], __popc(peers));
            }
        }
    }
    add_block_sum(distinct_8, &sums->distinct_8);
    add_block_sum(distinct_16, &sums->distinct_16);
    add_block_sum(tiles_8, &sums->tiles_8);
    add_block_sum(tiles_16, &sums->tiles_16);
}

__global__ void __launch_bounds__(kThreadsPerBlock)
    count_blocks_kernel(const std::int32_t* __restrict__ window_distinct, std::int32_t n_windows,
                        Sums* __restrict__ sums) {
    std::uint64_t sgt_8 = 0;
    std::uint64_t sgt_16 = 0;
    const std::int64_t threads = std::int64_t{gridDim.x} * kThreadsPerBlock;
    for (std::int64_t w = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; w < n_windows; w += threads) {
        const auto distinct = static_cast<std::uint64_t>(window_distinct[w]);
        sgt_8 += (distinct + 7) / 8;
        sgt_16 += (distinct + 15) / 16;
    }
    add_block_sum(sgt_8, &sums->sgt_8);
    add_block_sum(sgt_16, &sums->sgt_16);
}

int bits_for(std::int64_t count) {
    int bits = 0;
    while (bits < 63 && (std::int64_t{1} << bits) < count) ++bits;
    return bits;
}

/// Cuts the windows into runs of at most kChunkEdges edges, or of one window where that has more.
std::vector<Chunk> make_chunks(const std::vector<std::int32_t>& row_ptr, std::int32_t n_rows) {
    std::vector<Chunk> chunks;
    const auto n_windows = static_cast<std::int32_t>((std::int64_t{n_rows} + kRowsPerWindow - 1) / kRowsPerWindow);
    const auto start_of = [&](std::int32_t window) {
        const std::int64_t row = std::min<std::int64_t>(std::int64_t{window} * kRowsPerWindow, n_rows);
        return std::int64_t{row_ptr[static_cast<std::size_t>(row)]};
    };
    for (std::int32_t window = 0; window < n_windows; ++window) {
        const std::int64_t end = start_of(window + 1);
        if (chunks.empty() || end - chunks.back().edge_begin > kChunkEdges) {
            chunks.push_back({window, window, start_of(window), start_of(window)});
        }
        chunks.back().end_window = window + 1;
        chunks.back().edge_end = end;
    }
    return chunks;
}

/// The loop over chunks, with the buffers sized for the largest.
class WindowCounter {
public:
    WindowCounter(const CsrView& csr, const std::vector<Chunk>& chunks, cudaStream_t stream)
        : csr_(csr),
          stream_(stream),
          col_bits_(std::max(4, bits_for(csr.n_cols))),
          sums_(1),
          col_degree_(static_cast<std::size_t>(std::max(1, csr.n_cols))),
          window_distinct_(largest(chunks, [](const Chunk& c) { return std::int64_t{c.end_window} - c.first_window; })),
          keys_(largest(chunks, edges_of)),
          sorted_(largest(chunks, edges_of)) {
        int device = 0;
        GNNTUNE_CUDA(cudaGetDevice(&device));
        GNNTUNE_CUDA(cudaDeviceGetAttribute(&sm_count_, cudaDevAttrMultiProcessorCount, device));
        clear(sums_.data(), 1);
        clear(col_degree_.data(), col_degree_.size());
    }

    void count(const Chunk& chunk) {
        const std::int64_t edges = edges_of(chunk);
        if (edges == 0) return;
        const std::int32_t n_windows = chunk.end_window - chunk.first_window;
        const auto blocks = static_cast<unsigned>(edge_walk::grid_blocks(edges, sm_count_));
        clear(window_distinct_.data(), static_cast<std::size_t>(n_windows));
        make_keys_kernel<<<blocks, kThreadsPerBlock, 0, stream_>>>(
            csr_.row_ptr, csr_.col_idx, csr_.n_rows, chunk, col_bits_, keys_.data(), col_degree_.data(), sums_.data());
        GNNTUNE_CUDA(cudaGetLastError());

        cub::DoubleBuffer<Key> buffers(keys_.data(), sorted_.data());
        const int end_bit = 1 + col_bits_ + bits_for(n_windows);
        std::size_t temp_bytes = 0;
        GNNTUNE_CUDA(cub::DeviceRadixSort::SortKeys(nullptr, temp_bytes, buffers, edges, 0, end_bit, stream_));
        DeviceBuffer<unsigned char> temp(std::max<std::size_t>(1, temp_bytes));
        GNNTUNE_CUDA(cub::DeviceRadixSort::SortKeys(temp.data(), temp_bytes, buffers, edges, 0, end_bit, stream_));

        count_runs_kernel<<<blocks, kThreadsPerBlock, 0, stream_>>>(buffers.Current(), edges, col_bits_,
                                                                    window_distinct_.data(), sums_.data());
        count_blocks_kernel<<<blocks, kThreadsPerBlock, 0, stream_>>>(window_distinct_.data(), n_windows, sums_.data());
        GNNTUNE_CUDA(cudaGetLastError());
        GNNTUNE_CUDA(cudaStreamSynchronize(stream_));  // temp is freed here
    }

    void read(FeatureCounts& counts) {
        Sums sums{};
        std::vector<std::int32_t> degree(static_cast<std::size_t>(csr_.n_cols));
        GNNTUNE_CUDA(cudaMemcpyAsync(&sums, sums_.data(), sizeof sums, cudaMemcpyDeviceToHost, stream_));
        if (!degree.empty()) {
            GNNTUNE_CUDA(cudaMemcpyAsync(degree.data(), col_degree_.data(), degree.size() * sizeof(std::int32_t),
                                         cudaMemcpyDeviceToHost, stream_));
        }
        GNNTUNE_CUDA(cudaStreamSynchronize(stream_));
        counts.col_degrees = degree_histogram(degree.data(), degree.size());
        counts.column_distance_sum = sums.column_distance;
        counts.distinct_cols_8 = static_cast<std::int64_t>(sums.distinct_8);
        counts.distinct_cols_16 = static_cast<std::int64_t>(sums.distinct_16);
        counts.tc_blocks_16x8 = static_cast<std::int64_t>(sums.tiles_8);
        counts.tc_blocks_16x16 = static_cast<std::int64_t>(sums.tiles_16);
        counts.sgt_blocks_16x8 = static_cast<std::int64_t>(sums.sgt_8);
        counts.sgt_blocks_16x16 = static_cast<std::int64_t>(sums.sgt_16);
    }

private:
    static std::int64_t edges_of(const Chunk& c) { return c.edge_end - c.edge_begin; }

    template <typename Size>
    static std::size_t largest(const std::vector<Chunk>& chunks, Size size) {
        std::int64_t most = 1;
        for (const Chunk& c : chunks) most = std::max(most, size(c));
        return static_cast<std::size_t>(most);
    }

    template <typename T>
    void clear(T* data, std::size_t count) {
        GNNTUNE_CUDA(cudaMemsetAsync(data, 0, count * sizeof(T), stream_));
    }

    CsrView csr_;
    cudaStream_t stream_;
    int col_bits_;
    int sm_count_ = 1;
    DeviceBuffer<Sums> sums_;
    DeviceBuffer<std::int32_t> col_degree_;
    DeviceBuffer<std::int32_t> window_distinct_;
    DeviceBuffer<Key> keys_;
    DeviceBuffer<Key> sorted_;
};

}  // namespace

FeatureCounts count_features_gpu(const CsrView& csr, cudaStream_t stream) {
    if (csr.space != MemorySpace::device) {
        throw invalid_argument(
            "count_features_gpu expects a graph in device memory; use count_features for host memory");
    }
    FeatureCounts counts;
    counts.n_rows = csr.n_rows;
    counts.n_cols = csr.n_cols;
    counts.m = csr.m;

    // The row pointers come to the host: 4 bytes per row give the row degrees and the cuts between chunks.
    std::vector<std::int32_t> row_ptr(static_cast<std::size_t>(csr.n_rows) + 1, 0);
    if (csr.n_rows > 0) {
        GNNTUNE_CUDA(cudaMemcpyAsync(row_ptr.data(), csr.row_ptr, row_ptr.size() * sizeof(std::int32_t),
                                     cudaMemcpyDeviceToHost, stream));
        GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    }
    const std::vector<Chunk> chunks = make_chunks(row_ptr, csr.n_rows);
    WindowCounter counter(csr, chunks, stream);
    for (const Chunk& chunk : chunks) counter.count(chunk);
    counter.read(counts);

    for (std::size_t i = 0; i + 1 < row_ptr.size(); ++i) row_ptr[i] = row_ptr[i + 1] - row_ptr[i];
    row_ptr.pop_back();
    counts.row_degrees = degree_histogram(row_ptr.data(), row_ptr.size());
    return counts;
}

}  // namespace gnntune

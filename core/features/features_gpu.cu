// Distinct columns per row window by sorting, in chunks of whole rows of blocks so that memory stays bounded.
//
// Every edge becomes one 64-bit key, from the high bits down: row of 32 x 32 blocks (counted from the chunk's first) |
// column / 32 | which of its windows of 16 rows | column % 32 | which half of the window (0: rows 0-7, 1: rows 8-15).
// After the sort every count is a count of positions where a prefix of the key changes:
//   all of it                               -> distinct columns of windows of 8 rows
//   all but the half                        -> distinct columns of windows of 16 rows; per window, the SGT blocks
//   block, window, column % 32 / 8 (or 16)  -> non-empty 16x8 (16x16) tiles
//   block                                   -> non-empty 32x32 blocks
// and a block has at least n edges where the key n - 1 positions after its first one still is the block's.
#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <array>
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
constexpr int kCellBits = 7;  // of a key: window, column % 32, half
using BlockEdges = std::array<std::int32_t, kBlockEdges.size()>;
constexpr auto kBlockClasses = static_cast<int>(kBlockEdges.size());
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
    Counter blocks[kBlockClasses];
    /// Edges of these blocks that have kBlockEdges - 1 more behind them.
    Counter followed[kBlockClasses];
};

/// Whole rows of blocks [first_row, end_row) and their edges.
struct Chunk {
    std::int32_t first_row;
    std::int32_t end_row;
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
                     std::int32_t n_rows, Chunk chunk, int block_col_bits, Key* __restrict__ keys,
                     std::int32_t* __restrict__ col_degree, Sums* __restrict__ sums) {
    std::uint64_t distance = 0;
    edge_walk::for_each_edge(
        row_ptr, col_idx, n_rows, chunk.edge_begin, chunk.edge_end,
        [&](std::int64_t e, std::int32_t row, std::int32_t col) {
            const auto block_row = static_cast<Key>(row / kBlockSide - chunk.first_row);
            const Key block = block_row << block_col_bits | static_cast<Key>(col / kBlockSide);
            const auto window = static_cast<Key>(row / kRowsPerWindow % 2);
            const auto half = static_cast<Key>(row / 8 % 2);
            keys[e - chunk.edge_begin] =
                block << kCellBits | window << 6 | static_cast<Key>(col % kBlockSide) << 1 | half;
            atomicAdd(&col_degree[col], 1);
            distance += static_cast<std::uint64_t>(col > row ? std::int64_t{col} - row : std::int64_t{row} - col);
        });
    add_block_sum(distance, &sums->column_distance);
}

/// Thread per sorted key, grid-strided by whole warps: compares it with its predecessor, and with those that follow.
__global__ void __launch_bounds__(kThreadsPerBlock)
    count_runs_kernel(const Key* __restrict__ keys, std::int64_t count, int block_col_bits, BlockEdges least,
                      std::int32_t* __restrict__ window_distinct, Sums* __restrict__ sums) {
    std::uint64_t distinct_8 = 0;
    std::uint64_t distinct_16 = 0;
    std::uint64_t tiles_8 = 0;
    std::uint64_t tiles_16 = 0;
    std::uint64_t blocks[kBlockClasses] = {};
    std::uint64_t followed[kBlockClasses] = {};
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
#pragma unroll
        for (int c = 0; c < kBlockClasses; ++c) {
            const std::int64_t last = i + least[c] - 1;
            const bool same = last < count && (keys[last] ^ key) >> kCellBits == 0;
            followed[c] += same;
            blocks[c] += same && changed >> kCellBits != 0;
        }
        const unsigned adders = __ballot_sync(edge_walk::kAllLanes, new_column);
        if (new_column) {
            // Neighbours mostly share a window: one lane per window adds for all of them.
            const Key window = key >> (block_col_bits + kCellBits) << 1 | (key >> 6 & 1);
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
#pragma unroll
    for (int c = 0; c < kBlockClasses; ++c) {
        add_block_sum(blocks[c], &sums->blocks[c]);
        add_block_sum(followed[c], &sums->followed[c]);
    }
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

/// Cuts the rows of blocks into runs of at most kChunkEdges edges, or of one row where that has more.
std::vector<Chunk> make_chunks(const std::vector<std::int32_t>& row_ptr, std::int32_t n_rows) {
    std::vector<Chunk> chunks;
    const auto n_block_rows = static_cast<std::int32_t>((std::int64_t{n_rows} + kBlockSide - 1) / kBlockSide);
    const auto start_of = [&](std::int32_t block_row) {
        const std::int64_t row = std::min<std::int64_t>(std::int64_t{block_row} * kBlockSide, n_rows);
        return std::int64_t{row_ptr[static_cast<std::size_t>(row)]};
    };
    for (std::int32_t row = 0; row < n_block_rows; ++row) {
        const std::int64_t end = start_of(row + 1);
        if (chunks.empty() || end - chunks.back().edge_begin > kChunkEdges) {
            chunks.push_back({row, row, start_of(row), start_of(row)});
        }
        chunks.back().end_row = row + 1;
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
          block_col_bits_(bits_for((std::int64_t{csr.n_cols} + kBlockSide - 1) / kBlockSide)),
          sums_(1),
          col_degree_(static_cast<std::size_t>(std::max(1, csr.n_cols))),
          window_distinct_(largest(chunks, windows_of)),
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
        const auto n_windows = static_cast<std::int32_t>(windows_of(chunk));
        const auto blocks = static_cast<unsigned>(edge_walk::grid_blocks(edges, sm_count_));
        clear(window_distinct_.data(), static_cast<std::size_t>(n_windows));
        make_keys_kernel<<<blocks, kThreadsPerBlock, 0, stream_>>>(csr_.row_ptr, csr_.col_idx, csr_.n_rows, chunk,
                                                                   block_col_bits_, keys_.data(), col_degree_.data(),
                                                                   sums_.data());
        GNNTUNE_CUDA(cudaGetLastError());

        cub::DoubleBuffer<Key> buffers(keys_.data(), sorted_.data());
        const int end_bit = kCellBits + block_col_bits_ + bits_for(chunk.end_row - chunk.first_row);
        std::size_t temp_bytes = 0;
        GNNTUNE_CUDA(cub::DeviceRadixSort::SortKeys(nullptr, temp_bytes, buffers, edges, 0, end_bit, stream_));
        DeviceBuffer<unsigned char> temp(std::max<std::size_t>(1, temp_bytes));
        GNNTUNE_CUDA(cub::DeviceRadixSort::SortKeys(temp.data(), temp_bytes, buffers, edges, 0, end_bit, stream_));

        count_runs_kernel<<<blocks, kThreadsPerBlock, 0, stream_>>>(buffers.Current(), edges, block_col_bits_,
                                                                    kBlockEdges, window_distinct_.data(), sums_.data());
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
        for (std::size_t c = 0; c < kBlockEdges.size(); ++c) {
            const auto blocks = static_cast<std::int64_t>(sums.blocks[c]);
            const auto followed = static_cast<std::int64_t>(sums.followed[c]);
            counts.blocks_32x32[c] = {blocks, followed + (kBlockEdges[c] - 1) * blocks};
        }
    }

private:
    static std::int64_t edges_of(const Chunk& c) { return c.edge_end - c.edge_begin; }
    static std::int64_t windows_of(const Chunk& c) {
        return std::int64_t{c.end_row - c.first_row} * (kBlockSide / kRowsPerWindow);
    }

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
    int block_col_bits_;
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

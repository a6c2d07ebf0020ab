// Walks the edges of a CSR graph in equal shares, whatever the degrees: every warp takes one contiguous range of edges
// and finds the row of each edge on the way.
//
// Data: col_idx streams through once, coalesced, kEdgesPerStep = 128 edges in flight per warp. row_ptr is searched once
// per warp (binary search for the row of its first edge) and then read ahead 32 entries at a time: lane l holds the
// start of row r + 1 + l, and each lane counts, by five shuffles, how many of the 32 starts its edge has passed. A row
// of 100,000 edges costs one cached read per 32 edges; a run of empty rows costs one read per 32 rows.
#pragma once

#include <cstdint>

namespace gnntune::edge_walk {

inline constexpr int kThreadsPerBlock = 256;
inline constexpr int kWarpsPerBlock = kThreadsPerBlock / 32;
inline constexpr int kLoads = 4;  ///< loads of col_idx in flight per lane
inline constexpr int kEdgesPerStep = 32 * kLoads;
inline constexpr unsigned kAllLanes = 0xffffffffu;

/// Blocks that fill `sm_count` SMs eight deep, fewer where every warp would get less than one step.
inline int grid_blocks(std::int64_t edges, int sm_count) {
    const std::int64_t per_block = std::int64_t{kEdgesPerStep} * kWarpsPerBlock;
    const std::int64_t wanted = (edges + per_block - 1) / per_block;
    const std::int64_t resident = std::int64_t{sm_count} * 8;
    return static_cast<int>(wanted < resident ? wanted : resident);
}

/// Largest r in [0, n_rows) with row_ptr[r] <= e: the row that owns edge e, past any empty rows before it.
__device__ inline std::int32_t row_of_edge(const std::int32_t* row_ptr, std::int32_t n_rows, std::int64_t e) {
    std::int32_t low = 0;
    std::int32_t high = n_rows - 1;
    while (low < high) {
        const std::int32_t middle = low + (high - low + 1) / 2;
        if (row_ptr[middle] <= e) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/// Number of the warp's 32 ascending `start` values (one per lane) that are <= e. All lanes must call.
__device__ inline int count_not_above(std::int32_t start, std::int64_t e) {
    int count = 0;
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        const std::int32_t probe = __shfl_sync(kAllLanes, start, count + step - 1);
        if (probe <= e) count += step;
    }
    // The loop settles lanes 0 to 30; lane 31 is left.
    const std::int32_t last = __shfl_sync(kAllLanes, start, 31);
    return count == 31 && last <= e ? 32 : count;
}

/// Calls visit(e, row, col) once for every edge e in [edge_begin, edge_end), one lane each. The whole grid must call,
/// with blocks of kThreadsPerBlock threads. Lanes of a warp may diverge inside visit, which must not synchronise them.
template <typename Visit>
__device__ inline void for_each_edge(const std::int32_t* __restrict__ row_ptr, const std::int32_t* __restrict__ col_idx,
                                     std::int32_t n_rows, std::int64_t edge_begin, std::int64_t edge_end, Visit visit) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const std::int64_t warp = std::int64_t{blockIdx.x} * kWarpsPerBlock + threadIdx.x / 32;
    const std::int64_t warps = std::int64_t{gridDim.x} * kWarpsPerBlock;
    const std::int64_t steps = (edge_end - edge_begin + kEdgesPerStep - 1) / kEdgesPerStep;
    const std::int64_t share = (steps + warps - 1) / warps * kEdgesPerStep;
    const std::int64_t begin = edge_begin + warp * share;
    const std::int64_t end = begin + share < edge_end ? begin + share : edge_end;
    if (begin >= end) return;  // the same for all lanes of the warp

    std::int32_t row = row_of_edge(row_ptr, n_rows, begin);  // row of the warp's next edge, or an earlier one
    for (std::int64_t base = begin; base < end; base += kEdgesPerStep) {
        std::int32_t col[kLoads];
#pragma unroll
        for (int j = 0; j < kLoads; ++j) {
            const std::int64_t e = base + 32 * j + lane;
            col[j] = e < end ? col_idx[e] : 0;
        }
#pragma unroll
        for (int j = 0; j < kLoads; ++j) {
            const std::int64_t first = base + 32 * j;
            if (first >= end) break;
            const std::int64_t e = first + lane;
            const std::int64_t last = first + 31 < end ? first + 31 : end - 1;
            std::int32_t my_row = row;
            int passed = 0;
            do {
                // n_rows <= 2^31 - 2, so the sum stays inside int64 and the guard below inside the array.
                const std::int64_t ahead = std::int64_t{row} + 1 + lane;
                const std::int32_t start = ahead < n_rows ? row_ptr[ahead] : INT32_MAX;
                passed = __popc(__ballot_sync(kAllLanes, start <= last));
                if (passed > 0) my_row += count_not_above(start, e < last ? e : last);
                row += passed;
            } while (passed == 32);
            if (e < end) visit(e, my_row, col[j]);
            __syncwarp();
        }
    }
}

/// Sum over the block, valid in thread 0. `shared` is [kWarpsPerBlock] words of shared memory, free again on return.
__device__ inline std::uint64_t block_sum(std::uint64_t value, std::uint64_t* shared) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(kAllLanes, value, offset);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    std::uint64_t sum = 0;
    if (threadIdx.x == 0) {
        for (int w = 0; w < kWarpsPerBlock; ++w) sum += shared[w];
    }
    __syncthreads();
    return sum;
}

}  // namespace gnntune::edge_walk

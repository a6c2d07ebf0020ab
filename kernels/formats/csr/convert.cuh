// Kernels of the conversions. out_ptr[i] = number of edges whose row is below i; the edges of row i stand at
// out_ptr[i] ... out_ptr[i + 1] - 1 in the order of the list, out_idx their columns, out_edge_id their names.
//
// Layout   all arrays int32, keys uint64, device memory; positions and offsets fit 31 bits (m <= 2^31 - 1).
// Work     one thread per edge or per row, or for kConvertRun edges of a block, consecutive threads on consecutive
//          entries; nothing depends on the degrees.
// Memory   no shared memory, no atomics: a result depends on the input alone.
#pragma once

#include <cstdint>

#include "kernels/formats/csr/edge_key.cuh"

namespace gnntune::formats {

inline constexpr int kConvertThreads = 256;
inline constexpr int kConvertRun = 4;  ///< edges of a thread whose loads are under way at once
inline constexpr int kConvertEdges = kConvertThreads * kConvertRun;

__device__ __forceinline__ std::int64_t convert_thread() {
    return blockIdx.x * static_cast<std::int64_t>(kConvertThreads) + threadIdx.x;
}

__global__ void positions_kernel(std::int32_t* __restrict__ positions, std::int64_t m) {
    const std::int64_t e = convert_thread();
    if (e < m) positions[e] = static_cast<std::int32_t>(e);
}

__global__ void unsorted_kernel(const std::int32_t* __restrict__ rows, std::int64_t m,
                                std::int32_t* __restrict__ unsorted) {
    const std::int64_t e = convert_thread();
    if (e + 1 < m && rows[e] > rows[e + 1]) *unsorted = 1;
}

/// Number of entries below `key` in the ascending list keys[0 ... m - 1].
__device__ __forceinline__ std::int32_t lower_bound(const std::int32_t* __restrict__ keys, std::int64_t m,
                                                    std::int64_t key) {
    std::int64_t low = 0;
    std::int64_t high = m;
    while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (__ldg(keys + middle) < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return static_cast<std::int32_t>(low);
}

/// All of the conversion of a list that ascends by row: thread t copies edge t and searches the begin of row t.
__global__ void in_order_kernel(const std::int32_t* __restrict__ rows, const std::int32_t* __restrict__ col_idx,
                                const std::int32_t* __restrict__ edge_id, std::int64_t m, std::int32_t n_rows,
                                std::int32_t* __restrict__ ptr, std::int32_t* __restrict__ idx,
                                std::int32_t* __restrict__ edge_id_out) {
    const std::int64_t t = convert_thread();
    if (t < m && idx) idx[t] = col_idx[t];
    if (t < m && edge_id_out) edge_id_out[t] = edge_id ? edge_id[t] : static_cast<std::int32_t>(t);
    if (t <= n_rows) ptr[t] = lower_bound(rows, m, t);
}

/// What follows a sort of pairs, in one launch: a block gathers the edges that came to kConvertEdges places, and thread
/// t searches the begin of row t. `order` [m] leads from the sorted list to the list; it may be `edge_id_out` itself,
/// where `edge_id` is null.
__global__ void finish_kernel(const std::int32_t* __restrict__ sorted_rows, const std::int32_t* order,
                              const std::int32_t* __restrict__ col_idx, const std::int32_t* __restrict__ edge_id,
                              std::int64_t m, std::int32_t n_rows, std::int32_t* __restrict__ ptr,
                              std::int32_t* __restrict__ idx, std::int32_t* edge_id_out) {
    const std::int64_t first = blockIdx.x * std::int64_t{kConvertEdges} + threadIdx.x;
    std::int32_t from[kConvertRun];
    std::int32_t col[kConvertRun];
    std::int32_t id[kConvertRun];
#pragma unroll
    for (int u = 0; u < kConvertRun; ++u) {
        const std::int64_t e = first + u * kConvertThreads;
        from[u] = e < m ? order[e] : -1;
    }
#pragma unroll
    for (int u = 0; u < kConvertRun; ++u) {
        col[u] = from[u] >= 0 ? __ldg(col_idx + from[u]) : 0;
        id[u] = from[u] >= 0 && edge_id ? __ldg(edge_id + from[u]) : 0;
    }
#pragma unroll
    for (int u = 0; u < kConvertRun; ++u) {
        const std::int64_t e = first + u * kConvertThreads;
        if (e >= m) continue;
        idx[e] = col[u];
        if (edge_id) edge_id_out[e] = id[u];
    }
    const std::int64_t t = convert_thread();
    if (t <= n_rows) ptr[t] = lower_bound(sorted_rows, m, t);
}

/// Keys of a list that is to be grouped by row.
__global__ void list_keys_kernel(const std::int32_t* __restrict__ rows, const std::int32_t* __restrict__ col_idx,
                                 const std::int32_t* __restrict__ edge_id, std::int64_t m, EdgeKeyBits bits,
                                 std::uint64_t* __restrict__ keys) {
    const std::int64_t first = blockIdx.x * std::int64_t{kConvertEdges} + threadIdx.x;
#pragma unroll
    for (int u = 0; u < kConvertRun; ++u) {
        const std::int64_t e = first + u * kConvertThreads;
        if (e < m) keys[e] = bits.key(rows[e], col_idx[e], edge_id ? edge_id[e] : static_cast<std::int32_t>(e));
    }
}

/// Keys of a CSR graph that is to be grouped by column. Blocks of edge_walk::kThreadsPerBlock threads, any number.
__global__ void __launch_bounds__(edge_walk::kThreadsPerBlock, 8)
    column_keys_kernel(const std::int32_t* __restrict__ row_ptr, const std::int32_t* __restrict__ col_idx,
                       const std::int32_t* __restrict__ edge_id, std::int32_t n_rows, std::int64_t m, EdgeKeyBits bits,
                       std::uint64_t* __restrict__ keys) {
    edge_walk::for_each_edge(row_ptr, col_idx, n_rows, 0, m, [&](std::int64_t e, std::int32_t row, std::int32_t col) {
        keys[e] = bits.key(col, row, edge_id ? __ldg(edge_id + e) : static_cast<std::int32_t>(e));
    });
}

/// Writes `at` as the begin of the rows from `from` to `to`; a warp together, all of its lanes call. Few rows are a
/// lane's own work, a run of empty ones that of the whole warp.
__device__ __forceinline__ void begin_rows(std::int32_t* __restrict__ ptr, std::int64_t from, std::int64_t to,
                                           std::int32_t at) {
    constexpr int kFew = 4;
    const bool many = to - from >= kFew;
    if (!many) {
        for (std::int64_t r = from; r <= to; ++r) ptr[r] = at;
    }
    for (unsigned left = __ballot_sync(0xffffffffU, many); left != 0; left &= left - 1) {
        const int lane = __ffs(static_cast<int>(left)) - 1;
        const std::int64_t last = __shfl_sync(0xffffffffU, to, lane);
        const std::int32_t begin = __shfl_sync(0xffffffffU, at, lane);
        std::int64_t r = __shfl_sync(0xffffffffU, from, lane) + threadIdx.x % 32;
        for (; r <= last; r += 32) ptr[r] = begin;
    }
}

/// What follows a sort of keys, in one launch: a block takes kConvertEdges sorted keys apart. The rows behind that of
/// the edge before begin at an edge, and the rows behind the last edge's, up to n_rows, at m: as if there were an edge
/// m.
__global__ void unpack_kernel(const std::uint64_t* __restrict__ keys, std::int64_t m, std::int32_t n_rows,
                              EdgeKeyBits bits, std::int32_t* __restrict__ ptr, std::int32_t* __restrict__ idx,
                              std::int32_t* __restrict__ edge_id_out) {
    const std::int64_t first = blockIdx.x * std::int64_t{kConvertEdges} + threadIdx.x;
    std::uint64_t key[kConvertRun];
    std::uint64_t before[kConvertRun];
#pragma unroll
    for (int u = 0; u < kConvertRun; ++u) {
        const std::int64_t e = first + u * kConvertThreads;
        key[u] = e < m ? __ldg(keys + e) : 0;
        before[u] = e > 0 && e <= m ? __ldg(keys + e - 1) : 0;
    }
#pragma unroll
    for (int u = 0; u < kConvertRun; ++u) {
        const std::int64_t e = first + u * kConvertThreads;
        if (e < m) {
            idx[e] = static_cast<std::int32_t>(kernels::low_bits(key[u] >> bits.id, bits.other));
            edge_id_out[e] = static_cast<std::int32_t>(kernels::low_bits(key[u], bits.id));
        }
        const std::int64_t row = e < m ? bits.group_of(key[u]) : n_rows;
        const std::int64_t from = e == 0 ? 0 : bits.group_of(before[u]) + std::int64_t{1};
        begin_rows(ptr, e <= m ? from : 1, e <= m ? row : 0, static_cast<std::int32_t>(e));
    }
}

/// Rows written out. Blocks of edge_walk::kThreadsPerBlock threads, any number; columns are not read.
__global__ void __launch_bounds__(edge_walk::kThreadsPerBlock, 8)
    expand_kernel(const std::int32_t* __restrict__ row_ptr, const std::int32_t* __restrict__ col_idx,
                  std::int32_t n_rows, std::int64_t m, std::int32_t* __restrict__ rows) {
    edge_walk::for_each_edge(row_ptr, col_idx, n_rows, 0, m,
                             [&](std::int64_t e, std::int32_t row, std::int32_t) { rows[e] = row; });
}

}  // namespace gnntune::formats

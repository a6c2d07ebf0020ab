// Kernels of the conversions. out_ptr[i] = number of edges whose row is below i; the edges of row i stand at
// out_ptr[i] ... out_ptr[i + 1] - 1 in the order of the list, out_idx their columns, out_edge_id their names.
//
// Layout   all arrays int32, device memory; positions and offsets fit 31 bits (m <= 2^31 - 1).
// Work     one thread per edge or per row, consecutive threads on consecutive entries; nothing depends on the degrees.
// Memory   no shared memory, no atomics: a result depends on the input alone.
#pragma once

#include <cstdint>

namespace gnntune::formats {

inline constexpr int kConvertThreads = 256;

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

/// What follows a sort, in one launch: thread t gathers the edge that came to t, and searches the begin of row t.
/// `order` [m] leads from the sorted list to the list; it may be `edge_id_out` itself, where `edge_id` is null.
__global__ void finish_kernel(const std::int32_t* __restrict__ sorted_rows, const std::int32_t* order,
                              const std::int32_t* __restrict__ col_idx, const std::int32_t* __restrict__ edge_id,
                              std::int64_t m, std::int32_t n_rows, std::int32_t* __restrict__ ptr,
                              std::int32_t* __restrict__ idx, std::int32_t* edge_id_out) {
    const std::int64_t t = convert_thread();
    if (t < m) {
        const std::int32_t e = order[t];
        idx[t] = __ldg(col_idx + e);
        if (edge_id) edge_id_out[t] = __ldg(edge_id + e);
    }
    if (t <= n_rows) ptr[t] = lower_bound(sorted_rows, m, t);
}

/// One edge per thread; its row is the last one that starts at or before it (binary search in row_ptr, which is small
/// enough to stay in L2).
__global__ void expand_kernel(const std::int32_t* __restrict__ row_ptr, std::int32_t n_rows, std::int64_t m,
                              std::int32_t* __restrict__ rows) {
    const std::int64_t e = convert_thread();
    if (e >= m) return;
    std::int32_t low = 0;
    std::int32_t high = n_rows;
    while (high - low > 1) {
        const std::int32_t middle = low + (high - low) / 2;
        if (__ldg(row_ptr + middle) <= e) {
            low = middle;
        } else {
            high = middle;
        }
    }
    rows[e] = low;
}

}  // namespace gnntune::formats

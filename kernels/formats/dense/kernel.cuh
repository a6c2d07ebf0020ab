// Kernels that build the dense formats. One thread per edge or per cell; preparing only.
#pragma once

#include <cstdint>

namespace gnntune::formats {

inline constexpr int kDenseThreads = 256;

__device__ __forceinline__ std::int64_t dense_index() {
    return blockIdx.x * static_cast<std::int64_t>(kDenseThreads) + threadIdx.x;
}

/// counts[row, col] += 1 for every edge: integers, so the order is of no account.
static __global__ void count_edges(const std::int32_t* __restrict__ rows, const std::int32_t* __restrict__ cols,
                                   std::int64_t m, std::int64_t stride, std::int32_t* __restrict__ counts) {
    const std::int64_t e = dense_index();
    if (e < m) atomicAdd(counts + rows[e] * stride + cols[e], 1);
}

/// values[i] = the integer whose bits stand there; *largest becomes the largest of them and itself.
static __global__ void counts_to_floats(float* __restrict__ values, std::int64_t cells, std::int32_t* largest) {
    const std::int64_t i = dense_index();
    if (i >= cells) return;
    const std::int32_t count = __float_as_int(values[i]);
    values[i] = static_cast<float>(count);
    // Looked at first, so that few threads meet at the one address.
    if (count > *static_cast<volatile std::int32_t*>(largest)) atomicMax(largest, count);
}

/// cells[e] = the cell of edge e.
static __global__ void cells_of_edges(const std::int32_t* __restrict__ rows, const std::int32_t* __restrict__ cols,
                                      std::int64_t m, std::int64_t stride, std::uint64_t* __restrict__ cells) {
    const std::int64_t e = dense_index();
    if (e < m) cells[e] = static_cast<std::uint64_t>(rows[e] * stride + cols[e]);
}

}  // namespace gnntune::formats

// Edge values from the caller's order to a format's order. One thread per edge; the reads, which follow `edge_id`, are
// scattered, the writes coalesced.
#pragma once

#include <cstdint>

namespace gnntune::kernels {

inline constexpr int kPermuteThreads = 256;

/// out[e] = in[edge_id[e]]; elements are moved as they are.
template <typename T>
__global__ void gather_values(const T* __restrict__ in, const std::int32_t* __restrict__ edge_id, std::int64_t m,
                              T* __restrict__ out) {
    const std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kPermuteThreads) + threadIdx.x;
    if (e < m) out[e] = in[edge_id[e]];
}

/// out[e] = value
template <typename T>
__global__ void fill_values(T* __restrict__ out, std::int64_t m, T value) {
    const std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kPermuteThreads) + threadIdx.x;
    if (e < m) out[e] = value;
}

inline unsigned permute_blocks(std::int64_t m) {
    return static_cast<unsigned>((m + kPermuteThreads - 1) / kPermuteThreads);
}

}  // namespace gnntune::kernels

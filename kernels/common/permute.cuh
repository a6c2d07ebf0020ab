// Edge values between the caller's order and a format's order. One thread per edge; the reads or writes that follow
// `edge_id` are scattered, the others coalesced.
#pragma once

#include <cstdint>

namespace gnntune::kernels {

inline constexpr int kPermuteThreads = 256;

/// out[e] = in[edge_id[e]]
[[maybe_unused]] static __global__ void gather_values(const float* __restrict__ in, const std::int32_t* __restrict__ edge_id,
                                     std::int64_t m, float* __restrict__ out) {
    const std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kPermuteThreads) + threadIdx.x;
    if (e < m) out[e] = in[edge_id[e]];
}

/// out[edge_id[e]] = in[e]
[[maybe_unused]] static __global__ void scatter_values(const float* __restrict__ in, const std::int32_t* __restrict__ edge_id,
                                      std::int64_t m, float* __restrict__ out) {
    const std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kPermuteThreads) + threadIdx.x;
    if (e < m) out[edge_id[e]] = in[e];
}

/// out[e] = 1
[[maybe_unused]] static __global__ void fill_ones(float* __restrict__ out, std::int64_t m) {
    const std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kPermuteThreads) + threadIdx.x;
    if (e < m) out[e] = 1.0F;
}

inline unsigned permute_blocks(std::int64_t m) {
    return static_cast<unsigned>((m + kPermuteThreads - 1) / kPermuteThreads);
}

}  // namespace gnntune::kernels

// What the kernels of runs.cuh do with a block's keys: the order of digits, owners of places.
// All threads of a block call; a result in shared memory is seen by all.
#pragma once

#include <cstdint>

#include "kernels/formats/csr/block_sums.cuh"

namespace gnntune::formats::by_run {

inline constexpr int kSums = 32;  ///< numbers of shared memory that exclusive_sums() and find_owners() need

/// Place of this thread's u-th key in a chunk: of a warp's 32 KEYS consecutive ones.
template <int KEYS>
__device__ __forceinline__ int key_place(int u) {
    return static_cast<int>(threadIdx.x) / 32 * (32 * KEYS) + u * 32 + static_cast<int>(threadIdx.x) % 32;
}

/// Where each of a chunk's keys stands in the order of their digits, stable; digits of -1 are not there. `local`
/// [digits + 1] says where each digit begins. `counts` [warps, digits] are free again as soon as every thread has
/// returned: the caller synchronises before it writes there. THREADS is a multiple of 256.
template <int THREADS, int KEYS>
__device__ __forceinline__ void rank_chunk(std::uint16_t* counts, std::int32_t* local, std::int32_t* sums, int digits,
                                           const int (&digit)[KEYS], int (&place)[KEYS]) {
    constexpr int kWarps = THREADS / 32;
    constexpr int kLoads = 8;
    const unsigned below = (1U << threadIdx.x % 32) - 1U;
    std::uint16_t* own = counts + static_cast<int>(threadIdx.x) / 32 * digits;
    auto* words = reinterpret_cast<std::uint32_t*>(counts);  // two counters each
    for (int i = static_cast<int>(threadIdx.x); i < kWarps / 2 * digits; i += THREADS) words[i] = 0;
    unsigned same[KEYS];
#pragma unroll
    for (int u = 0; u < KEYS; ++u) same[u] = __match_any_sync(kWarp, digit[u]);
    __syncthreads();
#pragma unroll
    for (int u = 0; u < KEYS; ++u) {
        const int before = __popc(same[u] & below);
        int counted = 0;
        if (digit[u] >= 0) counted = own[digit[u]];
        __syncwarp();
        if (digit[u] >= 0 && before == 0) own[digit[u]] = static_cast<std::uint16_t>(counted + __popc(same[u]));
        __syncwarp();
        place[u] = counted + before;
    }
    __syncthreads();
    for (int d = static_cast<int>(threadIdx.x); d < digits; d += THREADS) {
        std::int32_t sum = 0;
#pragma unroll
        for (int first = 0; first < kWarps; first += kLoads) {
            std::int32_t counted[kLoads];
#pragma unroll
            for (int u = 0; u < kLoads; ++u) counted[u] = counts[(first + u) * digits + d];
#pragma unroll
            for (int u = 0; u < kLoads; ++u) {
                counts[(first + u) * digits + d] = static_cast<std::uint16_t>(sum);
                sum += counted[u];
            }
        }
        local[d] = sum;
    }
    if (threadIdx.x == 0) local[digits] = 0;
    exclusive_sums<THREADS>(local, digits + 1, sums);
#pragma unroll
    for (int u = 0; u < KEYS; ++u) {
        if (digit[u] >= 0) place[u] += local[digit[u]] + own[digit[u]];
    }
}

/// marks[i] becomes 0 for every place of a chunk; the caller synchronises.
template <int THREADS, int KEYS>
__device__ __forceinline__ void clear_marks(std::int32_t* marks) {
    auto* vectors = reinterpret_cast<int4*>(marks);
#pragma unroll
    for (int u = 0; u < KEYS / 4; ++u) vectors[u * THREADS + threadIdx.x] = int4{0, 0, 0, 0};
}

/// Of each of this thread's places the largest mark at it or before it. The caller has synchronised behind the marks.
template <int THREADS, int KEYS>
__device__ __forceinline__ void find_owners(const std::int32_t* marks, std::int32_t* sums,
                                            std::int32_t (&owner)[KEYS]) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    std::int32_t most = 0;
#pragma unroll
    for (int u = 0; u < KEYS; ++u) {
        owner[u] = marks[key_place<KEYS>(u)];
        most = max(most, owner[u]);
    }
    most = warp_max(most);
    if (lane == 0) sums[warp] = most;
    __syncthreads();
    std::int32_t before = warp_max(lane < warp ? sums[lane] : 0);
#pragma unroll
    for (int u = 0; u < KEYS; ++u) {
#pragma unroll
        for (int offset = 1; offset < 32; offset *= 2) {
            const std::int32_t other = __shfl_up_sync(kWarp, owner[u], offset);
            if (lane >= offset) owner[u] = max(owner[u], other);
        }
        owner[u] = max(owner[u], before);
        before = __shfl_sync(kWarp, owner[u], 31);
    }
}

}  // namespace gnntune::formats::by_run

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

/// Counters of a warp, in whole words of two.
__host__ __device__ constexpr int counters_of(int digits) {
    return (digits + 1) / 2 * 2;
}

/// Distinct digits among a warp's first keys from which on votes on the digits' bits cost less than matches.
inline constexpr int kManyDigits = 6;

/// Which lanes have the same u-th digit as this one, for every u; digits are below `digits`, or -1. A match costs the more
/// the more digits it tells apart, votes cost the same. Where the first match finds many and MANY is set, votes follow.
template <bool MANY, int KEYS>
__device__ __forceinline__ void find_same(const int (&digit)[KEYS], int digits, unsigned (&same)[KEYS]) {
    same[0] = __match_any_sync(kWarp, digit[0]);
    if constexpr (MANY) {
        const int first = __ffs(static_cast<int>(same[0])) - 1;
        const bool leads = first == static_cast<int>(threadIdx.x) % 32;
        if (__popc(__ballot_sync(kWarp, leads)) > kManyDigits) {
#pragma unroll
            for (int u = 1; u < KEYS; ++u) same[u] = kWarp;
            const int bits = 32 - __clz(digits);  // of -1 all of them are set, of no digit
            for (int b = 0; b < bits; ++b) {
#pragma unroll
                for (int u = 1; u < KEYS; ++u) {
                    const bool is_set = (digit[u] >> b & 1) != 0;
                    const unsigned set = __ballot_sync(kWarp, is_set);
                    same[u] &= is_set ? set : ~set;
                }
            }
            return;
        }
    }
#pragma unroll
    for (int u = 1; u < KEYS; ++u) same[u] = __match_any_sync(kWarp, digit[u]);
}

/// Where each of a chunk's keys stands in the order of their digits, stable; digits of -1 are not there. MANY as above. `local`
/// [digits + 1] says where each digit begins. `counts` [warps, counters_of(digits)], aligned to 16 bytes, are free again
/// as soon as every thread has returned: the caller synchronises before it writes there. THREADS is a multiple of 256.
template <bool MANY, int THREADS, int KEYS>
__device__ __forceinline__ void rank_chunk(std::uint16_t* counts, std::int32_t* local, std::int32_t* sums, int digits,
                                           const int (&digit)[KEYS], int (&place)[KEYS]) {
    constexpr int kWarps = THREADS / 32;
    constexpr int kLoads = 8;
    const unsigned below = (1U << threadIdx.x % 32) - 1U;
    const int pairs = counters_of(digits) / 2;
    std::uint16_t* own = counts + static_cast<int>(threadIdx.x) / 32 * (2 * pairs);
    auto* vectors = reinterpret_cast<int4*>(counts);
    for (int i = static_cast<int>(threadIdx.x); i < kWarps / 4 * pairs; i += THREADS) vectors[i] = int4{0, 0, 0, 0};
    unsigned same[KEYS];
    find_same<MANY>(digit, digits, same);
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
    // Two counters at once: no sum of theirs is over 16 bits.
    auto* words = reinterpret_cast<std::uint32_t*>(counts);
    for (int p = static_cast<int>(threadIdx.x); p < pairs; p += THREADS) {
        std::uint32_t sum = 0;
#pragma unroll
        for (int first = 0; first < kWarps; first += kLoads) {
            std::uint32_t counted[kLoads];
#pragma unroll
            for (int u = 0; u < kLoads; ++u) counted[u] = words[(first + u) * pairs + p];
#pragma unroll
            for (int u = 0; u < kLoads; ++u) {
                words[(first + u) * pairs + p] = sum;
                sum += counted[u];
            }
        }
        local[2 * p] = static_cast<std::int32_t>(sum & 0xffffU);
        if (2 * p + 1 < digits) local[2 * p + 1] = static_cast<std::int32_t>(sum >> 16);
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

/// Of each of this thread's places the last mark at it or before it, 0 where there is none. Marks that are not 0 rise
/// with the places. The caller has synchronised behind them.
template <int KEYS>
__device__ __forceinline__ void find_owners(const std::int32_t* marks, std::int32_t* sums,
                                            std::int32_t (&owner)[KEYS]) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const unsigned upto = kWarp >> (31 - lane);
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
        const unsigned marked = __ballot_sync(kWarp, owner[u] != 0);
        const unsigned here = marked & upto;
        const std::int32_t nearest = __shfl_sync(kWarp, owner[u], (31 - __clz(static_cast<int>(here))) & 31);
        const std::int32_t last = __shfl_sync(kWarp, owner[u], (31 - __clz(static_cast<int>(marked))) & 31);
        owner[u] = here != 0 ? nearest : before;
        if (marked != 0) before = last;
    }
}

}  // namespace gnntune::formats::by_run

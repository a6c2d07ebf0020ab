// A block's keys in the order of one of their digits, stable, in shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/formats/csr/block_sums.cuh"

namespace gnntune::formats::by_bucket {

/// A block's shared memory, cut up.
template <int THREADS, int KEYS>
struct ChunkMemory {
    static constexpr int kWarps = THREADS / 32;
    static constexpr int kChunk = KEYS * THREADS;

    std::uint64_t* keys;    ///< [kChunk]
    std::int32_t* starts;   ///< [digits + 1]
    std::int32_t* local;    ///< [digits] where a digit's keys begin among the chunk's
    std::int32_t* out;      ///< [digits] what makes a place in the chunk one in the output
    std::int32_t* sums;     ///< [kWarps]
    std::uint16_t* counts;  ///< [kWarps, digits] keys of a digit that a warp has, then those of the warps before

    __host__ __device__ static std::size_t bytes(int digits) {
        return sizeof(std::uint64_t) * kChunk +
               sizeof(std::int32_t) * (3 * static_cast<std::size_t>(digits) + 1 + kWarps) +
               sizeof(std::uint16_t) * kWarps * static_cast<std::size_t>(digits);
    }
    __device__ __forceinline__ ChunkMemory(void* memory, int digits)
        : keys(static_cast<std::uint64_t*>(memory)),
          starts(reinterpret_cast<std::int32_t*>(keys + kChunk)),
          local(starts + digits + 1),
          out(local + digits),
          sums(out + digits),
          counts(reinterpret_cast<std::uint16_t*>(sums + kWarps)) {}
};

/// Place of this thread's u-th key in a chunk: of a warp's 32 KEYS consecutive ones.
template <int KEYS>
__device__ __forceinline__ int key_place(int u) {
    return static_cast<int>(threadIdx.x) / 32 * (32 * KEYS) + u * 32 + static_cast<int>(threadIdx.x) % 32;
}

/// Puts a chunk's `count` keys into shared memory in the order of their digits, stable; `local` says where each digit
/// begins. All threads call; the result is seen by all.
template <int THREADS, int KEYS, typename Digit>
__device__ __forceinline__ void order_chunk(const ChunkMemory<THREADS, KEYS>& memory, int digits, int count,
                                            const std::uint64_t (&key)[KEYS], Digit digit_of) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const unsigned below = (1U << threadIdx.x % 32) - 1U;
    std::uint16_t* own = memory.counts + warp * digits;
    __syncthreads();
    auto* words = reinterpret_cast<std::uint32_t*>(memory.counts);  // two counters each, of an even number of warps
    for (int i = static_cast<int>(threadIdx.x); i < ChunkMemory<THREADS, KEYS>::kWarps / 2 * digits; i += THREADS) {
        words[i] = 0;
    }
    __syncthreads();
    std::int32_t rank[KEYS];
#pragma unroll
    for (int u = 0; u < KEYS; ++u) {
        const bool here = key_place<KEYS>(u) < count;
        const int digit = here ? digit_of(key[u]) : -1;
        const unsigned same = __match_any_sync(kWarp, digit);
        const int before = __popc(same & below);
        int counted = 0;
        if (here) counted = own[digit];
        __syncwarp();
        if (here && before == 0) own[digit] = static_cast<std::uint16_t>(counted + __popc(same));
        __syncwarp();
        rank[u] = counted + before;
    }
    __syncthreads();
    for (int d = static_cast<int>(threadIdx.x); d < digits; d += THREADS) {
        std::int32_t sum = 0;
#pragma unroll
        for (int w = 0; w < ChunkMemory<THREADS, KEYS>::kWarps; ++w) {
            const std::uint16_t counted = memory.counts[w * digits + d];
            memory.counts[w * digits + d] = static_cast<std::uint16_t>(sum);
            sum += counted;
        }
        memory.local[d] = sum;
    }
    exclusive_sums<THREADS>(memory.local, digits, memory.sums);
#pragma unroll
    for (int u = 0; u < KEYS; ++u) {
        if (key_place<KEYS>(u) >= count) continue;
        const int digit = digit_of(key[u]);
        memory.keys[memory.local[digit] + own[digit] + rank[u]] = key[u];
    }
    __syncthreads();
}

}  // namespace gnntune::formats::by_bucket

// Edges grouped by row, or those of a CSR by column: a stable counting sort by two digits of the group, high one first,
// that needs no offsets in between. What has the same high digit is a bucket, a range of groups.
//
//   begin    totals of buckets cleared; of a CSR, the row of every chunk's first edge
//   split    a chunk of edges as keys, ordered by bucket in shared memory, written back as a whole, with a table of where
//            each bucket's keys begin in it: its run. Lengths are added to the buckets' totals
//   count    where there are very long buckets alone: the low digits of each of their parts
//   part     a bucket, or a part of a long one: its runs gathered in the order of their chunks, ordered by the low digit
//            in shared memory, taken apart
//
// Layout   all arrays int32, keys uint64, the table uint16, device memory; m <= 2^24.
// Work     block -> chunk of KEYS THREADS edges, or part; warp -> 32 KEYS consecutive ones, lane -> every 32nd.
// Order    stable: the rank of an edge among those of its digit is that among its warp's (a vote of who has the same, on
//          top of what the warp has counted before), behind those of the warps and chunks before it.
// Atomics  of whole numbers alone: a result depends on the input alone.
// Shared   a chunk of keys, under which counters of 16 bits for each warp and digit and the marks of runs lie that are no
//          longer needed when keys come; two numbers for each low digit, two for each chunk.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/common/chained.cuh"
#include "kernels/common/edge_keys.cuh"
#include "kernels/formats/csr/edge_sources.cuh"
#include "kernels/formats/csr/sort_chunk.cuh"

namespace gnntune::formats::by_run {

inline constexpr int kMostDigitBits = 11;  ///< of either digit
inline constexpr int kBeginThreads = 256;
inline constexpr int kResidentThreads = 1024;  ///< that an SM is to hold: 64 registers each

struct RunShape {
    int other_bits;  ///< a key: low digit of the group, other end, place in the caller's order
    int id_bits;
    int shift;            ///< bits of the low digit
    int buckets;          ///< values of the high digit
    std::int32_t groups;  ///< rows or columns
    std::int64_t m;
    int chunks;
    int chunk_bits;  ///< `split` has chunks of 2^chunk_bits edges
    int part_bits;   ///< `part` has parts of 2^part_bits
    int few;         ///< of buckets of more parts than that `count` has counted the digits

    __host__ __device__ int low() const { return 1 << shift; }
    __host__ __device__ int part() const { return 1 << part_bits; }
    __host__ __device__ bool counts() const { return m > std::int64_t{few} << part_bits; }
    /// Places of parts, of all buckets: a bucket's begin at slot(), before those of the next.
    __host__ __device__ int slots() const { return static_cast<int>(m >> part_bits) + buckets + 1; }
    __device__ __forceinline__ int slot(std::int32_t start, int bucket) const { return (start >> part_bits) + bucket; }
    /// Rows of counts for parts of buckets that have several: a bucket's begin at count_row(). Its length is x > 1
    /// parts, of which 2 x rounded down are at least x rounded up.
    __host__ __device__ std::int64_t count_rows() const { return counts() ? (2 * m >> part_bits) + 2 : 0; }
    __device__ __forceinline__ std::int64_t count_row(std::int32_t start) const {
        return 2 * static_cast<std::int64_t>(start) >> part_bits;
    }
    __device__ __forceinline__ std::uint64_t key(std::int32_t group, std::int32_t other, std::int32_t id) const {
        const auto low_digit = static_cast<std::uint64_t>(group & (low() - 1));
        return (low_digit << other_bits | static_cast<std::uint64_t>(other)) << id_bits |
               static_cast<std::uint64_t>(id);
    }
    __device__ __forceinline__ int low_of(std::uint64_t key) const {
        return static_cast<int>(key >> (other_bits + id_bits));
    }
};

struct RunArrays {
    std::uint64_t* keys;      ///< [m] chunk by chunk, by bucket in each
    std::uint16_t* table;     ///< [chunks, buckets + 1] where a bucket's run begins in its chunk
    std::int32_t* totals;     ///< [buckets]
    std::int32_t* first_row;  ///< [chunks + 1] row of a chunk's first edge, of a CSR
    std::int32_t* parts;      ///< [count_rows, low] counts of parts of buckets that have many
};

__host__ __device__ constexpr std::size_t larger(std::size_t a, std::size_t b) {
    return a > b ? a : b;
}

/// Shared memory of `split`: keys over counters over marks, then the begins of buckets.
template <int THREADS, int KEYS>
struct SplitMemory {
    static constexpr int kChunk = KEYS * THREADS;
    static constexpr int kWarps = THREADS / 32;

    __host__ __device__ static std::size_t over(int buckets) {
        return (larger(sizeof(std::uint64_t) * kChunk, sizeof(std::uint16_t) * kWarps * counters_of(buckets)) + 15) /
               16 * 16;
    }
    __host__ __device__ static std::size_t bytes(int buckets) {
        return over(buckets) + sizeof(std::int32_t) * (static_cast<std::size_t>(buckets) + 1 + kSums);
    }
};

/// Shared memory of `count` and `part`: keys over counters over marks over the begins of buckets, then what is of low
/// digits and of chunks.
template <int THREADS, int KEYS>
struct PartMemory {
    static constexpr int kPart = KEYS * THREADS;
    static constexpr int kWarps = THREADS / 32;

    void* over;            ///< [kPart] keys
    std::int32_t* found;   ///< [4] the bucket of this block, where it starts, its size
    std::int32_t* sums;    ///< [kSums]
    std::int32_t* local;   ///< [low + 1] where a digit's keys begin among the part's
    std::int32_t* begins;  ///< [low] where they begin among the bucket's, if that has several parts
    std::int32_t* out;     ///< [low] what makes a place in the part one in the bucket, likewise
    std::int32_t* prefix;  ///< [chunks + 1] where a run begins in the bucket
    std::int32_t* from;    ///< [chunks] what makes a place in the bucket one among all keys

    __host__ __device__ static std::size_t over_bytes(const RunShape& s) {
        const std::size_t counters = sizeof(std::uint16_t) * kWarps * counters_of(s.low());
        const std::size_t starts = sizeof(std::int32_t) * (static_cast<std::size_t>(s.buckets) + 1);
        return (larger(sizeof(std::uint64_t) * kPart, larger(counters, starts)) + 15) / 16 * 16;
    }
    __host__ __device__ static std::size_t bytes(const RunShape& s) {
        return over_bytes(s) + sizeof(std::int32_t) * (4 + kSums + 3 * static_cast<std::size_t>(s.low()) + 1 +
                                                       2 * static_cast<std::size_t>(s.chunks) + 1);
    }
    __device__ __forceinline__ PartMemory(unsigned char* memory, const RunShape& s)
        : over(memory),
          found(reinterpret_cast<std::int32_t*>(memory + over_bytes(s))),
          sums(found + 4),
          local(sums + kSums),
          begins(local + s.low() + 1),
          out(begins + s.low()),
          prefix(out + s.low()),
          from(prefix + s.chunks + 1) {}
    __device__ __forceinline__ std::uint64_t* keys() const { return static_cast<std::uint64_t*>(over); }
    __device__ __forceinline__ std::int32_t* marks() const { return static_cast<std::int32_t*>(over); }
    __device__ __forceinline__ std::int32_t* starts() const { return static_cast<std::int32_t*>(over); }
    __device__ __forceinline__ std::uint16_t* counts() const { return static_cast<std::uint16_t*>(over); }
};

/// Thread -> bucket; of a CSR, thread -> row as well.
template <typename Source>
__global__ void __launch_bounds__(kBeginThreads)
    run_begin_kernel(const __grid_constant__ RunShape s, const __grid_constant__ Source source,
                     const __grid_constant__ RunArrays a) {
    kernels::let_next_begin();
    const std::int64_t t = std::int64_t{blockIdx.x} * kBeginThreads + threadIdx.x;
    if (t < s.buckets) a.totals[t] = 0;
    if constexpr (Source::kFindsRows) {
        if (t >= source.n_rows) return;
        const std::int64_t end = __ldg(source.row_ptr + t + 1);
        std::int64_t chunk = (std::int64_t{__ldg(source.row_ptr + t)} + (1 << s.chunk_bits) - 1) >> s.chunk_bits;
        for (; chunk << s.chunk_bits < end; ++chunk) a.first_row[chunk] = static_cast<std::int32_t>(t);
        if (t + 1 == source.n_rows) a.first_row[s.chunks] = static_cast<std::int32_t>(t);
    }
}

template <int THREADS, int KEYS, typename Source>
__global__ void __launch_bounds__(THREADS, kResidentThreads / THREADS)
    run_split_kernel(const __grid_constant__ RunShape s, const __grid_constant__ Source source,
                     const __grid_constant__ RunArrays a) {
    using Memory = SplitMemory<THREADS, KEYS>;
    constexpr int kChunk = Memory::kChunk;
    extern __shared__ uint4 run_memory[];
    auto* memory = reinterpret_cast<unsigned char*>(run_memory);
    auto* keys = reinterpret_cast<std::uint64_t*>(memory);
    auto* marks = reinterpret_cast<std::int32_t*>(memory);
    auto* local = reinterpret_cast<std::int32_t*>(memory + Memory::over(s.buckets));
    std::int32_t* sums = local + s.buckets + 1;
    kernels::let_next_begin();
    const std::int64_t e0 = std::int64_t{blockIdx.x} * kChunk;
    const int count = static_cast<int>(min(std::int64_t{kChunk}, s.m - e0));
    std::int32_t group[KEYS];
    std::int32_t other[KEYS];
    std::int32_t id[KEYS];
    load_edges(
        source, e0, count, [](int u) { return key_place<KEYS>(u); }, group, other, id);
    int place[KEYS];
    {
        int digit[KEYS];
#pragma unroll
        for (int u = 0; u < KEYS; ++u) digit[u] = group[u] < 0 ? -1 : group[u] >> s.shift;
        rank_chunk<true, THREADS>(reinterpret_cast<std::uint16_t*>(memory), local, sums, s.buckets, digit, place);
    }
    __syncthreads();
    kernels::wait_for_previous();
    if constexpr (Source::kFindsRows) {
        // A row marks its first edge; of rows that begin there the last has edges. Rows behind the chunk's first one
        // begin behind e0.
        const std::int32_t first = a.first_row[blockIdx.x];
        const std::int32_t last = a.first_row[blockIdx.x + 1];
        clear_marks<THREADS, KEYS>(marks);
        __syncthreads();
        if (threadIdx.x == 0) marks[0] = first;
#pragma unroll 4
        for (std::int64_t r = std::int64_t{first} + 1 + threadIdx.x; r <= last; r += THREADS) {
            const std::int64_t at = __ldg(source.row_ptr + r) - e0;
            if (at < count) atomicMax(marks + at, static_cast<std::int32_t>(r));
        }
        __syncthreads();
        find_owners(marks, sums, other);
        __syncthreads();
    }
#pragma unroll
    for (int u = 0; u < KEYS; ++u) {
        if (group[u] >= 0) keys[place[u]] = s.key(group[u], other[u], id[u]);
    }
    std::uint16_t* table = a.table + std::int64_t{blockIdx.x} * (s.buckets + 1);
    for (int b = static_cast<int>(threadIdx.x); b <= s.buckets; b += THREADS) {
        const std::int32_t begin = local[b];
        table[b] = static_cast<std::uint16_t>(begin);
        if (b < s.buckets && local[b + 1] > begin) atomicAdd(a.totals + b, local[b + 1] - begin);
    }
    __syncthreads();
    std::uint64_t* to = a.keys + e0;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += THREADS) to[i] = keys[i];
}

/// Where every bucket starts, into shared memory; returns the size of the longest of those that this thread has seen.
template <int THREADS>
__device__ __forceinline__ std::int32_t find_starts(const RunShape& s, const RunArrays& a, std::int32_t* starts,
                                                    std::int32_t* sums) {
    std::int32_t most = 0;
    for (int b = static_cast<int>(threadIdx.x); b <= s.buckets; b += THREADS) {
        const std::int32_t size = b < s.buckets ? a.totals[b] : 0;
        starts[b] = size;
        most = max(most, size);
    }
    exclusive_sums<THREADS>(starts, s.buckets + 1, sums);
    return most;
}

/// The bucket whose parts are at `slot` and before the next one's, from its starts: number, start and size into `found`.
template <int THREADS>
__device__ __forceinline__ void find_bucket(const RunShape& s, const std::int32_t* starts, int slot,
                                            std::int32_t* found) {
    for (int b = static_cast<int>(threadIdx.x); b < s.buckets; b += THREADS) {
        const std::int32_t start = starts[b];
        const std::int32_t end = starts[b + 1];
        if (s.slot(start, b) <= slot && (b + 1 == s.buckets || s.slot(end, b + 1) > slot)) {
            found[0] = b;
            found[1] = start;
            found[2] = end - start;
        }
    }
    __syncthreads();
}

/// Where a bucket's runs begin: prefix and from of `memory`.
template <int THREADS, int KEYS>
__device__ __forceinline__ void find_runs(const RunShape& s, const RunArrays& a,
                                          const PartMemory<THREADS, KEYS>& memory, int bucket) {
    const std::uint16_t* table = a.table + bucket;
#pragma unroll 2
    for (int c = static_cast<int>(threadIdx.x); c < s.chunks; c += THREADS) {
        const std::uint16_t* run = table + std::int64_t{c} * (s.buckets + 1);
        const std::int32_t begin = run[0];
        memory.prefix[c] = run[1] - begin;
        memory.from[c] = (c << s.chunk_bits) + begin;
    }
    if (threadIdx.x == 0) memory.prefix[s.chunks] = 0;
    exclusive_sums<THREADS>(memory.prefix, s.chunks + 1, memory.sums);
    for (int c = static_cast<int>(threadIdx.x); c < s.chunks; c += THREADS) memory.from[c] -= memory.prefix[c];
}

/// Keys of places `first` to first + count - 1 of a bucket whose runs have been found.
template <int THREADS, int KEYS>
__device__ __forceinline__ void gather_part(const RunShape& s, const RunArrays& a,
                                            const PartMemory<THREADS, KEYS>& memory, int first, int count,
                                            std::uint64_t (&key)[KEYS]) {
    std::int32_t* marks = memory.marks();
    clear_marks<THREADS, KEYS>(marks);
    __syncthreads();
    for (int c = static_cast<int>(threadIdx.x); c < s.chunks; c += THREADS) {
        const std::int32_t begin = memory.prefix[c];
        const std::int32_t end = memory.prefix[c + 1];
        if (begin == end || end <= first || begin >= first + count) continue;
        marks[max(begin - first, 0)] = c;
    }
    __syncthreads();
    std::int32_t run[KEYS];
    find_owners(marks, memory.sums, run);
#pragma unroll
    for (int u = 0; u < KEYS; ++u) {
        const int i = key_place<KEYS>(u);
        key[u] = i < count ? a.keys[memory.from[run[u]] + first + i] : 0;
    }
    __syncthreads();
}

/// Low digits of every part of a bucket that has more than `few`. Any number of blocks.
template <int THREADS, int KEYS>
__global__ void __launch_bounds__(THREADS, kResidentThreads / THREADS)
    run_count_kernel(const __grid_constant__ RunShape s, const __grid_constant__ RunArrays a) {
    constexpr int kPart = KEYS * THREADS;
    extern __shared__ uint4 run_memory[];
    const PartMemory<THREADS, KEYS> memory(reinterpret_cast<unsigned char*>(run_memory), s);
    kernels::let_next_begin();
    kernels::wait_for_previous();
    for (int slot = static_cast<int>(blockIdx.x); slot < s.slots(); slot += static_cast<int>(gridDim.x)) {
        const std::int32_t most = find_starts<THREADS>(s, a, memory.starts(), memory.sums);
        if (!__syncthreads_or(most > s.few * kPart)) return;
        find_bucket<THREADS>(s, memory.starts(), slot, memory.found);
        const int bucket = memory.found[0];
        const std::int32_t start = memory.found[1];
        const std::int32_t size = memory.found[2];
        const int part = slot - s.slot(start, bucket);
        const bool here = size > s.few * kPart && part < (size + kPart - 1) / kPart;
        __syncthreads();
        if (!here) continue;
        find_runs(s, a, memory, bucket);
        const int count = min(kPart, size - part * kPart);
        std::uint64_t key[KEYS];
        gather_part(s, a, memory, part * kPart, count, key);
        for (int d = static_cast<int>(threadIdx.x); d < s.low(); d += THREADS) memory.local[d] = 0;
        __syncthreads();
#pragma unroll
        for (int u = 0; u < KEYS; ++u) {
            if (key_place<KEYS>(u) < count) atomicAdd(memory.local + s.low_of(key[u]), 1);
        }
        __syncthreads();
        std::int32_t* to = a.parts + ((s.count_row(start) + part) << s.shift);
        for (int d = static_cast<int>(threadIdx.x); d < s.low(); d += THREADS) to[d] = memory.local[d];
        __syncthreads();
    }
}

/// Where the digits of a part begin among those of its bucket of `parts`, and in the bucket: begins and out of `memory`.
template <int THREADS, int KEYS>
__device__ __forceinline__ void count_bucket(const RunShape& s, const RunArrays& a,
                                             const PartMemory<THREADS, KEYS>& memory, std::int32_t start,
                                             std::int32_t size, int part) {
    constexpr int kPart = KEYS * THREADS;
    const int parts = (size + kPart - 1) / kPart;
    const bool counted = parts > s.few;
    for (int d = static_cast<int>(threadIdx.x); d < s.low(); d += THREADS) {
        std::int32_t all = 0;
        std::int32_t before = 0;
        if (counted) {
            const std::int32_t* counts = a.parts + (s.count_row(start) << s.shift) + d;
#pragma unroll 8
            for (int p = 0; p < parts; ++p) {
                const std::int32_t of_part = counts[std::int64_t{p} << s.shift];
                all += of_part;
                if (p < part) before += of_part;
            }
        }
        memory.begins[d] = all;
        memory.out[d] = before;
    }
    if (!counted) {
        __syncthreads();
        const int lane = static_cast<int>(threadIdx.x) % 32;
        for (int c = static_cast<int>(threadIdx.x) / 32; c < s.chunks; c += THREADS / 32) {
            const std::int32_t end = memory.prefix[c + 1];
            const std::int32_t from = memory.from[c];
#pragma unroll 4
            for (std::int32_t i = memory.prefix[c] + lane; i < end; i += 32) {
                const int d = s.low_of(a.keys[from + i]);
                atomicAdd(memory.begins + d, 1);
                if (i < part * kPart) atomicAdd(memory.out + d, 1);
            }
        }
    }
    exclusive_sums<THREADS>(memory.begins, s.low(), memory.sums);
}

template <int THREADS, int KEYS>
__global__ void __launch_bounds__(THREADS, kResidentThreads / THREADS)
    run_part_kernel(const __grid_constant__ RunShape s, const __grid_constant__ RunArrays a,
                    std::int32_t* __restrict__ ptr, std::int32_t* __restrict__ idx,
                    std::int32_t* __restrict__ edge_id_out) {
    constexpr int kPart = KEYS * THREADS;
    extern __shared__ uint4 run_memory[];
    const PartMemory<THREADS, KEYS> memory(reinterpret_cast<unsigned char*>(run_memory), s);
    kernels::wait_for_previous();
    find_starts<THREADS>(s, a, memory.starts(), memory.sums);
    find_bucket<THREADS>(s, memory.starts(), static_cast<int>(blockIdx.x), memory.found);
    const int bucket = memory.found[0];
    const std::int32_t start = memory.found[1];
    const std::int32_t size = memory.found[2];
    const int part = static_cast<int>(blockIdx.x) - s.slot(start, bucket);
    if (part > 0 && part >= (size + kPart - 1) / kPart) return;
    if (bucket + 1 == s.buckets && part == 0 && threadIdx.x == 0) ptr[s.groups] = static_cast<std::int32_t>(s.m);
    const std::int64_t group0 = std::int64_t{bucket} << s.shift;
    if (size == 0) {
        for (int d = static_cast<int>(threadIdx.x); d < s.low(); d += THREADS) {
            if (group0 + d < s.groups) ptr[group0 + d] = start;
        }
        return;
    }
    find_runs(s, a, memory, bucket);
    const int first = part * kPart;
    const int count = min(kPart, size - first);
    std::uint64_t key[KEYS];
    gather_part(s, a, memory, first, count, key);
    int place[KEYS];
    {
        int digit[KEYS];
#pragma unroll
        for (int u = 0; u < KEYS; ++u) digit[u] = key_place<KEYS>(u) < count ? s.low_of(key[u]) : -1;
        rank_chunk<false, THREADS>(memory.counts(), memory.local, memory.sums, s.low(), digit, place);
    }
    __syncthreads();
    std::uint64_t* keys = memory.keys();
#pragma unroll
    for (int u = 0; u < KEYS; ++u) {
        if (key_place<KEYS>(u) < count) keys[place[u]] = key[u];
    }
    const bool several = size > kPart;
    const std::int32_t* begins = memory.local;  // of groups in this bucket's output
    if (several) {
        count_bucket(s, a, memory, start, size, part);
        begins = memory.begins;
        for (int d = static_cast<int>(threadIdx.x); d < s.low(); d += THREADS) {
            memory.out[d] += begins[d] - memory.local[d];
        }
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < count; i += THREADS) {
        const std::uint64_t k = keys[i];
        const std::int32_t at = start + i + (several ? memory.out[s.low_of(k)] : 0);
        idx[at] = static_cast<std::int32_t>(kernels::low_bits(k >> s.id_bits, s.other_bits));
        edge_id_out[at] = static_cast<std::int32_t>(kernels::low_bits(k, s.id_bits));
    }
    if (part > 0) return;
    for (int d = static_cast<int>(threadIdx.x); d < s.low(); d += THREADS) {
        if (group0 + d < s.groups) ptr[group0 + d] = start + begins[d];
    }
}

}  // namespace gnntune::formats::by_run

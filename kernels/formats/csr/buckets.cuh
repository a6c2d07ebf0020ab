// Edges grouped by row, or those of a CSR by column, in four launches: a stable counting sort by two digits of the
// group, high one first. What has the same high digit is a bucket, a range of groups.
//
//   count    a chunk of edges counts its buckets in shared memory; counters are cleared that `part` may need
//   scan     counts of a bucket become offsets along the chunks
//   scatter  a chunk's edges as keys of 64 bits (edge_key.cuh), ordered by bucket in shared memory, to where they belong
//   part     a part of a bucket, of at most a chunk's length: ordered by the low digit in shared memory, taken apart.
//            Buckets of several parts have had their low digits counted by `scatter`, part by part; their sums give
//            each part its place, whatever the degrees.
//
// Layout   all arrays int32, keys uint64, device memory; m < 2^31.
// Work     block -> chunk of KEYS THREADS edges, or part; warp -> 32 KEYS consecutive ones, lane -> every 32nd.
// Order    stable: the rank of an edge among those of its digit is that among its warp's (a vote of who has the same, on
//          top of what the warp has counted before), behind those of the warps and chunks before it.
// Atomics  of whole numbers alone: a result depends on the input alone.
// Shared   a chunk of keys; a counter of 16 bits for each warp and digit; three numbers for each digit.
#pragma once

#include <cstdint>

#include "kernels/common/chained.cuh"
#include "kernels/formats/csr/edge_key.cuh"
#include "kernels/formats/csr/edge_sources.cuh"
#include "kernels/formats/csr/order_chunk.cuh"

namespace gnntune::formats::by_bucket {

inline constexpr int kMostDigitBits = 11;  ///< of either digit
inline constexpr int kScanThreads = 1024;  ///< a warp for each thirty-second of the chunks

struct BucketShape {
    EdgeKeyBits bits;
    int shift;            ///< bits of the low digit
    int buckets;          ///< values of the high digit
    std::int32_t groups;  ///< rows or columns
    std::int64_t m;
    int chunks;
    int chunk_bits;  ///< a chunk has 2^chunk_bits edges

    __host__ __device__ int low() const { return 1 << shift; }
    /// Places of parts, of all buckets: a bucket's begin at slot(), before those of the next.
    __host__ __device__ int slots() const { return static_cast<int>(m >> chunk_bits) + buckets + 1; }
    __device__ __forceinline__ int slot(std::int32_t start, int bucket) const {
        return static_cast<int>(static_cast<std::uint32_t>(start) >> chunk_bits) + bucket;
    }
    /// Rows of counts for parts of buckets that are longer than a chunk: a bucket's begin at count_row(). Its length is
    /// x > 1 chunks, of which 2 x rounded down are at least x rounded up.
    __host__ __device__ std::int64_t count_rows() const { return m >> chunk_bits == 0 ? 0 : (2 * m >> chunk_bits) + 2; }
    __device__ __forceinline__ std::int64_t count_row(std::int32_t start) const {
        return 2 * static_cast<std::int64_t>(start) >> chunk_bits;
    }
    __device__ __forceinline__ int bucket_of(std::uint64_t key) const {
        return static_cast<int>(key >> (bits.begin() + shift));
    }
    __device__ __forceinline__ int low_of(std::uint64_t key) const {
        return static_cast<int>(kernels::low_bits(key >> bits.begin(), shift));
    }
};

struct BucketArrays {
    std::uint64_t* keys;      ///< [m] by bucket
    std::int32_t* counts;     ///< [chunks, buckets], then those of the chunks before
    std::int32_t* totals;     ///< [buckets]
    std::int32_t* starts;     ///< [buckets + 1]
    std::int32_t* first_row;  ///< [chunks + 1] row of a chunk's first edge, of a CSR
    std::int32_t* parts;      ///< [count_rows, low] counts of parts of buckets that have several
};

/// Largest r in [0, n_rows) with row_ptr[r] <= e; a warp together.
__device__ __forceinline__ std::int32_t warp_row_of_edge(const std::int32_t* __restrict__ row_ptr, std::int32_t n_rows,
                                                         std::int64_t e) {
    const std::int64_t lane = threadIdx.x % 32;
    std::int64_t low = 0;  // row_ptr[low] <= e
    std::int64_t count = n_rows;
    while (count > 1) {
        const std::int64_t step = (count + 31) / 32;
        const std::int64_t probe = low + lane * step;
        const bool below = lane * step < count && __ldg(row_ptr + probe) <= e;
        const int steps = __popc(__ballot_sync(kWarp, below)) - 1;  // lane 0 always is
        const std::int64_t end = low + count;
        low += steps * step;
        count = min(step, end - low);
    }
    return static_cast<std::int32_t>(low);
}

template <int THREADS, int KEYS, typename Source>
__global__ void __launch_bounds__(THREADS)
    bucket_count_kernel(const __grid_constant__ BucketShape s, const __grid_constant__ Source source,
                        const __grid_constant__ BucketArrays a) {
    constexpr int kChunk = KEYS * THREADS;
    __shared__ std::int32_t count[1 << kMostDigitBits];
    kernels::let_next_begin();
    const std::int64_t first = std::int64_t{blockIdx.x} * kChunk + threadIdx.x;
    std::int32_t group[KEYS];
#pragma unroll
    for (int u = 0; u < KEYS; ++u) {
        const std::int64_t e = first + u * THREADS;
        group[u] = e < s.m ? __ldg(source.group + e) : -1;
    }
    for (int b = static_cast<int>(threadIdx.x); b < s.buckets; b += THREADS) count[b] = 0;
    const std::int64_t parts = s.count_rows() << s.shift;
    for (std::int64_t i = std::int64_t{blockIdx.x} * THREADS + threadIdx.x; i < parts;
         i += std::int64_t{gridDim.x} * THREADS) {
        a.parts[i] = 0;
    }
    __syncthreads();
#pragma unroll
    for (int u = 0; u < KEYS; ++u) {
        if (group[u] >= 0) atomicAdd(count + (group[u] >> s.shift), 1);
    }
    if constexpr (Source::kFindsRows) {
        if (threadIdx.x < 32) {
            const std::int32_t row = warp_row_of_edge(source.row_ptr, source.n_rows, std::int64_t{blockIdx.x} * kChunk);
            if (threadIdx.x == 0) {
                a.first_row[blockIdx.x] = row;
                if (blockIdx.x + 1 == gridDim.x) a.first_row[gridDim.x] = source.n_rows - 1;
            }
        }
    }
    __syncthreads();
    std::int32_t* out = a.counts + std::int64_t{blockIdx.x} * s.buckets;
    for (int b = static_cast<int>(threadIdx.x); b < s.buckets; b += THREADS) out[b] = count[b];
}

/// Block -> 32 buckets, lane -> one of them, warp -> a thirty-second of the chunks.
__global__ void __launch_bounds__(kScanThreads)
    bucket_scan_kernel(const __grid_constant__ BucketShape s, const __grid_constant__ BucketArrays a) {
    constexpr int kLoads = 8;
    __shared__ std::int32_t sums[32][33];
    kernels::let_next_begin();
    kernels::wait_for_previous();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int bucket = static_cast<int>(blockIdx.x) * 32 + lane;
    const bool inside = bucket < s.buckets;
    const int each = (s.chunks + 31) / 32;
    const int begin = min(warp * each, s.chunks);
    const int end = min(begin + each, s.chunks);
    std::int32_t* column = a.counts + bucket;
    std::int32_t sum = 0;
    for (int base = begin; base < end; base += kLoads) {
#pragma unroll
        for (int u = 0; u < kLoads; ++u) {
            if (inside && base + u < end) sum += column[std::int64_t{base + u} * s.buckets];
        }
    }
    sums[warp][lane] = sum;
    __syncthreads();
    // Warp -> a bucket, lane -> a thirty-second.
    const std::int32_t own = sums[lane][warp];
    std::int32_t upto = own;
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
        const std::int32_t other = __shfl_up_sync(kWarp, upto, offset);
        if (lane >= offset) upto += other;
    }
    sums[lane][warp] = upto - own;
    if (lane == 31 && static_cast<int>(blockIdx.x) * 32 + warp < s.buckets) {
        a.totals[static_cast<int>(blockIdx.x) * 32 + warp] = upto;
    }
    __syncthreads();
    std::int32_t before = sums[warp][lane];
    for (int base = begin; base < end; base += kLoads) {
        std::int32_t count[kLoads];
#pragma unroll
        for (int u = 0; u < kLoads; ++u) {
            count[u] = inside && base + u < end ? column[std::int64_t{base + u} * s.buckets] : 0;
        }
#pragma unroll
        for (int u = 0; u < kLoads; ++u) {
            if (inside && base + u < end) column[std::int64_t{base + u} * s.buckets] = before;
            before += count[u];
        }
    }
}

/// Rows of this thread's edges of a chunk from `e0` on, of `count`. `mark` [kChunk] is free to use.
template <int THREADS, int KEYS>
__device__ __forceinline__ void find_rows(const ColumnsOfCsr& source, const BucketArrays& a, std::int64_t e0, int count,
                                          std::int32_t* mark, std::int32_t* sums, std::int32_t (&row)[KEYS]) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const std::int32_t first = a.first_row[blockIdx.x];
    const std::int32_t last = a.first_row[blockIdx.x + 1];
    for (int i = static_cast<int>(threadIdx.x); i < KEYS * THREADS; i += THREADS) mark[i] = i == 0 ? first : 0;
    __syncthreads();
    // A row marks its first edge; of rows that begin there the last has edges. Rows behind `first` begin behind e0.
#pragma unroll 4
    for (std::int64_t r = std::int64_t{first} + 1 + threadIdx.x; r <= last; r += THREADS) {
        const std::int64_t at = __ldg(source.row_ptr + r) - e0;
        if (at < count) atomicMax(mark + at, static_cast<std::int32_t>(r));
    }
    __syncthreads();
    std::int32_t most = 0;
#pragma unroll
    for (int u = 0; u < KEYS; ++u) {
        row[u] = mark[key_place<KEYS>(u)];
        most = max(most, row[u]);
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) most = max(most, __shfl_xor_sync(kWarp, most, offset));
    if (lane == 0) sums[warp] = most;
    __syncthreads();
    std::int32_t before = 0;
    for (int w = 0; w < warp; ++w) before = max(before, sums[w]);
#pragma unroll
    for (int u = 0; u < KEYS; ++u) {
#pragma unroll
        for (int offset = 1; offset < 32; offset *= 2) {
            const std::int32_t other = __shfl_up_sync(kWarp, row[u], offset);
            if (lane >= offset) row[u] = max(row[u], other);
        }
        row[u] = max(row[u], before);
        before = __shfl_sync(kWarp, row[u], 31);
    }
}

template <int THREADS, int KEYS, typename Source>
__global__ void __launch_bounds__(THREADS)
    bucket_scatter_kernel(const __grid_constant__ BucketShape s, const __grid_constant__ Source source,
                          const __grid_constant__ BucketArrays a) {
    constexpr int kChunk = KEYS * THREADS;
    extern __shared__ std::uint64_t chunk_memory[];
    const ChunkMemory<THREADS, KEYS> memory(chunk_memory, s.buckets);
    kernels::let_next_begin();
    const std::int64_t e0 = std::int64_t{blockIdx.x} * kChunk;
    const int count = static_cast<int>(min(std::int64_t{kChunk}, s.m - e0));
    std::int32_t group[KEYS];
    std::int32_t other[KEYS];
    std::int32_t id[KEYS];
    load_edges(
        source, e0, count, [](int u) { return key_place<KEYS>(u); }, group, other, id);
    kernels::wait_for_previous();
    bool several = false;
    for (int b = static_cast<int>(threadIdx.x); b < s.buckets; b += THREADS) {
        memory.starts[b] = a.totals[b];
        several |= memory.starts[b] > kChunk;
    }
    exclusive_sums<THREADS>(memory.starts, s.buckets, memory.sums);
    several = __syncthreads_or(several);
    if (threadIdx.x == 0) memory.starts[s.buckets] = static_cast<std::int32_t>(s.m);
    if constexpr (Source::kFindsRows) {
        find_rows<THREADS, KEYS>(source, a, e0, count, reinterpret_cast<std::int32_t*>(memory.keys), memory.sums,
                                 other);
    }
    std::uint64_t key[KEYS];
#pragma unroll
    for (int u = 0; u < KEYS; ++u) key[u] = s.bits.key(group[u], other[u], id[u]);
    order_chunk(memory, s.buckets, count, key, [&](std::uint64_t k) { return s.bucket_of(k); });
    const std::int32_t* before = a.counts + std::int64_t{blockIdx.x} * s.buckets;
    for (int b = static_cast<int>(threadIdx.x); b < s.buckets; b += THREADS) {
        memory.out[b] = memory.starts[b] + before[b] - memory.local[b];
    }
    if (blockIdx.x == 0) {
        for (int b = static_cast<int>(threadIdx.x); b <= s.buckets; b += THREADS) a.starts[b] = memory.starts[b];
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < count; i += THREADS) {
        const std::uint64_t k = memory.keys[i];
        const int bucket = s.bucket_of(k);
        const std::int32_t at = memory.out[bucket] + i;
        a.keys[at] = k;
        if (!several) continue;
        const std::int32_t start = memory.starts[bucket];
        if (memory.starts[bucket + 1] - start <= kChunk) continue;
        const std::int64_t row = s.count_row(start) + (at - start) / kChunk;
        atomicAdd(a.parts + (row << s.shift) + s.low_of(k), 1);
    }
}

/// Number of buckets whose parts begin at `slot` or before.
template <int THREADS>
__device__ __forceinline__ int buckets_up_to(const BucketShape& s, const std::int32_t* starts, int slot) {
    int found = 0;
    for (int base = 0; base < s.buckets; base += THREADS) {
        const int b = base + static_cast<int>(threadIdx.x);
        found += __syncthreads_count(b < s.buckets && s.slot(starts[b], b) <= slot);
    }
    return found;
}

template <int THREADS, int KEYS>
__global__ void __launch_bounds__(THREADS)
    bucket_part_kernel(const __grid_constant__ BucketShape s, const __grid_constant__ BucketArrays a,
                       std::int32_t* __restrict__ ptr, std::int32_t* __restrict__ idx,
                       std::int32_t* __restrict__ edge_id_out) {
    constexpr int kChunk = KEYS * THREADS;
    extern __shared__ std::uint64_t chunk_memory[];
    const ChunkMemory<THREADS, KEYS> memory(chunk_memory, s.low());
    kernels::wait_for_previous();
    const int bucket = buckets_up_to<THREADS>(s, a.starts, static_cast<int>(blockIdx.x)) - 1;
    const std::int32_t start = a.starts[bucket];
    const std::int32_t size = a.starts[bucket + 1] - start;
    const int part = static_cast<int>(blockIdx.x) - s.slot(start, bucket);
    if (part > 0 && part >= (size + kChunk - 1) / kChunk) return;
    if (bucket + 1 == s.buckets && part == 0 && threadIdx.x == 0) ptr[s.groups] = static_cast<std::int32_t>(s.m);
    if (size == 0) {
        for (int d = static_cast<int>(threadIdx.x); d < s.low(); d += THREADS) {
            const std::int64_t g = (std::int64_t{bucket} << s.shift) + d;
            if (g < s.groups) ptr[g] = start;
        }
        return;
    }
    const int count = min(kChunk, size - part * kChunk);
    const std::uint64_t* from = a.keys + start + static_cast<std::int64_t>(part) * kChunk;
    std::uint64_t key[KEYS];
#pragma unroll
    for (int u = 0; u < KEYS; ++u) key[u] = key_place<KEYS>(u) < count ? from[key_place<KEYS>(u)] : 0;
    order_chunk(memory, s.low(), count, key, [&](std::uint64_t k) { return s.low_of(k); });
    std::int32_t* begins = memory.local;  // of groups in this bucket's output
    if (size > kChunk) {
        const int parts = (size + kChunk - 1) / kChunk;
        begins = memory.starts;
        for (int d = static_cast<int>(threadIdx.x); d < s.low(); d += THREADS) {
            const std::int32_t* counts = a.parts + (s.count_row(start) << s.shift) + d;
            std::int32_t all = 0;
            std::int32_t before = 0;
#pragma unroll 8
            for (int p = 0; p < parts; ++p) {
                const std::int32_t counted = counts[std::int64_t{p} << s.shift];
                all += counted;
                if (p < part) before += counted;
            }
            begins[d] = all;
            memory.out[d] = before;
        }
        exclusive_sums<THREADS>(begins, s.low(), memory.sums);
        for (int d = static_cast<int>(threadIdx.x); d < s.low(); d += THREADS) {
            memory.out[d] += begins[d] - memory.local[d];
        }
        __syncthreads();
    }
    for (int i = static_cast<int>(threadIdx.x); i < count; i += THREADS) {
        const std::uint64_t k = memory.keys[i];
        const std::int32_t at = start + i + (size > kChunk ? memory.out[s.low_of(k)] : 0);
        idx[at] = static_cast<std::int32_t>(kernels::low_bits(k >> s.bits.id, s.bits.other));
        edge_id_out[at] = static_cast<std::int32_t>(kernels::low_bits(k, s.bits.id));
    }
    if (part > 0) return;
    for (int d = static_cast<int>(threadIdx.x); d < s.low(); d += THREADS) {
        const std::int64_t g = (std::int64_t{bucket} << s.shift) + d;
        if (g < s.groups) ptr[g] = start + begins[d];
    }
}

}  // namespace gnntune::formats::by_bucket

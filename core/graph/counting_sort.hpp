// Stable counting sort of edges by a key on the host: the one routine behind every conversion that groups edges.
//
// Work     The list is cut into parts of equal length, by its length alone, so that the result and the scratch memory do
//          not depend on the number of threads. Pass 1: each part counts its edges in buckets of consecutive keys and,
//          behind the counts of the parts before it, writes them out in list order. Pass 2: each bucket is one task,
//          which counts its keys inside `ptr` itself and places its edges. A list in order, which the first reading
//          shows, is placed as it stands.
// Data     The list is read twice. Pass 1 of a large list writes to kBuckets streams at once and pass 2 stays in one
//          bucket, so neither scatters over the whole result as a counting sort of one pass does. Where all counts of all
//          parts fit into the cache, a bucket is one key and pass 1 places.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/common/team.hpp"

namespace gnntune {
namespace counting_sort_detail {

inline constexpr std::int32_t kBuckets = 512;
inline constexpr std::int64_t kCachedCounts = 1 << 16;

/// An edge on its way from pass 1 to pass 2.
struct Item {
    std::int32_t key;
    std::int32_t edge;
};

struct Shape {
    int shift = 0;  ///< keys of a bucket: 2^shift
    std::int32_t buckets = 0;
    std::int64_t parts = 1;
    std::int64_t part_edges = 0;

    Shape(std::int32_t n_keys, std::int64_t m) {
        parts = std::clamp<std::int64_t>(m / 16384, 1, 128);
        part_edges = (m + parts - 1) / parts;
        if (n_keys * parts > kCachedCounts) {
            while ((n_keys - 1) >> shift >= kBuckets) ++shift;
        }
        buckets = n_keys == 0 ? 0 : ((n_keys - 1) >> shift) + 1;
    }
    bool two_passes() const { return shift > 0; }
};

/// The sort of a list that is in order: an edge with another key than the one before begins all keys in between.
template <typename Place>
void place_in_order(const std::int32_t* key, std::int32_t n_keys, std::int64_t m, std::int32_t* ptr,
                    const Place& place) {
    team_for_each(m, 8192, m, [&](std::int64_t e) {
        const std::int32_t before = e == 0 ? -1 : key[e - 1];
        for (std::int32_t k = before + 1; k <= key[e]; ++k) ptr[k] = static_cast<std::int32_t>(e);
        place(static_cast<std::int32_t>(e), e);
    });
    const std::int32_t last = m == 0 ? -1 : key[m - 1];
    std::fill(ptr + last + 1, ptr + n_keys + 1, static_cast<std::int32_t>(m));
}

}  // namespace counting_sort_detail

/// Bytes of scratch memory that counting_sort needs, aligned to 8 bytes.
inline std::size_t counting_sort_bytes(std::int32_t n_keys, std::int64_t m) {
    const counting_sort_detail::Shape shape(n_keys, m);
    const auto items = shape.two_passes() ? static_cast<std::size_t>(m) : 0;
    return items * sizeof(counting_sort_detail::Item) +
           static_cast<std::size_t>(shape.parts) * static_cast<std::size_t>(shape.buckets) * sizeof(std::int32_t);
}

/// Sorts the edges 0 ... m - 1 by key[e] in [0, n_keys), equal keys in the order of e. `ptr` [n_keys + 1] receives where
/// each key begins; place(position, e) is called once for every edge, by many threads at once.
template <typename Place>
void counting_sort(const std::int32_t* key, std::int32_t n_keys, std::int64_t m, std::int32_t* ptr, void* scratch,
                   const Place& place) {
    using counting_sort_detail::Item;
    const counting_sort_detail::Shape shape(n_keys, m);
    auto* items = static_cast<Item*>(scratch);
    auto* counts = reinterpret_cast<std::int32_t*>(items + (shape.two_passes() ? m : 0));
    const auto counts_of = [&](std::int64_t part) { return counts + part * shape.buckets; };

    const std::int64_t work = shape.parts > 1 ? m : 0;
    std::atomic<bool> ordered = true;
    team_for_each(shape.parts, 1, work, [&](std::int64_t t) {
        std::int32_t* mine = counts_of(t);
        std::fill(mine, mine + shape.buckets, 0);
        const std::int64_t end = std::min(m, (t + 1) * shape.part_edges);
        std::int32_t before = t == 0 ? 0 : key[t * shape.part_edges - 1];
        std::int32_t falls = 0;
        for (std::int64_t e = t * shape.part_edges; e < end; ++e) {
            falls |= static_cast<std::int32_t>(key[e] < before);
            before = key[e];
            ++mine[before >> shape.shift];
        }
        if (falls != 0) ordered.store(false, std::memory_order_relaxed);
    });
    if (ordered) {
        counting_sort_detail::place_in_order(key, n_keys, m, ptr, place);
        return;
    }

    // Where each part writes its edges of each bucket. ptr keeps the begin of a bucket at the bucket's first key.
    std::int32_t position = 0;
    for (std::int32_t b = 0; b < shape.buckets; ++b) {
        ptr[static_cast<std::int64_t>(b) << shape.shift] = position;
        for (std::int64_t t = 0; t < shape.parts; ++t) {
            const std::int32_t count = counts_of(t)[b];
            counts_of(t)[b] = position;
            position += count;
        }
    }
    ptr[n_keys] = position;

    team_for_each(shape.parts, 1, work, [&](std::int64_t t) {
        std::int32_t* next = counts_of(t);
        const std::int64_t end = std::min(m, (t + 1) * shape.part_edges);
        for (std::int64_t e = t * shape.part_edges; e < end; ++e) {
            const std::int32_t p = next[key[e] >> shape.shift]++;
            if (shape.two_passes()) {
                items[p] = {key[e], static_cast<std::int32_t>(e)};
            } else {
                place(p, e);
            }
        }
    });
    if (!shape.two_passes()) return;

    // The last part's counts have moved to the ends of the buckets: what is between two of them is one bucket.
    const std::int32_t* bucket_end = counts_of(shape.parts - 1);
    team_for_each(shape.buckets, 1, work, [&](std::int64_t b) {
        const std::int64_t first = b << shape.shift;
        const std::int64_t last = std::min<std::int64_t>(n_keys, first + (std::int64_t{1} << shape.shift));
        const std::int32_t begin = b == 0 ? 0 : bucket_end[b - 1];
        const std::int32_t end = bucket_end[b];
        std::fill(ptr + first, ptr + last, 0);
        for (std::int32_t p = begin; p < end; ++p) ++ptr[items[p].key];
        std::int32_t next = begin;
        for (std::int64_t k = first; k < last; ++k) {
            const std::int32_t count = ptr[k];
            ptr[k] = next;
            next += count;
        }
        for (std::int32_t p = begin; p < end; ++p) place(ptr[items[p].key]++, std::int64_t{items[p].edge});
        // Each entry has moved to where the next key begins.
        for (std::int64_t k = last - 1; k > first; --k) ptr[k] = ptr[k - 1];
        ptr[first] = begin;
    });
}

}  // namespace gnntune

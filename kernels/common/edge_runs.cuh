// Runs of consecutive edges: their ids or weights with as few loads as the alignment allows.
#pragma once

#include <cstdint>

#include "kernels/common/elements.cuh"

namespace gnntune::kernels {

/// Loads UNROLL elements, a power of two, of a list of m > 0 from element `e` on; beyond the end the last one stands in
/// their place. Up to four at a time where `aligned` says that multiples of UNROLL are
/// aligned, of which `e` is one.
template <int UNROLL, typename T>
__device__ __forceinline__ void load_run_or_last(const T* __restrict__ p, std::uint32_t e, std::uint32_t m,
                                                 bool aligned, T (&out)[UNROLL]) {
    constexpr int kAtOnce = UNROLL < 4 ? UNROLL : 4;
    static_assert(UNROLL % kAtOnce == 0, "runs are loaded as whole vectors");
    if (aligned && e + UNROLL <= m) {
#pragma unroll
        for (int u = 0; u < UNROLL; u += kAtOnce) {
            const Pack<T, kAtOnce> pack = load_pack<kAtOnce>(p + e + u);
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) out[u + i] = pack.v[i];
        }
    } else {
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) out[u] = load_pack<1>(p + min(e + u, m - 1)).v[0];
    }
}

/// RUN consecutive edges of a list, of which some belong to whoever looks at them.
template <int RUN>
struct EdgeRun {
    std::uint32_t first;
    unsigned mask;  ///< bit u: edge first + u belongs
    bool whole;     ///< all RUN places are in the list, and ids of theirs may be loaded four at a time

    /// Edges from `first` on, of which those in [begin, end) belong: begin - 32 < first < end <= m, the length of the
    /// list. `aligned`: `first` is a multiple of four or of RUN, and the ids are aligned to four.
    __device__ __forceinline__ EdgeRun(std::uint32_t first, std::uint32_t begin, std::uint32_t end, std::uint32_t m,
                                       bool aligned)
        : first(first), whole(aligned && first + RUN <= m) {
        static_assert(RUN <= 32, "a bit for each edge");
        const std::uint32_t left = end - first;
        mask = ~0U << (begin > first ? begin - first : 0U);
        if (left < 32) mask &= ~(~0U << left);
    }
    __device__ __forceinline__ bool has(int u) const { return (mask & (1U << u)) != 0; }
};

/// What `list` has for a run: all places, up to four at a time, if the run is `whole` and `aligned` holds; else the
/// edges that belong, and zeros.
template <int RUN, typename T>
__device__ __forceinline__ void load_run(const T* __restrict__ list, const EdgeRun<RUN>& run, T (&out)[RUN],
                                         bool aligned = true) {
    constexpr int kAtOnce = RUN < 4 ? RUN : 4;
    static_assert(RUN % kAtOnce == 0, "runs are loaded as whole vectors");
    list += run.first;
    if (run.whole && aligned) {
#pragma unroll
        for (int u = 0; u < RUN; u += kAtOnce) {
            const Pack<T, kAtOnce> pack = load_pack<kAtOnce>(list + u);
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) out[u + i] = pack.v[i];
        }
    } else {
#pragma unroll
        for (int u = 0; u < RUN; ++u) {
            out[u] = T{};
            if (run.has(u)) out[u] = load_pack<1>(list + u).v[0];
        }
    }
}

/// Whether four elements of `T` can be loaded at once from `p`. Null can.
template <typename T>
bool aligned_to_four(const T* p) {
    return reinterpret_cast<std::uintptr_t>(p) % (4 * sizeof(T)) == 0;
}

/// How the groups of a team share the edges [begin, end) of its row: runs of RUN edges in turn. A group by itself,
/// which mostly has few, starts with the first of them. Several start where vectors of ids do, so that a run may hold
/// edges of the rows before and behind.
template <int RUN>
struct TeamWalk {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t start;   ///< of this group's first run
    std::uint32_t stride;  ///< from run to run
    std::uint32_t m;       ///< edges of the graph
    bool wide;

    __device__ __forceinline__ TeamWalk(std::uint32_t begin, std::uint32_t end, int group, int groups, std::int64_t m,
                                        bool ids_aligned)
        : begin(begin),
          end(end),
          stride(static_cast<std::uint32_t>(groups * RUN)),
          m(static_cast<std::uint32_t>(m)),
          wide(groups > 1 && ids_aligned) {
        start = (wide ? begin & ~3U : begin) + static_cast<std::uint32_t>(group * RUN);
    }
    __device__ __forceinline__ EdgeRun<RUN> run(std::uint32_t first) const { return {first, begin, end, m, wide}; }
};

}  // namespace gnntune::kernels

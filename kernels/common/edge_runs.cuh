// Runs of consecutive edges: their ids or weights with as few loads as the alignment allows.
#pragma once

#include <cstdint>

#include "kernels/common/elements.cuh"

namespace gnntune::kernels {

/// Loads UNROLL elements, a power of two, from `p + e`, `otherwise` for those from `m` on. With loads of up to four at
/// a time where `aligned` says that `p + e` is aligned to as many elements, and nothing is beyond `m`.
template <int UNROLL, typename T>
__device__ __forceinline__ void load_run(const T* __restrict__ p, std::int64_t e, std::int64_t m, bool aligned,
                                         T (&out)[UNROLL], T otherwise) {
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
        for (int u = 0; u < UNROLL; ++u) out[u] = otherwise;
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            if (e + u < m) out[u] = load_pack<1>(p + e + u).v[0];
        }
    }
}

/// Whether four elements of `T` can be loaded at once from `p`. Null can.
template <typename T>
bool aligned_to_four(const T* p) {
    return reinterpret_cast<std::uintptr_t>(p) % (4 * sizeof(T)) == 0;
}

}  // namespace gnntune::kernels

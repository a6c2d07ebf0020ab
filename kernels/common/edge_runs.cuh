// Runs of consecutive edges: their ids or weights with as few loads as the alignment allows.
#pragma once

#include <cstdint>

namespace gnntune::kernels {

/// Loads UNROLL ints or floats from `p + e`, `otherwise` for those from `m` on. With 16-byte loads where `aligned` says
/// that `p + e` is, and nothing is beyond `m`.
template <int UNROLL, typename T>
__device__ __forceinline__ void load_run(const T* __restrict__ p, std::int64_t e, std::int64_t m, bool aligned,
                                         T (&out)[UNROLL], T otherwise) {
    static_assert(sizeof(T) == 4 && UNROLL % 4 == 0, "runs are loaded as whole 16-byte vectors of 4-byte elements");
    if (aligned && e + UNROLL <= m) {
#pragma unroll
        for (int u = 0; u < UNROLL; u += 4) {
            const int4 t = __ldg(reinterpret_cast<const int4*>(p + e + u));
            const int bits[4] = {t.x, t.y, t.z, t.w};
#pragma unroll
            for (int i = 0; i < 4; ++i) out[u + i] = reinterpret_cast<const T&>(bits[i]);
        }
    } else {
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) out[u] = e + u < m ? __ldg(p + e + u) : otherwise;
    }
}

inline bool aligned16(const void* p) {
    return reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
}

}  // namespace gnntune::kernels

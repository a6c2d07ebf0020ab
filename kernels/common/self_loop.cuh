// Self loops by themselves, for variants whose main kernel walks edges and has no place for them:
//   out[i, :]  = self_weight[i] in[i, :]     fuseGNN's "scaled clone"
//   dot[i]     = <in[i, :], other[i, :]>     the gradient of self_weight[i]
// A row is a vertex, or one of its heads.
//
// Layout   in, other, out [n, k] row-major; self_weight, dot [n]; of type T: f32, f16 or bf16. Sums are fp32.
// Work     group of `lanes` threads -> one row; lane -> every lanes-th vector of VEC features.
// Data     in, and other where it is asked for, are read once, out is written once. A lane has several vectors
//          of each under way at once: rows are many and short.  Atomics: none.
#pragma once

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/elements.cuh"
#include "kernels/common/host.hpp"

namespace gnntune::kernels {

template <typename T>
struct SelfLoops {
    const T* self_weight = nullptr;
    const T* in = nullptr;
    T* out = nullptr;  ///< null: not wanted
    const T* other = nullptr;
    T* dot = nullptr;                   ///< null: not wanted
    const float* dot_factor = nullptr;  ///< [n / heads] of each dot product; null: 1
    std::int32_t heads = 1;             ///< rows that a factor is for
    std::int64_t n = 0;
    std::int32_t k = 0;
};

inline constexpr int kSelfLoopThreads = 256;

/// Vectors of a lane that are under way at once.
template <int VEC>
inline constexpr int kSelfLoopVectors = VEC == 1 ? 8 : 2;

template <typename T, int VEC>
__global__ void self_loops_kernel(SelfLoops<T> s, int lanes) {
    constexpr int kAtOnce = kSelfLoopVectors<VEC>;
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const std::int64_t row = group_index(lanes);
    const bool here = row < s.n;  // all lanes of a warp stay for the shuffles
    float sum = 0.0F;
    if (here) {
        const float w = s.out ? load_value(s.self_weight + row) : 0.0F;
        const std::int64_t base = row * s.k;
        const int step = lanes * VEC;
        for (int first = lane * VEC; first < s.k; first += kAtOnce * step) {
            Pack<T, VEC> value[kAtOnce];
            Pack<T, VEC> other[kAtOnce];
#pragma unroll
            for (int u = 0; u < kAtOnce; ++u) {
                const int f = first + u * step;
                zero(value[u]);
                zero(other[u]);
                if (f < s.k) value[u] = load_pack<VEC>(s.in + base + f);
                if (f < s.k && s.dot) other[u] = load_pack<VEC>(s.other + base + f);
            }
#pragma unroll
            for (int u = 0; u < kAtOnce; ++u) {
                const int f = first + u * step;
                sum = dot(sum, other[u], value[u]);
                if (!s.out || f >= s.k) continue;
                Vec<VEC> result;
                zero(result);
                fma(result, w, value[u]);
                Pack<T, VEC> rounded;
#pragma unroll
                for (int i = 0; i < VEC; ++i) rounded.v[i] = narrowed<T>(result.v[i]);
                *reinterpret_cast<Pack<T, VEC>*>(s.out + base + f) = rounded;
            }
        }
    }
    if (!s.dot) return;
    for (int offset = lanes / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, offset);
    if (here && lane == 0) s.dot[row] = narrowed<T>(s.dot_factor ? sum * __ldg(s.dot_factor + row / s.heads) : sum);
}

/// Enqueues the kernel. Throws on a launch error.
template <typename T>
void enqueue_self_loops(const SelfLoops<T>& s, cudaStream_t stream) {
    if (s.n == 0) return;
    const int vec = vector_width(s.k, {s.in, s.out, s.other}, 4, sizeof(T)) == 4 ? 4 : 1;
    const int at_once = vec == 4 ? kSelfLoopVectors<4> : kSelfLoopVectors<1>;
    const int lanes = std::min(32, next_power_of_two(static_cast<std::int32_t>(ceil_div(s.k, vec * at_once))));
    const auto blocks = static_cast<unsigned>(ceil_div(s.n, kSelfLoopThreads / lanes));
    if (vec == 4) {
        self_loops_kernel<T, 4><<<blocks, kSelfLoopThreads, 0, stream>>>(s, lanes);
    } else {
        self_loops_kernel<T, 1><<<blocks, kSelfLoopThreads, 0, stream>>>(s, lanes);
    }
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::kernels

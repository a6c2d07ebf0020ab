// bias.hpp on a GPU. The gradient is one launch where the rows are few, else one for the parts and one that adds them up:
// threads of a block go down the rows, a group of lanes for each, and add up what they have by shuffles and then over the
// warps. No atomics.
#include <algorithm>

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/elements.cuh"
#include "kernels/common/host.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/dense/bias.hpp"
#include "kernels/dense/stored.hpp"

namespace gnntune::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kSumThreads = 1024;
constexpr int kWarp = 32;
constexpr int kWarps = kSumThreads / kWarp;
constexpr int kAtOnce = 4;  // rows that a thread loads before it adds

/// Thread -> VEC elements; `vectors` in all, `width` of them in a row.
template <typename T, int VEC>
__global__ void add_kernel(const T* x, const T* bias, T* y, std::int64_t vectors, std::int32_t width) {
    using Word = typename WordOf<static_cast<int>(sizeof(T)) * VEC>::type;
    const std::int64_t vector = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (vector >= vectors) return;
    const Pack<T, VEC> added = load_pack<VEC>(bias + vector % width * VEC);
    // y may be x, so not by the cache that never looks again.
    const Word word = *reinterpret_cast<const Word*>(x + vector * VEC);
    Pack<T, VEC> sum = reinterpret_cast<const Pack<T, VEC>&>(word);
#pragma unroll
    for (int i = 0; i < VEC; ++i) sum.v[i] = narrowed<T>(widened(sum.v[i]) + widened(added.v[i]));
    *reinterpret_cast<Word*>(y + vector * VEC) = reinterpret_cast<const Word&>(sum);
}

/// Block (c, p) -> the c-th `lanes` vectors of rows p n / parts to (p + 1) n / parts: their sums, to row p of `out`.
template <typename In, typename Out, int VEC>
__global__ void __launch_bounds__(kSumThreads)
    sum_kernel(const In* x, std::int64_t n, std::int32_t k, int lanes, Out* out) {
    __shared__ float left[kWarps][kWarp * VEC];
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const std::int64_t team = threadIdx.x / static_cast<unsigned>(lanes);
    const std::int64_t teams = kSumThreads / lanes;
    const std::int64_t column = (std::int64_t{blockIdx.x} * lanes + lane) * VEC;
    const std::int64_t parts = gridDim.y;
    const std::int64_t part = blockIdx.y;
    const std::int64_t last = (part + 1) * n / parts;
    Vec<VEC> sum{};
    if (column < k) {
        std::int64_t row = part * n / parts + team;
        for (; row + (kAtOnce - 1) * teams < last; row += kAtOnce * teams) {
            Pack<In, VEC> seen[kAtOnce];
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) seen[i] = load_pack<VEC>(x + (row + i * teams) * k + column);
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) fma(sum, 1.0F, seen[i]);
        }
        for (; row < last; row += teams) fma(sum, 1.0F, load_pack<VEC>(x + row * k + column));
    }
    for (int offset = kWarp / 2; offset >= lanes; offset /= 2) {
#pragma unroll
        for (int i = 0; i < VEC; ++i) sum.v[i] += __shfl_xor_sync(0xffffffffU, sum.v[i], offset);
    }
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    if (static_cast<int>(threadIdx.x) % kWarp < lanes) {
#pragma unroll
        for (int i = 0; i < VEC; ++i) left[warp][lane * VEC + i] = sum.v[i];
    }
    __syncthreads();
    const int place = static_cast<int>(threadIdx.x);
    const std::int64_t first = std::int64_t{blockIdx.x} * lanes * VEC;
    if (place >= lanes * VEC || first + place >= k) return;
    float total = 0.0F;
#pragma unroll 8
    for (int w = 0; w < kWarps; ++w) total += left[w][place];
    out[part * k + first + place] = narrowed<Out>(total);
}

template <typename In, typename Out>
void launch_sums(const In* x, std::int64_t n, std::int32_t k, std::int32_t parts, Out* out, cudaStream_t stream) {
    const int vec = vector_width(k, {x}, static_cast<int>(16 / sizeof(In)), sizeof(In));
    const int lanes = next_power_of_two(static_cast<std::int32_t>(std::min<std::int64_t>(ceil_div(k, vec), kWarp)));
    const dim3 blocks(blocks_for(ceil_div(k, vec), lanes), static_cast<unsigned>(parts));
    with_vector<In>(vec, [&](auto width) {
        sum_kernel<In, Out, width()><<<blocks, kSumThreads, 0, stream>>>(x, n, k, lanes, out);
    });
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T>
void launch_add(const BiasShape& s, const T* x, const T* bias, T* y, cudaStream_t stream) {
    const int vec = vector_width(s.k, {x, bias, y}, static_cast<int>(16 / sizeof(T)), sizeof(T));
    const std::int64_t vectors = std::int64_t{s.n} * s.k / vec;
    with_vector<T>(vec, [&](auto width) {
        add_kernel<T, width()><<<blocks_for(vectors, kThreads), kThreads, 0, stream>>>(x, bias, y, vectors, s.k / vec);
    });
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T>
void launch_grad(const BiasShape& s, const T* grad_y, T* grad_bias, void* workspace, cudaStream_t stream) {
    const std::int32_t parts = bias_grad_parts(s);
    if (parts == 1) return launch_sums(grad_y, s.n, s.k, 1, grad_bias, stream);
    auto* sums = static_cast<float*>(workspace);
    launch_sums(grad_y, s.n, s.k, parts, sums, stream);
    launch_sums<float, T>(sums, parts, s.k, 1, grad_bias, stream);
}

}  // namespace

void bias_add_on_gpu(const BiasShape& shape, const void* x, const void* bias, void* y, StreamHandle stream) {
    if (shape.n == 0) return;
    with_storage(shape.dtype, [&]<typename T>(std::type_identity<T>) {
        launch_add(shape, stored<T>(x), stored<T>(bias), stored<T>(y), static_cast<cudaStream_t>(stream));
    });
}

void bias_grad_on_gpu(const BiasShape& shape, const void* grad_y, void* grad_bias, void* workspace,
                      StreamHandle stream) {
    with_storage(shape.dtype, [&]<typename T>(std::type_identity<T>) {
        launch_grad(shape, stored<T>(grad_y), stored<T>(grad_bias), workspace, static_cast<cudaStream_t>(stream));
    });
}

}  // namespace gnntune::kernels

// One number per row of a dense matrix: <a_r, b_r>, or 1 / |a_r|. One pass over the operands, of type T: f32, f16 or
// bf16, coalesced; sums are fp32.
#pragma once

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/elements.cuh"
#include "kernels/common/host.hpp"

namespace gnntune::kernels {

/// 1 / sqrt(square), and 0 for a zero vector: what makes its cosines, and gradients to it, vanish.
__device__ __forceinline__ float inverse_norm(float square) {
    return square > 0.0F ? rsqrtf(square) : 0.0F;
}

inline constexpr int kRowDotThreads = 256;

/// Group of `lanes` threads -> row r: store(r, <a_r, b_r>), of a_r with itself if `b` is null.
template <int VEC, typename T, typename Store>
static __global__ void row_dots_kernel(const T* __restrict__ a, const T* __restrict__ b, std::int64_t rows,
                                       std::int32_t k, int lanes, Store store) {
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const std::int64_t row = group_index(lanes);
    float sum = 0.0F;
    for (std::int32_t f = lane * VEC; row < rows && f < k; f += lanes * VEC) {
        const Pack<T, VEC> left = load_pack<VEC>(a + row * k + f);
        const Pack<T, VEC> right = b ? load_pack<VEC>(b + row * k + f) : left;
        sum = dot(sum, left, right);
    }
    // Threads beyond the last row are still here.
    for (int offset = lanes / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, offset);
    if (lane == 0 && row < rows) store(row, sum);
}

/// Enqueues store(r, <a_r, b_r>) for `rows` rows of k elements, of a_r with itself if `b` is null.
template <typename T, typename Store>
static void for_row_dots(const T* a, const T* b, std::int64_t rows, std::int32_t k, Store store, cudaStream_t stream) {
    if (rows == 0) return;
    const int vec = vector_width(k, {a, b}, static_cast<int>(16 / sizeof(T)), sizeof(T));
    const int lanes = next_power_of_two(static_cast<std::int32_t>(std::min<std::int64_t>(ceil_div(k, vec), 32)));
    const auto blocks = static_cast<unsigned>(ceil_div(rows, kRowDotThreads / lanes));
    auto* kernel = vec == 4   ? &row_dots_kernel<4, T, Store>
                   : vec == 2 ? &row_dots_kernel<2, T, Store>
                              : &row_dots_kernel<1, T, Store>;
    if constexpr (sizeof(T) == 2) {
        if (vec == 8) kernel = &row_dots_kernel<8, T, Store>;
    }
    kernel<<<blocks, kRowDotThreads, 0, stream>>>(a, b, rows, k, lanes, store);
    GNNTUNE_CUDA(cudaGetLastError());
}

struct StoreDot {
    float* out;
    __device__ __forceinline__ void operator()(std::int64_t row, float sum) const { out[row] = sum; }
};
struct StoreInverseNorm {
    float* out;
    __device__ __forceinline__ void operator()(std::int64_t row, float sum) const { out[row] = inverse_norm(sum); }
};

/// Enqueues out[r] = <a_r, b_r> for `rows` rows of k elements.
template <typename T>
static void row_dots(const T* a, const T* b, float* out, std::int64_t rows, std::int32_t k, cudaStream_t stream) {
    for_row_dots(a, b, rows, k, StoreDot{out}, stream);
}
/// Enqueues out[r] = 1 / |a_r|.
template <typename T>
static void row_inverse_norms(const T* a, float* out, std::int64_t rows, std::int32_t k, cudaStream_t stream) {
    for_row_dots<T>(a, nullptr, rows, k, StoreInverseNorm{out}, stream);
}

}  // namespace gnntune::kernels

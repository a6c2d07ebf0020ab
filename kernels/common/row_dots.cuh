// One number per row of a dense matrix: <a_r, b_r>, or 1 / |a_r|. One pass over the operands, coalesced.
#pragma once

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/vec.cuh"

namespace gnntune::kernels {

/// 1 / sqrt(square), and 0 for a zero vector: what makes its cosines, and gradients to it, vanish.
__device__ __forceinline__ float inverse_norm(float square) {
    return square > 0.0F ? rsqrtf(square) : 0.0F;
}

inline constexpr int kRowDotThreads = 256;

/// Group of `lanes` threads -> row r: store(r, <a_r, b_r>), of a_r with itself if `b` is null.
template <int VEC, typename Store>
static __global__ void row_dots_kernel(const float* __restrict__ a, const float* __restrict__ b, std::int64_t rows,
                                       std::int32_t k, int lanes, Store store) {
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const std::int64_t row = group_index(lanes);
    float sum = 0.0F;
    for (std::int32_t f = lane * VEC; row < rows && f < k; f += lanes * VEC) {
        const Vec<VEC> left = load<VEC>(a + row * k + f);
        const Vec<VEC> right = b ? load<VEC>(b + row * k + f) : left;
#pragma unroll
        for (int i = 0; i < VEC; ++i) sum = fmaf(left.v[i], right.v[i], sum);
    }
    // Threads beyond the last row are still here.
    for (int offset = lanes / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, offset);
    if (lane == 0 && row < rows) store(row, sum);
}

/// Enqueues store(r, <a_r, b_r>) for `rows` rows of k floats, of a_r with itself if `b` is null.
template <typename Store>
static void for_row_dots(const float* a, const float* b, std::int64_t rows, std::int32_t k, Store store, cudaStream_t stream) {
    if (rows == 0) return;
    const int vec = vector_width(k, {a, b});
    const int lanes = next_power_of_two(static_cast<std::int32_t>(std::min<std::int64_t>(ceil_div(k, vec), 32)));
    const auto blocks = static_cast<unsigned>(ceil_div(rows, kRowDotThreads / lanes));
    auto* kernel = vec == 4   ? &row_dots_kernel<4, Store>
                   : vec == 2 ? &row_dots_kernel<2, Store>
                              : &row_dots_kernel<1, Store>;
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

/// Enqueues out[r] = <a_r, b_r> for `rows` rows of k floats.
[[maybe_unused]] static void row_dots(const float* a, const float* b, float* out, std::int64_t rows, std::int32_t k,
                                      cudaStream_t stream) {
    for_row_dots(a, b, rows, k, StoreDot{out}, stream);
}
/// Enqueues out[r] = 1 / |a_r|.
[[maybe_unused]] static void row_inverse_norms(const float* a, float* out, std::int64_t rows, std::int32_t k,
                                               cudaStream_t stream) {
    for_row_dots(a, nullptr, rows, k, StoreInverseNorm{out}, stream);
}

}  // namespace gnntune::kernels

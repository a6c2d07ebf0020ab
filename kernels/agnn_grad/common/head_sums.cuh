// out[h] = sum over rows of value[row, h], in a fixed order and without atomics: blocks leave partial sums in the
// workspace, a second kernel adds them. `out` is f32, f16 or bf16, rounded once.
#pragma once

#include "core/gpu/cuda_check.hpp"
#include "kernels/agnn_grad/common/head_sums.hpp"
#include "kernels/common/elements.cuh"

namespace gnntune::kernels {

/// grid {blocks, heads}: out[block * heads + head] = sum of the rows block * THREADS + thread, and so on by the grid.
template <int THREADS = kHeadSumThreads, typename T>
static __global__ void head_sums_kernel(const float* __restrict__ value, std::int64_t rows, int heads,
                                        T* __restrict__ out) {
    __shared__ float shared[THREADS / 32];
    const int head = static_cast<int>(blockIdx.y);
    float sum = 0.0F;
    for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * THREADS + threadIdx.x; row < rows;
         row += static_cast<std::int64_t>(gridDim.x) * THREADS) {
        sum += __ldg(value + row * heads + head);
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, offset);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int w = 1; w < THREADS / 32; ++w) sum += shared[w];
    out[static_cast<std::int64_t>(blockIdx.x) * heads + head] = narrowed<T>(sum);
}

/// Enqueues both kernels. `partial` has head_sum_blocks(rows) * heads floats; heads <= 65535.
template <typename T>
static void head_sums(const float* value, std::int64_t rows, int heads, float* partial, T* out, cudaStream_t stream) {
    const std::int64_t blocks = head_sum_blocks(rows);
    const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(heads));
    head_sums_kernel<<<grid, kHeadSumThreads, 0, stream>>>(value, rows, heads, partial);
    head_sums_kernel<<<dim3(1, grid.y), kHeadSumThreads, 0, stream>>>(partial, blocks, heads, out);
    GNNTUNE_CUDA(cudaGetLastError());
}

/// The same in one launch where `rows` are few.
template <typename T>
static void few_head_sums(const float* value, std::int64_t rows, int heads, float* partial, T* out,
                          cudaStream_t stream) {
    constexpr int kThreads = 1024;
    if (rows > 8 * kThreads) return head_sums(value, rows, heads, partial, out, stream);
    head_sums_kernel<kThreads><<<dim3(1, static_cast<unsigned>(heads)), kThreads, 0, stream>>>(value, rows, heads, out);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::kernels

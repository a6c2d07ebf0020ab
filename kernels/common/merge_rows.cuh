// The pieces of split rows (kernels/common/row_pieces.hpp) added up: out[row, :] = sum over its pieces of
// partial[slot, :], for the mean divided by the row's number of edges.
//
// Layout   partial [slots, width], fp32; out [n_rows, width] of T: f32, f16 or bf16; row-major, device memory.
// Work     Block b -> split row b, a tile of blockDim.x columns each pass: its pieces in the order of their slots, every
//          blockDim.y-th by one line of threads, the lines one after the other.
// Atomics  none; the order of summation depends on the number of pieces and the width only.
#pragma once

#include <algorithm>

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/elements.cuh"
#include "kernels/common/host.hpp"
#include "kernels/common/row_pieces.hpp"

namespace gnntune::kernels {

inline constexpr int kMergeRowThreads = 128;

template <typename T>
__global__ void __launch_bounds__(kMergeRowThreads)
    merge_rows_kernel(const SplitRow* __restrict__ split, const std::int32_t* __restrict__ mean_of,
                      const float* __restrict__ partial, T* __restrict__ out, std::int64_t width) {
    __shared__ float shared[kMergeRowThreads];
    const SplitRow r = split[blockIdx.x];
    const int at = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
    float factor = 1.0F;
    if (mean_of) factor /= static_cast<float>(max(1, __ldg(mean_of + r.row + 1) - __ldg(mean_of + r.row)));
    for (std::int64_t base = 0; base < width; base += blockDim.x) {
        const std::int64_t f = base + threadIdx.x;
        float sum = 0.0F;
        if (f < width) {
#pragma unroll 4
            for (int s = static_cast<int>(threadIdx.y); s < r.count; s += static_cast<int>(blockDim.y)) {
                sum += __ldg(partial + static_cast<std::int64_t>(r.first_slot + s) * width + f);
            }
        }
        shared[at] = sum;
        __syncthreads();
        if (threadIdx.y == 0 && f < width) {
            for (unsigned line = 1; line < blockDim.y; ++line) sum += shared[line * blockDim.x + threadIdx.x];
            out[static_cast<std::int64_t>(r.row) * width + f] = narrowed<T>(sum * factor);
        }
        __syncthreads();
    }
}

/// Enqueues the sums of every split row; nothing if there is none. `mean_of`: row_ptr for the mean, null for the sum.
template <typename T>
void launch_merge_rows(const RowPieces& pieces, const std::int32_t* mean_of, const float* partial, T* out,
                       std::int64_t width, cudaStream_t stream) {
    const auto split = static_cast<unsigned>(pieces.split.size());
    if (split == 0) return;
    const auto wide = static_cast<unsigned>(
        std::clamp(next_power_of_two(static_cast<std::int32_t>(std::min<std::int64_t>(width, 64))), 8, 64));
    merge_rows_kernel<T>
        <<<split, dim3(wide, kMergeRowThreads / wide), 0, stream>>>(pieces.split.data(), mean_of, partial, out, width);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::kernels

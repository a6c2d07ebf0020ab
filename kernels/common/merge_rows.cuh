// The pieces of split rows (kernels/common/row_pieces.hpp) added up: out[row, :] = sum over its pieces of
// partial[slot, :], for the mean divided by the row's number of terms: its edges, and its self loop if rows have one.
//
// Layout   partial [slots, width], fp32; out [n_rows, width] of T: f32, f16 or bf16; row-major, device memory.
// Work     Rows of many pieces: block b -> split row b, a tile of blockDim.x columns each pass: its pieces in the order
//          of their slots, every blockDim.y-th by one line of threads, the lines one after the other. Rows of few: a
//          group of lanes -> a split row, a lane -> VEC columns each pass, the pieces in the order of their slots.
// Atomics  none; the order of summation depends on a row's number of pieces, the most pieces of a row where the plan
//          knows them, and the width only.
#pragma once

#include <algorithm>

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/elements.cuh"
#include "kernels/common/host.hpp"
#include "kernels/common/row_pieces.hpp"

namespace gnntune::kernels {

inline constexpr int kMergeRowThreads = 128;

/// What makes means of sums; by default nothing does.
struct Mean {
    const std::int32_t* row_ptr = nullptr;  ///< null: the sum
    bool self_loop = false;                 ///< rows have a term more than edges

    __device__ __forceinline__ float factor(std::int32_t row) const {
        if (!row_ptr) return 1.0F;
        const std::int32_t terms = __ldg(row_ptr + row + 1) - __ldg(row_ptr + row) + (self_loop ? 1 : 0);
        return 1.0F / static_cast<float>(max(1, terms));
    }
};

template <typename T>
__global__ void __launch_bounds__(kMergeRowThreads)
    merge_rows_kernel(const SplitRow* __restrict__ split, const Mean mean, const float* __restrict__ partial,
                      T* __restrict__ out, std::int64_t width) {
    __shared__ float shared[kMergeRowThreads];
    const SplitRow r = split[blockIdx.x];
    const int at = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
    const float factor = mean.factor(r.row);
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

/// Pieces up to which a group of lanes is enough for a row: a block for each of many rows takes longer to start than to
/// add them up.
inline constexpr int kFewPieces = 32;

template <typename T, int VEC>
__global__ void __launch_bounds__(kMergeRowThreads)
    merge_few_kernel(const SplitRow* __restrict__ split, std::int64_t n_split, const Mean mean,
                     const float* __restrict__ partial, T* __restrict__ out, std::int64_t width, int lanes) {
    const std::int64_t at = group_index(lanes);
    if (at >= n_split) return;
    const SplitRow r = split[at];
    const float factor = mean.factor(r.row);
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    for (std::int64_t f = std::int64_t{lane} * VEC; f < width; f += std::int64_t{lanes} * VEC) {
        const float* from = partial + static_cast<std::int64_t>(r.first_slot) * width + f;
        Vec<VEC> sum;
        zero(sum);
#pragma unroll 4
        for (int s = 0; s < r.count; ++s) {
            const Vec<VEC> piece = load<VEC>(from + s * width);
#pragma unroll
            for (int i = 0; i < VEC; ++i) sum.v[i] += piece.v[i];
        }
        scale(sum, factor);
        store_streaming(out + static_cast<std::int64_t>(r.row) * width + f, sum);
    }
}

template <typename T, int VEC>
void launch_merge_few(const RowPieces& pieces, const Mean& mean, const float* partial, T* out, std::int64_t width,
                      cudaStream_t stream) {
    const auto n_split = static_cast<std::int64_t>(pieces.split.size());
    const int lanes = next_power_of_two(static_cast<std::int32_t>(std::min<std::int64_t>(32, ceil_div(width, VEC))));
    const auto blocks = static_cast<unsigned>(ceil_div(n_split, kMergeRowThreads / lanes));
    merge_few_kernel<T, VEC>
        <<<blocks, kMergeRowThreads, 0, stream>>>(pieces.split.data(), n_split, mean, partial, out, width, lanes);
    GNNTUNE_CUDA(cudaGetLastError());
}

/// Enqueues the sums or means of every split row; nothing if there is none.
template <typename T>
void launch_merge_rows(const RowPieces& pieces, const Mean& mean, const float* partial, T* out, std::int64_t width,
                       cudaStream_t stream) {
    const auto split = static_cast<unsigned>(pieces.split.size());
    if (split == 0) return;
    if (pieces.most_pieces > 0 && pieces.most_pieces <= kFewPieces) {
        const bool vectors = vector_width(static_cast<std::int32_t>(width), {out}, 4, sizeof(T)) == 4 &&
                             vector_width(static_cast<std::int32_t>(width), {partial}) == 4;
        if (vectors) return launch_merge_few<T, 4>(pieces, mean, partial, out, width, stream);
        return launch_merge_few<T, 1>(pieces, mean, partial, out, width, stream);
    }
    const auto wide = static_cast<unsigned>(
        std::clamp(next_power_of_two(static_cast<std::int32_t>(std::min<std::int64_t>(width, 64))), 8, 64));
    merge_rows_kernel<T>
        <<<split, dim3(wide, kMergeRowThreads / wide), 0, stream>>>(pieces.split.data(), mean, partial, out, width);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::kernels

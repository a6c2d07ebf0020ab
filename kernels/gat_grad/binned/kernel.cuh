// gat_grad.binned: gradients of gat with one gather per edge: a pass over columns, then sums over rows.
//
//   alpha = exp(e - lse_i),  alpha~ = alpha keep,  d = keep <grad_y[i, h], x[j, h]>,  D_i = <grad_y[i, h], y[i, h]>
//   row dots         terms[i, h] = (score_row[i, h], lse[i, h], D_i)
//   columns_kernel   g[id, h] = alpha (d - D_i) leaky_relu'(.),  grad_score_col[j, h] = sum over the column of g,
//                    grad_x[j, h] = sum of alpha~ grad_y[i, h]       (kernels/common/column_pass.cuh, with GatEdges)
//   row_sums_kernel  grad_score_row[i, h] = sum over the row of g
//
// Layout   edge_id of both formats, or null, leads to the caller's order, in which g [m, heads] stands. Scores, lse and
//          their gradients [n, heads]; y [n_rows, heads, k]; row-major, device memory. Features, scores and gradients
//          are of type T: f32, f16 or bf16; lse, terms, g and sums are fp32.
// Work     rows: binned by degree, a thread for an edge and head.
// Data     16 bytes of terms per edge and head gathered, 4 bytes of g written, and read once more by the rows.
// Atomics  none; the order of summation depends on the params, the degree, the place of the first edge and whether
//          ids are aligned to four only.
#pragma once

#include "kernels/common/column_pass.cuh"
#include "kernels/common/gat.cuh"
#include "kernels/common/row_dots.cuh"
#include "kernels/gat_grad/binned/workspace.hpp"

namespace gnntune::gat_grad_binned {

using namespace kernels;  // NOLINT: this header is included by launch_*.cu alone

/// Takes the mean of row and head u, and stores it with the rest.
template <typename T>
struct StoreTerms {
    const T* score_row;
    const float* lse;
    RowTerms* terms;

    __device__ __forceinline__ void operator()(std::int64_t u, float mean) const {
        *reinterpret_cast<float4*>(terms + u) = make_float4(load_value(score_row + u), __ldg(lse + u), mean, 0.0F);
    }
};

template <typename T, bool DROPOUT>
struct GatEdges {
    struct Term {
        std::int32_t id;  ///< in the caller's order
        RowTerms row;     ///< after weigh(): what the logit's gradient is linear in
    };
    static constexpr bool kHeavy = DROPOUT;
    static constexpr bool kSelects = false;
    static constexpr bool kSelfLoops = false;
    static constexpr bool kZeroDrops = true;

    const std::int32_t* edge_id;
    GatScores<T> scores;
    const RowTerms* terms;
    float* g;
    T* grad_score_col;
    float* partial;  ///< [slots, heads]

    __device__ __forceinline__ float column(std::int64_t unit) const { return scores.of_col(unit); }
    __device__ __forceinline__ Term load(std::uint32_t e, std::int32_t row, int head) const {
        const float4 t =
            __ldg(reinterpret_cast<const float4*>(terms + static_cast<std::int64_t>(row) * scores.heads + head));
        return {edge_id ? __ldg(edge_id + e) : static_cast<std::int32_t>(e), {t.x, t.y, t.z, 0.0F}};
    }
    __device__ __forceinline__ float weigh(Term& t, float score_col, int head) const {
        const float v = t.row.score + score_col;
        const float alpha = logit_weight(leaky_relu(v, scores.slope), t.row.lse);
        t.row.score = alpha * leaky_relu_derivative(v, scores.slope);
        t.row.keep = DROPOUT ? scores.dropout.factor(t.id, head) : scores.dropout.keep_scale;
        return alpha * t.row.keep;
    }
    __device__ __forceinline__ float finish(const Term& t, int head, float dot) const {
        const float d = t.row.keep != 0.0F ? t.row.keep * dot : 0.0F;
        const float gradient = t.row.score * (d - t.row.mean);
        g[static_cast<std::int64_t>(t.id) * scores.heads + head] = gradient;
        return gradient;
    }
    __device__ __forceinline__ void store(const RowTask& task, std::int64_t unit, float sum) const {
        if (task.slot < 0) {
            grad_score_col[unit] = narrowed<T>(sum);
        } else {
            partial[unit] = sum;
        }
    }
};

/// Thread -> a head of every n-th edge of a row, or of a piece of a long one.
template <typename T>
__global__ void __launch_bounds__(kMaxBinThreads)
    row_sums_kernel(const __grid_constant__ BinnedRowsView rows, const std::int32_t* __restrict__ edge_id,
                    const float* __restrict__ g, T* __restrict__ sums, float* __restrict__ partial, int heads,
                    int lanes) {
    __shared__ float shared[kMaxBinThreads];
    constexpr int kUnroll = 4;
    const RowTask task = row_task(rows);
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const int lanes_shift = 31 - __clz(lanes);
    const int group = (static_cast<int>(threadIdx.x) & (task.team - 1)) >> lanes_shift;
    const auto groups = static_cast<std::uint32_t>(task.team >> lanes_shift);
    const int head = static_cast<int>(blockIdx.y) * lanes + lane;
    float sum = 0.0F;
    if (task.row >= 0 && head < heads) {
        for (std::uint32_t e = task.begin + static_cast<std::uint32_t>(group); e < task.end; e += kUnroll * groups) {
            float value[kUnroll];
#pragma unroll
            for (int u = 0; u < kUnroll; ++u) {
                const std::uint32_t edge = e + static_cast<std::uint32_t>(u) * groups;
                value[u] = 0.0F;
                if (edge >= task.end) continue;
                const std::int64_t id = edge_id ? __ldg(edge_id + edge) : static_cast<std::int64_t>(edge);
                value[u] = __ldg(g + id * heads + head);
            }
#pragma unroll
            for (int u = 0; u < kUnroll; ++u) sum += value[u];
        }
    }
    for (int offset = lanes; offset < min(task.team, 32); offset *= 2) sum += __shfl_xor_sync(0xffffffffU, sum, offset);
    if (task.team > 32) {  // the same for all threads of a block
        const int warp = static_cast<int>(threadIdx.x) / 32;
        if (threadIdx.x % 32 < static_cast<unsigned>(lanes)) shared[warp * lanes + lane] = sum;
        __syncthreads();
        if (group != 0) return;
        for (int w = 1; w < task.team / 32; ++w) sum += shared[(warp + w) * lanes + lane];
    }
    if (task.row < 0 || group != 0 || head >= heads) return;
    if (task.slot >= 0) {
        partial[static_cast<std::int64_t>(task.slot) * heads + head] = sum;
    } else {
        sums[static_cast<std::int64_t>(task.row) * heads + head] = narrowed<T>(sum);
    }
}

}  // namespace gnntune::gat_grad_binned

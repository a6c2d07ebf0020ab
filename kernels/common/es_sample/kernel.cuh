// ES-SpMM with the sample in shared memory (Algorithm 1 of the paper), for Bucket and FastRand alike:
//
//   y[i, :] = scale_i * sum over s < min(degree_i, S) of w_e(i, s) x[col_e(i, s), :]    (+ self_weight[i] x[i, :])
//   for the mean divided by the number of terms (section VI-A: normalised inside). e(i, s) is sampled_position().
//
// Layout   row_ptr [n_rows + 1], col_idx [m], edge_id [m] or null, edge_weight [m] (caller's order), self_weight
// [n_rows]
//          or null, x [n_cols, k], y [n_rows, k], row-major, device memory, x and y aligned to 4 VEC bytes.
// Work     grid.x walks the rows; block -> blockDim.x / group rows; group of 32 to 128 threads -> one row. A group is
//          `parts` parts of `lanes` threads; part p takes the samples p, p + parts, ...; lane -> VEC features. Where
//          k is wider than lanes * VEC there is one part, which walks over the feature tiles.
// Data     Stage 1: the group's threads draw the sample together and copy its column ids and weights into shared
// memory,
//          coalesced for Bucket. Stage 2: per step a lane reads kFlight ids (broadcast), issues as many independent
//          gathers, then multiplies. A is read once per run whatever k is; y is written once.
// Shared   per row S ids, with weights S floats more; 4 VEC bytes a thread for the sums of parts in different warps.
// Barriers per group, so that rows do not wait for each other: a warp's own for 32 threads, a named one above. Threads
//          without a row stay to the end: no barrier is divergent.
// Atomics  none; the order of summation depends on params and k only: repeats bit for bit.
// Needs    group a power of two, 32 to 128, that divides blockDim.x; blockDim.x / group at most 15; lanes a power of
// two
//          up to group, and lanes * VEC >= k where lanes < group.
#pragma once

#include "core/graph/sample.hpp"
#include "kernels/common/es_sample/launch.hpp"
#include "kernels/common/vec.cuh"

namespace gnntune::kernels {

/// Gathers that a lane keeps in flight.
inline constexpr int kFlight = 8;

/// Barrier of the `group` consecutive threads whose number in the block is `slot`.
__device__ __forceinline__ void group_barrier(int slot, int group) {
    if (group == 32) {
        __syncwarp();
    } else {
        asm volatile("bar.sync %0, %1;" ::"r"(slot + 1), "r"(group) : "memory");
    }
}

template <int VEC, bool WEIGHTED>
__global__ void __launch_bounds__(kEsThreads)
    es_sample_kernel(const std::int32_t* __restrict__ row_ptr, const std::int32_t* __restrict__ col_idx,
                     const std::int32_t* __restrict__ edge_id, const float* __restrict__ edge_weight,
                     const float* __restrict__ self_weight, const float* __restrict__ x, float* __restrict__ y,
                     std::int32_t n_rows, std::int32_t k, SampleRule rule, bool mean, int group, int lanes) {
    extern __shared__ float4 es_shared[];
    const int slots = static_cast<int>(blockDim.x) / group;
    const int slot = static_cast<int>(threadIdx.x) / group;
    const int thread = static_cast<int>(threadIdx.x) & (group - 1);
    auto* cols = reinterpret_cast<std::int32_t*>(es_shared) + slot * rule.width;
    auto* weights = reinterpret_cast<float*>(es_shared) + (slots + slot) * rule.width;
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * slots + slot;
    const bool here = row < n_rows;

    const std::int32_t begin = here ? __ldg(row_ptr + row) : 0;
    const std::int32_t degree = here ? __ldg(row_ptr + row + 1) - begin : 0;
    const std::int32_t count = sampled_count(rule, degree);
    for (std::int32_t i = thread; i < count; i += group) {
        const std::int32_t e = begin + sampled_position(rule, degree, i);
        cols[i] = __ldg(col_idx + e);
        if (WEIGHTED) weights[i] = __ldg(edge_weight + (edge_id ? __ldg(edge_id + e) : e));
    }
    group_barrier(slot, group);

    const int parts = group / lanes;
    const int part = thread / lanes;
    const int lane = thread & (lanes - 1);
    const float scale = sample_scale(rule, degree);
    const std::int32_t terms = count + (self_weight ? 1 : 0);
    const float factor = mean && terms > 0 ? 1.0F / static_cast<float>(terms) : 1.0F;

    for (int tile = 0; tile < k; tile += lanes * VEC) {
        const int f = tile + lane * VEC;
        const bool inside = here && f < k;
        Vec<VEC> acc;
        zero(acc);
        for (std::int32_t i = part; i < count; i += parts * kFlight) {
            Vec<VEC> value[kFlight];
#pragma unroll
            for (int u = 0; u < kFlight; ++u) {
                const std::int32_t at = i + u * parts;
                zero(value[u]);
                if (inside && at < count) value[u] = load<VEC>(x + static_cast<std::int64_t>(cols[at]) * k + f);
            }
#pragma unroll
            for (int u = 0; u < kFlight; ++u) {
                const std::int32_t at = i + u * parts;
                if (at < count) fma(acc, WEIGHTED ? weights[at] : 1.0F, value[u]);
            }
        }
        if (parts > 1) {
            // Parts of one warp meet by shuffles, those of different warps in shared memory. There is one tile only.
            for (int offset = lanes; offset < 32; offset *= 2) {
#pragma unroll
                for (int j = 0; j < VEC; ++j) acc.v[j] += __shfl_xor_sync(0xffffffffU, acc.v[j], offset);
            }
            if (group > 32) {
                auto* partial =
                    reinterpret_cast<float*>(es_shared) + slots * rule.width * (WEIGHTED ? 2 : 1) + slot * group * VEC;
#pragma unroll
                for (int j = 0; j < VEC; ++j) partial[j * group + thread] = acc.v[j];
                group_barrier(slot, group);
                const int stride = lanes < 32 ? 32 : lanes;
                for (int other = thread + stride; part == 0 && other < group; other += stride) {
#pragma unroll
                    for (int j = 0; j < VEC; ++j) acc.v[j] += partial[j * group + other];
                }
            }
        }
        if (part != 0 || !inside) continue;
        kernels::scale(acc, scale);
        if (self_weight) fma(acc, __ldg(self_weight + row), load<VEC>(x + row * k + f));
        kernels::scale(acc, factor);
        store_streaming(y + row * k + f, acc);
    }
}

}  // namespace gnntune::kernels

// ES-SpMM with the sample in shared memory (Algorithm 1 of the paper), for Bucket and FastRand alike:
//
//   y[i, :] = scale_i * sum over s < min(degree_i, S) of w_e(i, s) x[col_e(i, s), :]    (+ self_weight[i] x[i, :])
//   for the mean divided by the number of terms (section VI-A: normalised inside). e(i, s) is RowSample::position().
//
// Layout   row_ptr [n_rows + 1], col_idx [m], edge_id [m] or null, edge_weight [m] (caller's order),
//          self_weight [n_rows] or null, x [n_cols, k], y [n_rows, k], row-major, device memory, x and y aligned to
//          VEC elements. x, weights and y are of type T: f32, f16 or bf16; sums are fp32.
// Work     grid.x walks the rows; block -> kEsThreads / group rows; group of 32 to 128 threads -> one row. A group is
//          `parts` parts of `lanes` threads; part p takes the samples p, p + parts, ...; lane -> VEC features. Where
//          k is wider than lanes * VEC there is one part, which walks over the feature tiles.
// Data     Stage 1: the group's threads draw up to `chunk` samples together and copy their column ids and weights into
//          shared memory, coalesced for Bucket. Stage 2: per step a lane reads FLIGHT ids (broadcast), issues as many
//          independent gathers, then multiplies. A sample longer than a chunk takes turns. y is written once.
// Sums     FLIGHT products at a time: where the prime divides the degree, the same edge comes hundreds of times, and
//          the rounding errors of a single chain all point the same way.
// Shared   per row `chunk` samples, an id or an id and a weight side by side; 4 VEC bytes a thread for the sums of
//          parts in different warps.
// Barriers per group, so that rows do not wait for each other: a warp's own for 32 threads, a named one above.
//          Threads without a row stay to the end: no barrier is divergent.
// Atomics  none; the order of summation depends on params, k and VEC only, which is as wide as k and the alignment of
//          x and y allow: repeats bit for bit with operands of the same alignment.
// Needs    group and lanes powers of two, group from 32 to 128, lanes up to group, and lanes * VEC >= k where
//          lanes < group.
#pragma once

#include <type_traits>

#include "core/graph/sample.hpp"
#include "kernels/common/elements.cuh"
#include "kernels/spmm/common/es_sample/launch.hpp"

namespace gnntune::kernels {

/// Barrier of the `group` consecutive threads whose number in the block is `slot`.
__device__ __forceinline__ void group_barrier(int slot, int group) {
    if (group == 32) {
        __syncwarp();
    } else {
        asm volatile("bar.sync %0, %1;" ::"r"(slot + 1), "r"(group) : "memory");
    }
}

/// What stage 1 leaves for stage 2: the column of a kept edge, and its weight.
struct WeightedSample {
    std::int32_t col;
    float weight;
};
struct PlainSample {
    std::int32_t col;
    static constexpr float weight = 1.0F;
};

/// Reads the stored edge e into a sample.
template <typename T, bool WEIGHTED>
struct EdgeReader {
    using Sample = std::conditional_t<WEIGHTED, WeightedSample, PlainSample>;

    __device__ __forceinline__ Sample operator()(std::int32_t e) const {
        Sample s;
        s.col = __ldg(col_idx + e);
        if constexpr (WEIGHTED) s.weight = load_value(edge_weight + (edge_id ? __ldg(edge_id + e) : e));
        return s;
    }

    const std::int32_t* col_idx;
    const std::int32_t* edge_id;
    const T* edge_weight;
};

/// Where a row's edges begin and how many it has: none where there is no such row.
struct RowEdges {
    std::int32_t begin;
    std::int32_t degree;
};
__device__ __forceinline__ RowEdges edges_of_row(const std::int32_t* row_ptr, unsigned row, std::int32_t n_rows) {
    if (row >= static_cast<unsigned>(n_rows)) return {0, 0};
    const std::int32_t begin = __ldg(row_ptr + row);
    return {begin, __ldg(row_ptr + row + 1) - begin};
}

/// acc += the next FLIGHT samples from `mine` on, `stride` apart: all of them if FULL, else those before `left`.
template <typename T, int VEC, int FLIGHT, bool FULL, typename Sample>
__device__ __forceinline__ void gather_step(Vec<VEC>& acc, const Sample* mine, int stride, std::int32_t left,
                                            const T* column, std::int32_t k) {
    Pack<T, VEC> value[FLIGHT];
    float weight[FLIGHT];
#pragma unroll
    for (int u = 0; u < FLIGHT; ++u) {
        if (!FULL) {
            zero(value[u]);
            weight[u] = 0.0F;
        }
        if (FULL || u * stride < left) {
            const Sample s = mine[u * stride];
            weight[u] = s.weight;
            value[u] = load_pack<VEC>(column + static_cast<std::int64_t>(s.col) * k);
        }
    }
    Vec<VEC> sum;
    zero(sum);
#pragma unroll
    for (int u = 0; u < FLIGHT; ++u) fma(sum, weight[u], value[u]);
#pragma unroll
    for (int j = 0; j < VEC; ++j) acc.v[j] += sum.v[j];
}

/// Scales the sum of a row's samples, adds the self loop, and writes features f .. f + VEC - 1 of the row.
template <typename T, int VEC>
__device__ __forceinline__ void finish_row(Vec<VEC>& acc, const SampleRule& rule, bool mean, std::int32_t count,
                                           std::int32_t degree, const T* self_weight, const T* column, T* y,
                                           unsigned row, int f, std::int32_t k) {
    if (rule.rescale) kernels::scale(acc, sample_scale(rule, degree));
    if (self_weight) {
        fma(acc, load_value(self_weight + row), load_pack<VEC>(column + static_cast<std::int64_t>(row) * k));
    }
    const std::int32_t terms = count + (self_weight ? 1 : 0);
    if (mean && terms > 0) kernels::scale(acc, 1.0F / static_cast<float>(terms));
    store_streaming(y + static_cast<std::int64_t>(row) * k + f, acc);
}

template <typename T, int VEC, bool WEIGHTED, int FLIGHT>
__global__ void __launch_bounds__(kEsThreads, VEC * sizeof(T) == 16 ? (FLIGHT == 8 ? 3 : 4) : 5)
    es_sample_kernel(const std::int32_t* __restrict__ row_ptr, const std::int32_t* __restrict__ col_idx,
                     const std::int32_t* __restrict__ edge_id, const T* __restrict__ edge_weight,
                     const T* __restrict__ self_weight, const T* __restrict__ x, T* __restrict__ y, std::int32_t n_rows,
                     std::int32_t k, SampleRule rule, bool mean, EsShape shape) {
    using Reader = EdgeReader<T, WEIGHTED>;
    using Sample = typename Reader::Sample;
    extern __shared__ float4 es_shared[];
    const int group = 1 << shape.group_shift;
    const int slots = kEsThreads >> shape.group_shift;
    const int slot = static_cast<int>(threadIdx.x) >> shape.group_shift;
    const int thread = static_cast<int>(threadIdx.x) & (group - 1);
    Sample* const sample = reinterpret_cast<Sample*>(es_shared) + slot * shape.chunk;
    const int lanes = 1 << shape.lane_shift;
    const int parts = group >> shape.lane_shift;
    const int part = thread >> shape.lane_shift;
    const int lane = thread & (lanes - 1);

    const unsigned row = blockIdx.x * static_cast<unsigned>(slots) + static_cast<unsigned>(slot);
    const RowEdges edges = edges_of_row(row_ptr, row, n_rows);
    const RowSample drawing = sample_row(rule, edges.degree);
    const std::int32_t count = drawing.count;
    const Reader read{col_idx, edge_id, edge_weight};
    const auto draw = [&](std::int32_t i) { return read(edges.begin + drawing.position(i)); };

    for (int tile = 0; tile < k; tile += lanes * VEC) {
        const int f = tile + lane * VEC;
        const T* const column = x + (f < k ? f : 0);  // lanes beyond k gather what they do not store
        Vec<VEC> acc;
        zero(acc);
        for (std::int32_t from = 0; from < count; from += shape.chunk) {
            const std::int32_t drawn = min(shape.chunk, count - from);
            if (tile == 0 || count > shape.chunk) {
                if (from > 0 || tile > 0) group_barrier(slot, group);
                std::int32_t i = thread;
#pragma unroll 1
                for (; i + 3 * group < drawn; i += 4 * group) {
                    Sample s[4];
#pragma unroll
                    for (int u = 0; u < 4; ++u) s[u] = draw(from + i + u * group);
#pragma unroll
                    for (int u = 0; u < 4; ++u) sample[i + u * group] = s[u];
                }
#pragma unroll 1
                for (; i < drawn; i += group) sample[i] = draw(from + i);
                group_barrier(slot, group);
            }
            std::int32_t first = part;
#pragma unroll 1
            for (; first + parts * (FLIGHT - 1) < drawn; first += parts * FLIGHT) {
                gather_step<T, VEC, FLIGHT, true>(acc, sample + first, parts, 0, column, k);
            }
            if (first < drawn) gather_step<T, VEC, FLIGHT, false>(acc, sample + first, parts, drawn - first, column, k);
        }
        if (parts > 1) {
            // Parts of one warp meet by shuffles, those of different warps in shared memory. There is one
            // tile only.
            for (int offset = lanes; offset < 32; offset *= 2) {
#pragma unroll
                for (int j = 0; j < VEC; ++j) acc.v[j] += __shfl_xor_sync(0xffffffffU, acc.v[j], offset);
            }
            if (group > 32) {
                auto* partial = reinterpret_cast<float*>(es_shared) +
                                slots * shape.chunk * static_cast<int>(sizeof(Sample) / 4) + slot * group * VEC;
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
        if (part != 0 || row >= static_cast<unsigned>(n_rows) || f >= k) continue;
        finish_row(acc, rule, mean, count, edges.degree, self_weight, column, y, row, f, k);
    }
}

}  // namespace gnntune::kernels

// ES-SpMM where several rows share a warp: groups of 8 or 16 threads. The rule, the operands and what a row's result is
// are those of kernel.cuh.
//
// Work     Stage 1: each group takes the first kEsFirst * group samples of its row, all groups of the warp at once.
//          Stage 2: what longer rows have left is taken by the whole warp, a row after the other, so that one long row
//          does not leave the other groups idle. Within a stage, part p of the threads takes the samples p, p + parts,
//          ...; lane -> VEC features, with 4 gathers on their way together (8 of fewer than 16 bytes).
// Shared   kEsFirst samples a thread.
// Barriers of a warp only.  Atomics: none; the order of summation depends on params, k and VEC only.
// Needs    group 8 or 16; lanes a power of two up to group, and lanes * VEC >= k where lanes < group.
#pragma once

#include "kernels/spmm/common/es_sample/kernel.cuh"

namespace gnntune::kernels {

/// Samples of a thread in one go. 8 instead of 4 lost at S = 64 and above.
inline constexpr int kEsFirst = 4;

/// Threads `thread` of `threads` copy samples 0 .. drawn - 1 of draw() to shared memory; drawn <= kEsFirst * threads.
template <typename Sample, typename Draw>
__device__ __forceinline__ void copy_samples(Sample* to, std::int32_t drawn, int thread, int threads,
                                             const Draw& draw) {
    Sample s[kEsFirst];
#pragma unroll
    for (int u = 0; u < kEsFirst; ++u) {
        if (thread + u * threads < drawn) s[u] = draw(thread + u * threads);
    }
#pragma unroll
    for (int u = 0; u < kEsFirst; ++u) {
        if (thread + u * threads < drawn) to[thread + u * threads] = s[u];
    }
}

/// acc += samples part, part + parts, ... below `drawn`.
template <typename T, int VEC, int FLIGHT, typename Sample>
__device__ __forceinline__ void gather_samples(Vec<VEC>& acc, const Sample* samples, std::int32_t drawn, int part,
                                               int parts, const T* column, std::int32_t k) {
    std::int32_t first = part;
#pragma unroll 1
    for (; first + parts * (FLIGHT - 1) < drawn; first += parts * FLIGHT) {
        gather_step<T, VEC, FLIGHT, true>(acc, samples + first, parts, 0, column, k);
    }
    if (first < drawn) gather_step<T, VEC, FLIGHT, false>(acc, samples + first, parts, drawn - first, column, k);
}

/// Sums over the threads whose numbers differ in the bits from `lanes` to `threads`, powers of two.
template <int VEC>
__device__ __forceinline__ void sum_parts(Vec<VEC>& acc, int lanes, int threads) {
    for (int offset = lanes; offset < threads; offset *= 2) {
#pragma unroll
        for (int j = 0; j < VEC; ++j) acc.v[j] += __shfl_xor_sync(0xffffffffU, acc.v[j], offset);
    }
}

template <typename T, int VEC, bool WEIGHTED>
__global__ void __launch_bounds__(kEsNarrowThreads, 8)
    es_narrow_kernel(const std::int32_t* __restrict__ row_ptr, const std::int32_t* __restrict__ col_idx,
                     const std::int32_t* __restrict__ edge_id, const T* __restrict__ edge_weight,
                     const T* __restrict__ self_weight, const T* __restrict__ x, T* __restrict__ y, std::int32_t n_rows,
                     std::int32_t k, SampleRule rule, bool mean, EsShape shape) {
    using Reader = EdgeReader<T, WEIGHTED>;
    using Sample = typename Reader::Sample;
    constexpr unsigned kWarp = 0xffffffffU;
    constexpr int kFlight = VEC * sizeof(T) == 16 ? 4 : 8;
    __shared__ Sample shared[kEsNarrowThreads * kEsFirst];
    Sample* const of_warp = shared + (threadIdx.x / 32) * 32 * kEsFirst;
    const int group = 1 << shape.group_shift;
    const int lanes = 1 << shape.lane_shift;
    const int in_warp = static_cast<int>(threadIdx.x) & 31;
    const int thread = in_warp & (group - 1);
    const int lane = in_warp & (lanes - 1);
    const std::int32_t most = kEsFirst * group;  // of stage 1

    const unsigned rows = kEsNarrowThreads >> shape.group_shift;  // of a block
    const unsigned row = blockIdx.x * rows + (threadIdx.x >> shape.group_shift);
    const RowEdges edges = edges_of_row(row_ptr, row, n_rows);
    const RowSample drawing = sample_row(rule, edges.degree);
    const Reader read{col_idx, edge_id, edge_weight};

    for (int tile = 0; tile < k; tile += lanes * VEC) {
        const int f = tile + lane * VEC;
        const T* const column = x + (f < k ? f : 0);  // lanes beyond k gather what they do not store
        Vec<VEC> acc;
        zero(acc);
        const std::int32_t drawn = min(drawing.count, most);
        Sample* const mine = of_warp + (in_warp - thread) * kEsFirst;
        __syncwarp();
        copy_samples(mine, drawn, thread, group,
                     [&](std::int32_t i) { return read(edges.begin + drawing.position(i)); });
        __syncwarp();
        gather_samples<T, VEC, kFlight>(acc, mine, drawn, thread >> shape.lane_shift, group >> shape.lane_shift, column,
                                        k);
        sum_parts(acc, lanes, group);

        unsigned longer = __ballot_sync(kWarp, thread == 0 && drawing.count > most);
        while (longer != 0) {
            const int leader = __ffs(static_cast<int>(longer)) - 1;
            longer &= longer - 1;
            const std::int32_t its_begin = __shfl_sync(kWarp, edges.begin, leader);
            const RowSample its = sample_row(rule, __shfl_sync(kWarp, edges.degree, leader));
            Vec<VEC> sum;
            zero(sum);
            for (std::int32_t from = most; from < its.count; from += 32 * kEsFirst) {
                const std::int32_t left = min(32 * kEsFirst, its.count - from);
                __syncwarp();
                copy_samples(of_warp, left, in_warp, 32,
                             [&](std::int32_t i) { return read(its_begin + its.position(from + i)); });
                __syncwarp();
                gather_samples<T, VEC, kFlight>(sum, of_warp, left, in_warp >> shape.lane_shift, 32 >> shape.lane_shift,
                                                column, k);
            }
            sum_parts(sum, lanes, 32);
            if (in_warp - thread == leader) {
#pragma unroll
                for (int j = 0; j < VEC; ++j) acc.v[j] += sum.v[j];
            }
        }

        if (thread >= lanes || row >= static_cast<unsigned>(n_rows) || f >= k) continue;
        finish_row(acc, rule, mean, drawing.count, edges.degree, self_weight, column, y, row, f, k);
    }
}

}  // namespace gnntune::kernels

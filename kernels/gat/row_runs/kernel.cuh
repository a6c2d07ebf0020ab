// gat.row_runs: y[i, h, :] = sum over edges j->i of alpha~ x[j, h, :], alpha the softmax over row i of
// leaky_relu(score_row[i, h] + score_col[j, h]); alpha~ = alpha / (1 - p) where dropout keeps the edge, else 0.
//
// Layout   row_ptr [n_rows + 1], col_idx [m], edge_id [m] or null; x [n_cols, heads, k], y [n_rows, heads, k],
//          aligned to VEC elements; scores and lse [n, heads]; row-major, device memory. lse may be null. x, y and
//          scores are of type T: f32, f16 or bf16; lse and sums are fp32.
// Work     grid.x walks the rows, grid.y the feature tiles; block -> groups of `lanes` threads, group -> `rows`
//          consecutive rows, whose edges are one stretch of the list, lane -> ITEMS vectors of VEC features, which lie
//          in one head.
// Data     One pass. A step is kRun edges from a multiple of kRun on, whatever rows they belong to. Their ids were asked
//          for a step before; then their scores and kRun * ITEMS independent gathers per lane; then the sums, scaled
//          where an edge's logit is above what its row's are compared with by more than kSlack. Every lane computes the
//          weights of its head. y and lse are written once, where a row ends.
// Shared   none.  Atomics: none; a row is summed edge by edge in the order of the list, the terms of its softmax in
//          fp64, since all of them have one sign.
// Needs    lanes a power of two up to 32; ITEMS 2: one head; grid.y <= 65535.
#pragma once

#include "kernels/common/gat.cuh"
#include "kernels/common/gather_sums.cuh"
#include "kernels/common/row_cursor.cuh"
#include "kernels/gat/row_runs/params.hpp"

namespace gnntune::gat_row_runs {

using namespace kernels;  // NOLINT: this header is included by launch_*.cu alone

template <typename T>
struct Arguments {
    const std::int32_t* row_ptr;
    const std::int32_t* col_idx;
    const std::int32_t* edge_id;
    GatScores<T> scores;
    const T* x;
    T* y;
    float* lse;
    std::int64_t m;
    std::int32_t n_rows;
    std::int32_t k;
    int lanes;
    int rows;
    bool ids_aligned;  ///< col_idx to four elements
};

/// A logit by this much above the one that the terms of a row are relative to takes its place. Not any that is larger:
/// each change rounds what came before, and a row of rising logits would have one for every edge.
inline constexpr float kSlack = 1.0F;

// Registers for all gathers of a step and the ids of the next.
template <typename T, int VEC, int ITEMS, bool DROPOUT>
__global__ void __launch_bounds__(kThreads, ITEMS == 2 ? 6 : 8)
    row_runs_kernel(const __grid_constant__ Arguments<T> a) {
    const int lane = static_cast<int>(threadIdx.x) & (a.lanes - 1);
    const std::int64_t first = group_index(a.lanes) * a.rows;
    if (first >= a.n_rows) return;
    const auto last = static_cast<std::int32_t>(min(first + a.rows, std::int64_t{a.n_rows}));
    RowCursor at(a.row_ptr, static_cast<std::int32_t>(first), last);
    const std::uint32_t begin = at.begin;
    const std::uint32_t end = at.edge(last);
    const int heads = a.scores.heads;
    const std::int32_t width = a.k * heads;
    const int step = a.lanes * VEC;
    const int f0 = static_cast<int>(blockIdx.y) * step * ITEMS + lane * VEC;
    const int head = f0 < width ? f0 / a.k : 0;
    const bool writes_lse = a.lse != nullptr && f0 < width && f0 == head * a.k;
    const LaneVectors<ITEMS, T> from(a.x, width, f0, step);
    const auto score_of = [&](std::int32_t row) {
        return a.scores.of_row(static_cast<std::int64_t>(row) * heads + head);
    };

    float score = score_of(at.row);
    float max = minus_infinity();  // the largest of the row's logits so far, or up to kSlack less
    double sum = 0.0;              // of exp(logit - max)
    Vec<VEC> acc[ITEMS];
    zero_all(acc);
    const auto finish_row = [&] {
        const SoftmaxSum softmax{max, static_cast<float>(sum)};
        const std::int64_t unit = static_cast<std::int64_t>(at.row) * heads + head;
        T* out = a.y + static_cast<std::int64_t>(at.row) * width + f0;
        scale_all(acc, softmax_scale(softmax) * a.scores.dropout.keep_scale);
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            if (f0 + i * step < width) store_streaming(out + i * step, acc[i]);
        }
        if (writes_lse) a.lse[unit] = log_sum_exp(softmax);
        zero_all(acc);
        max = minus_infinity();
        sum = 0.0;
        at.next();
        if (at.row < last) score = score_of(at.row);
    };

    const auto run_at = [&](std::uint32_t e) {
        return EdgeRun<kRun>(e, begin, end, static_cast<std::uint32_t>(a.m), a.ids_aligned);
    };
    std::int32_t cols[kRun];
    std::uint32_t e = begin & ~static_cast<std::uint32_t>(kRun - 1);
    if (begin < end) load_run(a.col_idx, run_at(e), cols);
    while (e < end) {
        const EdgeRun<kRun> run = run_at(e);
        float logit[kRun];
#pragma unroll
        for (int u = 0; u < kRun; ++u) {
            logit[u] = 0.0F;
            if (run.has(u)) logit[u] = a.scores.of_col(static_cast<std::int64_t>(cols[u]) * heads + head);
        }
        Pack<T, VEC> value[kRun][ITEMS];
        gather(run, from, cols, value);
        e += kRun;
        if (e < end) load_run(a.col_idx, run_at(e), cols);
#pragma unroll
        for (int u = 0; u < kRun; ++u) {
            if (!run.has(u)) continue;
            const std::uint32_t edge = run.first + static_cast<std::uint32_t>(u);
            while (edge >= at.end) finish_row();
            logit[u] = leaky_relu(score + logit[u], a.scores.slope);
            if (logit[u] > max + kSlack) {
                const float factor = rescale(max, logit[u]);
                max = logit[u];
                sum *= factor;
                scale_all(acc, factor);
            }
            float weight = logit_weight(logit[u], max);
            sum += weight;
            if (DROPOUT && !a.scores.dropout.keeps(a.edge_id ? __ldg(a.edge_id + edge) : edge, head)) weight = 0.0F;
            if (weight == 0.0F) continue;  // whatever x holds
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) fma(acc[i], weight, value[u][i]);
        }
    }
    while (at.row < last) finish_row();
}

}  // namespace gnntune::gat_row_runs

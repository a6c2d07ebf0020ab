// Kernels of spmm.es_presampled: the sampled graph, and the weights of its edges.
//
// The sampled graph holds for row i the edges e(i, s) of RowSample::position(), s < min(degree_i, S), in the order of the
// samples, then with self loops the edge i -> i. `source` leads from its edges to the caller's edge order; the self
// loop of row i has source -1 - i. `factor` is what a weight is multiplied with: the rescaling, and for the mean 1 /
// terms.
//
// Layout   CSR arrays as in core/graph/formats.hpp, source and factor [edges of the sampled graph].
// Work     count_samples: a thread per row. draw_samples: a warp per row, a lane per sample. gather_weights: a thread
//          per kept edge; reads of edge_weight follow `source`, the rest is coalesced.
// Shared   none.  Atomics: none.
#pragma once

#include <cstdint>

#include "core/graph/sample.hpp"

namespace gnntune::spmm_es_presampled {

inline constexpr int kThreads = 256;

/// count[i] = edges of row i in the sampled graph; count[n_rows] = 0, so that an exclusive scan ends with the total.
__global__ void count_samples(const std::int32_t* __restrict__ row_ptr, std::int32_t n_rows, SampleRule rule,
                              bool self_loop, std::int32_t* __restrict__ count) {
    const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
    if (i > n_rows) return;
    count[i] = i == n_rows ? 0 : sampled_count(rule, row_ptr[i + 1] - row_ptr[i]) + (self_loop ? 1 : 0);
}

/// Fills the rows that `sampled_ptr` delimits. `source` and `factor` may be null.
__global__ void draw_samples(const std::int32_t* __restrict__ row_ptr, const std::int32_t* __restrict__ col_idx,
                             const std::int32_t* __restrict__ edge_id, std::int32_t n_rows, SampleRule rule,
                             bool self_loop, bool mean, const std::int32_t* __restrict__ sampled_ptr,
                             std::int32_t* __restrict__ sampled_col, std::int32_t* __restrict__ source,
                             float* __restrict__ factor) {
    const std::int64_t row = (blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x) / 32;
    if (row >= n_rows) return;
    const std::int32_t begin = row_ptr[row];
    const std::int32_t degree = row_ptr[row + 1] - begin;
    const std::int32_t first = sampled_ptr[row];
    const RowSample sample = sample_row(rule, degree);
    const std::int32_t count = sample.count;
    const std::int32_t terms = count + (self_loop ? 1 : 0);
    const float share = mean && terms > 0 ? 1.0F / static_cast<float>(terms) : 1.0F;
    for (std::int32_t s = static_cast<std::int32_t>(threadIdx.x) % 32; s < terms; s += 32) {
        const bool loop = s == count;
        const std::int32_t e = loop ? 0 : begin + sample.position(s);
        const std::int32_t id = static_cast<std::int32_t>(row);
        sampled_col[first + s] = loop ? id : col_idx[e];
        if (source) source[first + s] = loop ? -1 - id : edge_id ? edge_id[e] : e;
        if (factor) factor[first + s] = loop ? share : share * sample_scale(rule, degree);
    }
}

/// weight[e] of the sampled graph's edges. `edge_weight` is null for an unweighted graph, `factor` where all are 1.
__global__ void gather_weights(const std::int32_t* __restrict__ source, const float* __restrict__ factor,
                               const float* __restrict__ edge_weight, const float* __restrict__ self_weight,
                               std::int64_t m, float* __restrict__ weight) {
    const std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
    if (e >= m) return;
    const std::int32_t from = source[e];
    const float w = from < 0 ? __ldg(self_weight - 1 - from) : edge_weight ? __ldg(edge_weight + from) : 1.0F;
    weight[e] = factor ? w * factor[e] : w;
}

}  // namespace gnntune::spmm_es_presampled

// spmm.es_registers: ES-SpMM with the sample in registers:
//
//   y[i, :] = scale_i * sum over s < min(degree_i, S) of w_e(i, s) x[col_e(i, s), :]    (+ self_weight[i] x[i, :])
//   for the mean divided by the number of terms. e(i, s) is RowSample::position().
//
// Layout   row_ptr [n_rows + 1], col_idx [m], edge_id [m] or null, edge_weight [m] (caller's order), self_weight
//          [n_rows] or null, x [n_cols, k], y [n_rows, k], row-major, device memory, x and y aligned to VEC elements.
//          x, weights and y are of type T: f32, f16 or bf16; sums are fp32.
// Work     group of 8 to 32 threads of one warp -> one row. A group is `parts` parts of `lanes` threads; part p takes
//          the samples p, p + parts, ...; lane -> VEC features. Where k is wider than lanes * VEC there is one part,
//          which walks over the feature tiles.
// Data     Each thread of the group draws one sample and loads its id and weight: one request per group instead of one
//          per gather. Ids then travel by shuffles; FLIGHT independent gathers are issued before the first is used.
//          Ids of the next `group` samples are under way meanwhile. y is written once.
// Shared   none, no barriers.
// Atomics  none; the order of summation depends on params, k and VEC only, which is as wide as k and the alignment of
//          x and y allow: repeats bit for bit with operands of the same alignment.
// Needs    group a power of two, 8 to 32; lanes a power of two up to group, and lanes * VEC >= k where lanes < group.
#pragma once

#include "core/graph/sample.hpp"
#include "kernels/common/elements.cuh"

namespace gnntune::spmm_es_registers {

using kernels::Vec;

inline constexpr int kThreads = 128;

template <typename T, int VEC, int FLIGHT, bool WEIGHTED>
__global__ void __launch_bounds__(kThreads)
    es_registers_kernel(const std::int32_t* __restrict__ row_ptr, const std::int32_t* __restrict__ col_idx,
                        const std::int32_t* __restrict__ edge_id, const T* __restrict__ edge_weight,
                        const T* __restrict__ self_weight, const T* __restrict__ x, T* __restrict__ y,
                        std::int32_t n_rows, std::int32_t k, SampleRule rule, bool mean, int group, int lanes) {
    constexpr unsigned kWarp = 0xffffffffU;
    const std::int64_t row = kernels::group_index(group);
    const bool here = row < n_rows;  // all lanes of a warp stay for the shuffles
    const int thread = static_cast<int>(threadIdx.x) & (group - 1);
    const int parts = group / lanes;
    const int part = thread / lanes;
    const int lane = thread & (lanes - 1);

    const std::int32_t begin = here ? __ldg(row_ptr + row) : 0;
    const std::int32_t degree = here ? __ldg(row_ptr + row + 1) - begin : 0;
    const RowSample sample = sample_row(rule, degree);
    const std::int32_t count = sample.count;
    // The rows of a warp take as many steps as the longest of them.
    std::int32_t most = count;
    for (int offset = group; offset < 32; offset *= 2) most = max(most, __shfl_xor_sync(kWarp, most, offset));

    struct Sample {
        std::int32_t col = 0;
        float w = 0.0F;
    };
    const auto draw = [&](std::int32_t i) {
        Sample s;
        if (i < count) {
            const std::int32_t e = begin + sample.position(i);
            s.col = __ldg(col_idx + e);
            if (WEIGHTED) s.w = kernels::load_value(edge_weight + (edge_id ? __ldg(edge_id + e) : e));
        }
        return s;
    };
    const float scale = sample_scale(rule, degree);
    const std::int32_t terms = count + (self_weight ? 1 : 0);
    const float factor = mean && terms > 0 ? 1.0F / static_cast<float>(terms) : 1.0F;

    for (int tile = 0; tile < k; tile += lanes * VEC) {
        const int f = tile + lane * VEC;
        const bool inside = here && f < k;
        Vec<VEC> acc;
        kernels::zero(acc);
        Sample held = draw(thread);
        for (std::int32_t base = 0; base < most; base += group) {
            const Sample next = draw(base + group + thread);
            const std::int32_t drawn = min(group, most - base);
            for (std::int32_t j = part; j - part < drawn; j += parts * FLIGHT) {
                kernels::Pack<T, VEC> value[FLIGHT];
                float w[FLIGHT];
                bool used[FLIGHT];
#pragma unroll
                for (int u = 0; u < FLIGHT; ++u) {
                    const std::int32_t at = j + u * parts;
                    used[u] = at < group && base + at < count;
                    const std::int32_t col = __shfl_sync(kWarp, held.col, at, group);
                    w[u] = WEIGHTED ? __shfl_sync(kWarp, held.w, at, group) : 1.0F;
                    kernels::zero(value[u]);
                    if (used[u] && inside) {
                        value[u] = kernels::load_pack<VEC>(x + static_cast<std::int64_t>(col) * k + f);
                    }
                }
#pragma unroll
                for (int u = 0; u < FLIGHT; ++u) {
                    if (used[u]) kernels::fma(acc, w[u], value[u]);
                }
            }
            held = next;
        }
        for (int offset = lanes; offset < group; offset *= 2) {
#pragma unroll
            for (int i = 0; i < VEC; ++i) acc.v[i] += __shfl_xor_sync(kWarp, acc.v[i], offset);
        }
        if (part == 0 && inside) {
            kernels::scale(acc, scale);
            if (self_weight) {
                kernels::fma(acc, kernels::load_value(self_weight + row), kernels::load_pack<VEC>(x + row * k + f));
            }
            kernels::scale(acc, factor);
            kernels::store_streaming(y + row * k + f, acc);
        }
    }
}

}  // namespace gnntune::spmm_es_registers

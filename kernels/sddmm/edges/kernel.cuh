// sddmm.edges: y[id_e] = w_e <x_row[row_e, :], x[col_e, :]> for every edge e.
//
// Layout   row_idx, col_idx [m]; edge_id [m] or null; edge_weight [m] or null (caller's order); x_row [n_rows, k],
//          x [n_cols, k], y [m]; row-major, device memory, matrices aligned to 4 VEC bytes.
// Work     group of `lanes` threads -> UNROLL consecutive edges; lane -> every lanes-th vector of VEC features.
// Data     Per step a lane has 2 UNROLL vector loads in flight. Consecutive edges of a sorted list share the row operand,
//          which then comes from L1. Partial sums meet by shuffles in log2(lanes) steps; lane u writes edge u.
// Shared   none.  Atomics: none; the order of summation depends on lanes only, so results repeat bit for bit.
#pragma once

#include "kernels/common/vec.cuh"

namespace gnntune::sddmm_edges {

using kernels::Vec;

template <int VEC, int UNROLL>
__global__ void edges_kernel(const std::int32_t* __restrict__ row_idx, const std::int32_t* __restrict__ col_idx,
                             const std::int32_t* __restrict__ edge_id, const float* __restrict__ edge_weight,
                             const float* __restrict__ x_row, const float* __restrict__ x, float* __restrict__ y,
                             std::int64_t m, std::int32_t k, int lanes) {
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const std::int64_t e = kernels::group_index(lanes) * UNROLL;

    const float* a[UNROLL];
    const float* b[UNROLL];
    float sum[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
        sum[u] = 0.0F;
        const bool here = e + u < m;
        a[u] = here ? x_row + static_cast<std::int64_t>(__ldg(row_idx + e + u)) * k : nullptr;
        b[u] = here ? x + static_cast<std::int64_t>(__ldg(col_idx + e + u)) * k : nullptr;
    }
    for (int f = lane * VEC; f < k; f += lanes * VEC) {
        Vec<VEC> left[UNROLL];
        Vec<VEC> right[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            kernels::zero(left[u]);
            kernels::zero(right[u]);
            if (a[u]) {
                left[u] = kernels::load<VEC>(a[u] + f);
                right[u] = kernels::load<VEC>(b[u] + f);
            }
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
#pragma unroll
            for (int i = 0; i < VEC; ++i) sum[u] = fmaf(left[u].v[i], right[u].v[i], sum[u]);
        }
    }
    // Every lane of the warp is still here: threads beyond the last edge have skipped the loads only.
    for (int offset = lanes / 2; offset > 0; offset /= 2) {
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) sum[u] += __shfl_xor_sync(0xffffffffU, sum[u], offset);
    }
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
        if (lane != u % lanes || e + u >= m) continue;
        const std::int64_t id = edge_id ? __ldg(edge_id + e + u) : e + u;
        y[id] = edge_weight ? __ldg(edge_weight + id) * sum[u] : sum[u];
    }
}

}  // namespace gnntune::sddmm_edges

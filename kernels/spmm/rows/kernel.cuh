// spmm.rows: y[i, :] = sum over edges e of row i of w_e x[col_e, :], for the mean divided by the number of edges
//
// Layout   row_ptr [n_rows + 1], col_idx [m], edge_id [m] or null, edge_weight [m] or null (caller's order),
//          x [n_cols, k], y [n_rows, k], row-major, device memory, x and y aligned to VEC elements. x, edge_weight
//          and y are of type T: f32, f16 or bf16; sums are fp32.
// Work     grid.x walks the rows, grid.y the feature tiles (slow, so that a slice of x stays in L2);
//          block -> teams of split * lanes threads, team -> one row, group of lanes -> every split-th run of UNROLL
//          edges, lane -> ITEMS vectors of VEC features. The groups' sums meet by shuffles.
// Data     Per step a group reads UNROLL column ids and weights (one address per group: broadcast, L1), then issues
//          UNROLL * ITEMS independent gathers per lane, then multiplies. y is written once, past L2's retained lines.
// Shared   none.  Atomics: none; the order of summation depends on split and UNROLL only: repeats bit for bit.
// Needs    lanes and split powers of two, lanes * split <= 32; grid.y <= 65535.
#pragma once

#include "kernels/common/elements.cuh"

namespace gnntune::spmm_rows {

using kernels::Vec;

template <typename T, int VEC, int ITEMS, int UNROLL, bool WEIGHTED>
__global__ void rows_kernel(const std::int32_t* __restrict__ row_ptr, const std::int32_t* __restrict__ col_idx,
                            const std::int32_t* __restrict__ edge_id, const T* __restrict__ edge_weight,
                            const T* __restrict__ x, T* __restrict__ y, std::int32_t n_rows, std::int32_t k, int lanes,
                            int split, bool mean) {
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const int team = lanes * split;
    const int group = (static_cast<int>(threadIdx.x) & (team - 1)) / lanes;
    const std::int64_t row = kernels::group_index(team);
    const bool here = row < n_rows;  // all lanes of a warp stay for the shuffles
    const int step = lanes * VEC;
    const int f0 = static_cast<int>(blockIdx.y) * step * ITEMS + lane * VEC;

    Vec<VEC> acc[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) kernels::zero(acc[i]);

    // Unsigned: the last step of a row that ends near 2^31 must not wrap around.
    const std::uint32_t begin = here ? static_cast<std::uint32_t>(__ldg(row_ptr + row)) : 0;
    const std::uint32_t end = here ? static_cast<std::uint32_t>(__ldg(row_ptr + row + 1)) : 0;
    const auto step_edges = static_cast<std::uint32_t>(split * UNROLL);
    for (std::uint32_t e = begin + static_cast<std::uint32_t>(group * UNROLL); e < end; e += step_edges) {
        std::int32_t col[UNROLL];
        float w[UNROLL];
        kernels::Pack<T, VEC> value[UNROLL][ITEMS];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            const bool edge_here = e + u < end;
            col[u] = edge_here ? __ldg(col_idx + e + u) : -1;
            w[u] = 1.0F;
            if (WEIGHTED && edge_here) {
                w[u] = kernels::load_value(edge_weight + (edge_id ? __ldg(edge_id + e + u) : e + u));
            }
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            const T* source = x + static_cast<std::int64_t>(col[u]) * k;
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
                kernels::zero(value[u][i]);
                if (col[u] >= 0 && f0 + i * step < k) value[u][i] = kernels::load_pack<VEC>(source + f0 + i * step);
            }
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            if (e + u >= end) break;  // a missing edge must not turn an infinite weight into NaN
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) kernels::fma(acc[i], w[u], value[u][i]);
        }
    }
    for (int offset = lanes; offset < team; offset *= 2) {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
            for (int j = 0; j < VEC; ++j) acc[i].v[j] += __shfl_xor_sync(0xffffffffU, acc[i].v[j], offset);
        }
    }
    if (!here || group != 0) return;
    if (mean && end > begin) {
        const float factor = 1.0F / static_cast<float>(end - begin);
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) kernels::scale(acc[i], factor);
    }
    T* out = y + row * k;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        if (f0 + i * step < k) kernels::store_streaming(out + f0 + i * step, acc[i]);
    }
}

}  // namespace gnntune::spmm_rows

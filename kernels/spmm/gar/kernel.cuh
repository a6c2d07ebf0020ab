// spmm.gar: gather-apply-reduce over CSR, fuseGNN Algorithm 3: a thread block per row, on-chip reduction;
//           the mean divides the sum by the number of edges where it is stored.
//
// Layout   row_ptr [n_rows + 1], col_idx [m], edge_id [m] or null, edge_weight [m] or null,
//          x [n_cols, k], y [n_rows, k]; row-major, device memory.
// Work     k < T: floor(T / k) groups of k threads; group s takes the edges s, s + groups, ... of the row, one feature
//          per thread; the groups' sums meet in shared memory in a tree (group reduce).
//          k >= T: each thread owns the features t, t + T, ... and walks all edges.
// Shared   T floats.  Atomics: none; the order of summation depends on T and k only, so results repeat bit for bit.
#pragma once

#include <cstdint>

namespace gnntune::spmm_gar {

__global__ void gar_kernel(const std::int32_t* __restrict__ row_ptr, const std::int32_t* __restrict__ col_idx,
                           const std::int32_t* __restrict__ edge_id, const float* __restrict__ edge_weight,
                           const float* __restrict__ x, float* __restrict__ y, std::int32_t k,
                           bool mean) {
    extern __shared__ float partial[];
    const int threads = static_cast<int>(blockDim.x);
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t row = blockIdx.x;
    const std::int32_t begin = __ldg(row_ptr + row);
    const std::int32_t end = __ldg(row_ptr + row + 1);
    const float factor = mean && end > begin ? 1.0F / static_cast<float>(end - begin) : 1.0F;
    const auto weight = [&](std::int32_t e) {
        return edge_weight ? __ldg(edge_weight + (edge_id ? __ldg(edge_id + e) : e)) : 1.0F;
    };
    if (k < threads) {
        const int groups = threads / k;
        const int group = thread / k;
        const int f = thread - group * k;
        float sum = 0.0F;
        if (group < groups) {
            for (std::int64_t e = std::int64_t{begin} + group; e < end; e += groups) {
                const auto at = static_cast<std::int32_t>(e);
                sum = fmaf(weight(at), __ldg(x + static_cast<std::int64_t>(__ldg(col_idx + at)) * k + f), sum);
            }
        }
        partial[thread] = sum;
        __syncthreads();
        // Tree over groups; any number of groups, not only powers of two.
        for (int count = groups; count > 1;) {
            const int half = (count + 1) / 2;
            if (group + half < count) partial[thread] += partial[thread + half * k];
            __syncthreads();
            count = half;
        }
        if (group == 0) y[row * k + f] = factor * partial[thread];
    } else {
        for (int f = thread; f < k; f += threads) {
            float sum = 0.0F;
            for (std::int32_t e = begin; e < end; ++e) {
                sum = fmaf(weight(e), __ldg(x + static_cast<std::int64_t>(__ldg(col_idx + e)) * k + f), sum);
            }
            y[row * k + f] = factor * sum;
        }
    }
}

}  // namespace gnntune::spmm_gar

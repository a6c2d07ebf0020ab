// spmm.max_rows: y[i, f] = max over edges e of row i of w_e x[col_e, f], argmax[i, f] the edge that it is of
// (kernels/spmm/common/largest.hpp says which wins); 0 and -1 for a row without edges.
//
// Layout   row_ptr [n_rows + 1], col_idx [m], edge_id [m] or null, edge_weight [m] or null (caller's order),
//          x [n_cols, k], y and argmax (or null) [n_rows, k]; row-major, device memory, fp32.
// Work     thread (x, y) -> feature x of row y; grid.x walks the rows, grid.y the features. Each thread walks all
//          edges.
// Atomics  none.
#pragma once

#include "kernels/spmm/common/largest.hpp"

namespace gnntune::spmm_max_rows {

__global__ void max_rows_kernel(const std::int32_t* __restrict__ row_ptr, const std::int32_t* __restrict__ col_idx,
                                const std::int32_t* __restrict__ edge_id, const float* __restrict__ edge_weight,
                                const float* __restrict__ x, float* __restrict__ y, std::int32_t* __restrict__ argmax,
                                std::int32_t n_rows, std::int32_t k) {
    const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
    if (row >= n_rows) return;
    const std::int32_t begin = row_ptr[row];
    const std::int32_t end = row_ptr[row + 1];
    for (std::int64_t f = std::int64_t{blockIdx.y} * blockDim.x + threadIdx.x; f < k;
         f += std::int64_t{gridDim.y} * blockDim.x) {
        float largest = kernels::kNoProduct;
        std::int32_t winner = kernels::kNoEdge;
        for (std::int32_t e = begin; e < end; ++e) {
            const std::int32_t id = edge_id ? edge_id[e] : e;
            const float value = x[std::int64_t{col_idx[e]} * k + f];
            const float product = edge_weight ? __fmul_rn(edge_weight[id], value) : value;
            if (kernels::replaces(product, id, largest, winner)) {
                largest = product;
                winner = id;
            }
        }
        y[row * k + f] = begin == end ? 0.0F : largest;
        if (argmax) argmax[row * k + f] = begin == end ? -1 : winner;
    }
}

}  // namespace gnntune::spmm_max_rows

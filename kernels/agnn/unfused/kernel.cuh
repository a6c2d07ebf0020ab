// agnn.unfused: logit_e = beta[h] <x_row[i], x[col_e]> / (|x_row[i]| |x[col_e]|) from the dot products of an sddmm, in
// place, and lse[i, h] = log of the sum of exp of the row's logits.
//
// Layout   value [m] for each head, in the caller's edge order; inverse_row [n_rows, heads], inverse_col
//          [n_cols, heads], beta [heads], lse [n_rows, heads] or null.
// Work     kernels/common/row_walk.cuh: warps for rows, blocks for pieces of long rows.
// Data     4 bytes per edge and head read and written, 4 gathered from inverse_col.
// Shared, atomics: those of the walk.
#pragma once

#include "kernels/common/row_walk.cuh"

namespace gnntune::agnn_unfused {

struct Logits {
    float* value;
    const float* inverse_row;
    const float* inverse_col;
    const float* beta;
    float* lse;

    __device__ __forceinline__ kernels::SoftmaxSum edge(const kernels::WalkEdge& e) const {
        const float cosine = value[e.at] * (__ldg(inverse_row + e.row) * __ldg(inverse_col + e.col));
        const float logit = __ldg(beta + e.head) * cosine;
        value[e.at] = logit;
        return {logit, 1.0F};
    }
    __device__ __forceinline__ void row(std::int64_t unit, const kernels::SoftmaxSum& all) const {
        if (lse) lse[unit] = kernels::log_sum_exp(all);
    }
};

}  // namespace gnntune::agnn_unfused

// attention.unfused: logit_e = s <x_row[i], key[col_e]> from the dot products of an sddmm, in place, and lse[i, h] =
// log of the sum of exp of the row's logits.
//
// Layout   value [m] for each head, in the caller's edge order; lse [n_rows, heads] or null.
// Work     kernels/common/row_walk.cuh: warps for rows, blocks for pieces of long rows.
// Data     4 bytes per edge and head read and written.  Shared, atomics: those of the walk.
#pragma once

#include "kernels/common/row_walk.cuh"

namespace gnntune::attention_unfused {

struct Logits {
    float* value;
    float scale;
    float* lse;

    __device__ __forceinline__ kernels::SoftmaxSum edge(const kernels::WalkEdge& e) const {
        const float logit = scale * value[e.at];
        value[e.at] = logit;
        return {logit, 1.0F};
    }
    __device__ __forceinline__ void row(std::int64_t unit, const kernels::SoftmaxSum& all) const {
        if (lse) lse[unit] = kernels::log_sum_exp(all);
    }
};

}  // namespace gnntune::attention_unfused

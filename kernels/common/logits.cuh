// Logits from what the lanes of a group have found of them.
#pragma once

#include "kernels/common/attention.cuh"

namespace gnntune::kernels {

/// The logit of edge u of a run, in every lane of the group, from the lanes' shares `part` of its sums; `row` is the
/// Row of a Source (kernels/common/attend.cuh). All lanes of the group call it.
template <typename Row, int N>
__device__ __forceinline__ float row_logit(const Team& t, const Row& row, const float (&part)[Row::kSums][N], int u) {
    float sum[Row::kSums];
#pragma unroll
    for (int s = 0; s < Row::kSums; ++s) sum[s] = lanes_sum(t, part[s][u]);
    return row.logit(sum);
}

}  // namespace gnntune::kernels

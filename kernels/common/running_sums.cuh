// What a lane has of a weighted sum under an online softmax, and the merge of the groups of a team of
// kernels/common/binned_rows.hpp: by shuffles in a warp, through shared memory from warp to warp. A fixed order, no
// atomics.
#pragma once

#include <cstdint>

#include "kernels/common/attention.cuh"

namespace gnntune::kernels {

/// The logits of a lane's head so far, and the lane's vectors of the weighted sum at their maximum.
template <int VEC, int ITEMS = 1>
struct RunningSums {
    SoftmaxSum softmax;
    Vec<VEC> sum[ITEMS];
};

template <int VEC, int ITEMS>
__device__ __forceinline__ void clear(RunningSums<VEC, ITEMS>& a) {
    a.softmax = empty_softmax();
    zero_all(a.sum);
}

template <int VEC, int ITEMS>
__device__ __forceinline__ void take_in(RunningSums<VEC, ITEMS>& a, const RunningSums<VEC, ITEMS>& b) {
    const float max = fmaxf(a.softmax.max, b.softmax.max);
    const float mine = rescale(a.softmax.max, max);
    const float other = rescale(b.softmax.max, max);
    a.softmax = {max, a.softmax.sum * mine + b.softmax.sum * other};
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
        for (int j = 0; j < VEC; ++j) a.sum[i].v[j] = a.sum[i].v[j] * mine + b.sum[i].v[j] * other;
    }
}

/// Floats of shared memory of merge_groups() for each lane of a group and warp of the block.
constexpr int running_slot(int vec, int items) {
    return 2 + vec * items;
}

/// Adds up what the groups of `lanes` threads of a team of `team` threads have, lane by lane; the result is in the
/// lanes of group 0, `group` being this thread's. `shared` has running_slot() floats for each lane of a group and each
/// warp of the block, and is used once; teams of one warp or less need none. Every thread of the block calls, with the
/// same `team` and `lanes`.
template <int VEC, int ITEMS>
__device__ __forceinline__ void merge_groups(RunningSums<VEC, ITEMS>& r, int team, int lanes, int lane, int group,
                                             float* shared) {
    for (int offset = lanes; offset < min(team, 32); offset *= 2) {
        RunningSums<VEC, ITEMS> other;
        other.softmax = {__shfl_xor_sync(0xffffffffU, r.softmax.max, offset),
                         __shfl_xor_sync(0xffffffffU, r.softmax.sum, offset)};
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
            for (int j = 0; j < VEC; ++j) other.sum[i].v[j] = __shfl_xor_sync(0xffffffffU, r.sum[i].v[j], offset);
        }
        take_in(r, other);
    }
    if (team <= 32) return;  // the same for all threads of a block
    constexpr int kSlot = running_slot(VEC, ITEMS);
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (threadIdx.x % 32 < lanes) {
        float* mine = shared + (warp * lanes + lane) * kSlot;
        mine[0] = r.softmax.max;
        mine[1] = r.softmax.sum;
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
            for (int j = 0; j < VEC; ++j) mine[2 + i * VEC + j] = r.sum[i].v[j];
        }
    }
    __syncthreads();
    if (group != 0) return;
    for (int w = 1; w < team / 32; ++w) {
        const float* from = shared + ((warp + w) * lanes + lane) * kSlot;
        RunningSums<VEC, ITEMS> other;
        other.softmax = {from[0], from[1]};
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
            for (int j = 0; j < VEC; ++j) other.sum[i].v[j] = from[2 + i * VEC + j];
        }
        take_in(r, other);
    }
}

}  // namespace gnntune::kernels

// Groups of lanes that have one or more heads of a row, or column, of kernels/common/binned_rows.hpp: where a lane
// stands, and how the sums of a team's groups meet.
//
// Shared   sums of every lane of a group for each warp, for teams of several warps.
#pragma once

#include "kernels/common/binned_rows.cuh"
#include "kernels/common/elements.cuh"

// Of a kernel with blocks of up to kMaxBinThreads threads, and so many registers a thread, at most 128. They can be
// limited by themselves from CUDA 12.4 on.
#if __CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 4)
#define GNNTUNE_BIN_BOUNDS(registers) __maxnreg__(registers)
#else
#define GNNTUNE_BIN_BOUNDS(registers) __launch_bounds__(kMaxBinThreads)
#endif

namespace gnntune::kernels {

/// Where a lane stands: its head, and its first feature of it.
struct HeadPlace {
    int lane;  ///< among those of the head
    int head;
    int f;
    bool inside;  ///< else there is no such head
};

/// Of a lane of a group of `lanes`, of which `head_lanes` have a head, in vectors of `vec` elements; grid.y: heads.
__device__ __forceinline__ HeadPlace head_place(int lanes, int head_lanes, int vec, int heads) {
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const int lanes_shift = 31 - __clz(lanes);
    const int head_shift = 31 - __clz(head_lanes);
    HeadPlace place{};
    place.lane = lane & (head_lanes - 1);
    place.head = (static_cast<int>(blockIdx.y) << (lanes_shift - head_shift)) + (lane >> head_shift);
    place.f = place.lane * vec;
    place.inside = place.head < heads;
    return place;
}

/// The lanes of this thread's head in its warp.
__device__ __forceinline__ unsigned head_mask(int head_lanes) {
    return (head_lanes == 32 ? 0xffffffffU : (1U << head_lanes) - 1U)
           << (threadIdx.x & 31U & ~(static_cast<unsigned>(head_lanes) - 1U));
}

/// What a lane has summed up: vectors, and a number besides.
template <int VEC, int N>
struct LaneSums {
    Vec<VEC> x[N];
    float own;
};

/// Floats that a lane leaves in shared memory.
constexpr int lane_sums_slot(int vec, int n) {
    return 1 + n * vec;
}

/// Adds what the groups of each team have: vectors lane by lane, and if OWN numbers over the lanes of a head too. Results
/// are in group 0. All threads of the block call it. `shared` is for teams of more than a warp.
template <bool OWN = true, int VEC, int N>
__device__ __forceinline__ void merge_groups(LaneSums<VEC, N>& r, int lanes, int head_lanes, int team, int group,
                                             float* shared) {
    if constexpr (OWN) {
        for (int offset = 1; offset < head_lanes; offset *= 2) r.own += __shfl_xor_sync(0xffffffffU, r.own, offset);
    }
    for (int offset = lanes; offset < min(team, 32); offset *= 2) {
        if constexpr (OWN) r.own += __shfl_xor_sync(0xffffffffU, r.own, offset);
#pragma unroll
        for (int i = 0; i < N; ++i) {
#pragma unroll
            for (int j = 0; j < VEC; ++j) r.x[i].v[j] += __shfl_xor_sync(0xffffffffU, r.x[i].v[j], offset);
        }
    }
    if (team <= 32) return;  // the same for all threads of a block
    constexpr int kSlot = lane_sums_slot(VEC, N);
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    if (static_cast<int>(threadIdx.x % 32) < lanes) {
        float* mine = shared + (warp * lanes + lane) * kSlot;
        mine[0] = r.own;
#pragma unroll
        for (int i = 0; i < N; ++i) {
#pragma unroll
            for (int j = 0; j < VEC; ++j) mine[1 + i * VEC + j] = r.x[i].v[j];
        }
    }
    __syncthreads();
    if (group != 0) return;
    for (int w = 1; w < team / 32; ++w) {
        const float* other = shared + ((warp + w) * lanes + lane) * kSlot;
        r.own += other[0];
#pragma unroll
        for (int i = 0; i < N; ++i) {
#pragma unroll
            for (int j = 0; j < VEC; ++j) r.x[i].v[j] += other[1 + i * VEC + j];
        }
    }
}

}  // namespace gnntune::kernels

// fuseGNN's two parallel reductions (section 5.2): over groups of a buffer in shared memory, and over a block.
//
// The paper's public code lets the last steps run without barriers, on the assumption that a warp moves in lockstep.
// Here every step has one: of the block while its writers are several warps, of the warp once they are the first alone.
#pragma once

namespace gnntune::kernels {

/// Sum over the 32 lanes of a warp, in every lane.
__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffU, value, offset);
    return value;
}

/// N sums over the `lanes` lanes (a power of two) of a group, scattered over them: sum i ends in sums[i % held] of the
/// lanes lane / share == i / held, where held = max(1, N / lanes) and share = max(1, lanes / N). In less than N +
/// log2(lanes) shuffles, where a sum after the other takes N log2(lanes). All lanes of `mask` call, whole groups.
template <int N>
__device__ __forceinline__ void scatter_sums(float (&sums)[N], int lane, int lanes, unsigned mask = 0xffffffffU) {
    int offset = lanes / 2;
#pragma unroll
    for (int half = N / 2; half > 0; half /= 2) {
        if (offset == 0) return;
        const bool upper = (lane & offset) != 0;
#pragma unroll
        for (int i = 0; i < half; ++i) {
            const float mine = upper ? sums[i + half] : sums[i];
            const float others = upper ? sums[i] : sums[i + half];
            sums[i] = mine + __shfl_xor_sync(mask, others, offset);
        }
        offset /= 2;
    }
    for (; offset > 0; offset /= 2) sums[0] += __shfl_xor_sync(mask, sums[0], offset);
}

/// buffer[i] += sum over g in [1, groups) of buffer[i + g * width], for i < width: the groups meet in the first one, in
/// a tree. Any number of groups; width * groups <= blockDim.x, a multiple of 32. Every thread of the block calls, with
/// the same arguments. A barrier at the start lets it see what the block has written, one at the end shows its result.
__device__ __forceinline__ void group_reduce(float* buffer, int width, int groups) {
    const int thread = static_cast<int>(threadIdx.x);
    __syncthreads();
    while (groups > 1) {
        const int half = (groups + 1) / 2;
        const int active = (groups - half) * width;  // <= half * width: nobody reads what another thread writes now
        if (thread < active) buffer[thread] += buffer[thread + half * width];
        groups = half;
        if (active > 32) {
            __syncthreads();
        } else {
            __syncwarp();  // the next step's threads are lanes of the first warp too
        }
    }
    __syncthreads();
}

/// Sum over the block, valid in its first warp. `shared` holds a float per warp and is used once.
__device__ __forceinline__ float block_sum(float value, float* shared) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    value = warp_sum(value);
    if (lane == 0) shared[warp] = value;
    __syncthreads();
    if (warp != 0) return 0.0F;
    return warp_sum(lane < static_cast<int>(blockDim.x) / 32 ? shared[lane] : 0.0F);
}

}  // namespace gnntune::kernels

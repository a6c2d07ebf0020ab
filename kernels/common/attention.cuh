// What the attention kernels share: running softmax sums and their merges, teams of threads that own one row and head,
// weighted gathers of feature rows, and the merge of a long row's pieces.
//
// Running softmax (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018): a set of logits is the
// pair (max, sum of exp(e - max)); two sets merge by scaling the one with the smaller maximum. Accumulators of weighted
// rows are scaled by the same factor. The maximum is always subtracted, so logits of any size are safe. A logit of
// -infinity takes no part: its weight is 0, and a set of nothing else is the empty set {-infinity, 0}.
//
// Long rows: kernels/common/row_pieces.hpp cuts them into pieces; each piece is a block's work, and pieces of one row
// leave their partial results in the workspace, where merge_pieces() finds them. No atomics: sums have a fixed order.
#pragma once

#include <cstdint>

#include "kernels/common/attention.hpp"
#include "kernels/common/elements.cuh"
#include "kernels/common/row_pieces.hpp"

namespace gnntune::kernels {

__device__ __forceinline__ float minus_infinity() {
    return -__int_as_float(0x7f800000);
}

/// leaky_relu(v), and its derivative (`slope` at 0).
__device__ __forceinline__ float leaky_relu(float v, float slope) {
    return v > 0.0F ? v : slope * v;
}
__device__ __forceinline__ float leaky_relu_derivative(float v, float slope) {
    return v > 0.0F ? 1.0F : slope;
}

// --- running softmax ------------------------------------------------------------------------------------------------

__device__ __forceinline__ SoftmaxSum empty_softmax() {
    return {minus_infinity(), 0.0F};
}

/// exp(from - to) for from <= to: the factor that moves a sum from one maximum to a larger one. 1 for equal infinities.
__device__ __forceinline__ float rescale(float from, float to) {
    return from == to ? 1.0F : expf(from - to);
}

/// exp(e - max), 0 for a logit of -infinity.
__device__ __forceinline__ float softmax_term(float e, float max) {
    return e == minus_infinity() ? 0.0F : expf(e - max);
}

/// The same, faster, for max about as large as the logit or larger: relative error |logit - max| 2^-24, of a weight that
/// falls faster than that grows.
__device__ __forceinline__ float logit_weight(float logit, float max) {
    return logit == minus_infinity() ? 0.0F : __expf(logit - max);
}

__device__ __forceinline__ SoftmaxSum merge(const SoftmaxSum& a, const SoftmaxSum& b) {
    const float max = fmaxf(a.max, b.max);
    return {max, a.sum * rescale(a.max, max) + b.sum * rescale(b.max, max)};
}

/// log of the sum of exp(e); -infinity for the empty set.
__device__ __forceinline__ float log_sum_exp(const SoftmaxSum& a) {
    return a.max + logf(a.sum);
}

/// What a numerator is multiplied with; 0 for the empty set, so that empty rows give 0.
__device__ __forceinline__ float softmax_scale(const SoftmaxSum& a) {
    return a.max == minus_infinity() ? 0.0F : 1.0F / a.sum;
}

// --- atomic maximum of floats of either sign ------------------------------------------------------------------------

/// Order-preserving map of floats to unsigned integers, so that atomicMax works for both signs and -infinity. 0 is below
/// every number's key: memory set to zero bytes is the empty maximum.
__device__ __forceinline__ std::uint32_t float_key(float v) {
    const std::uint32_t bits = __float_as_uint(v);
    return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}
/// The float of a key; -infinity for 0.
__device__ __forceinline__ float float_of_key(std::uint32_t key) {
    if (key == 0) return minus_infinity();
    return __uint_as_float((key & 0x80000000U) != 0 ? key & 0x7fffffffU : ~key);
}

// --- teams ----------------------------------------------------------------------------------------------------------

/// `size` threads of one warp that own a unit (a row and a head): size / lanes groups of `lanes` threads, both powers of
/// two. Threads share the edges one each where a scalar per edge is computed; groups share them where feature rows are
/// read, a lane holding every lanes-th vector.
struct Team {
    int lanes;
    int size;
    int rank;            ///< of this thread, in [0, size)
    int lane;            ///< of this thread in its group
    int group;           ///< in [0, size / lanes)
    std::uint32_t mask;  ///< the team's threads in its warp

    __device__ __forceinline__ Team(int lanes_in, int size_in) {
        lanes = lanes_in;
        size = size_in;
        rank = static_cast<int>(threadIdx.x) & (size - 1);
        lane = rank & (lanes - 1);
        group = rank >> (31 - __clz(lanes));
        mask = size == 32 ? 0xffffffffU : ((1U << size) - 1) << (threadIdx.x & 31U & ~(size - 1U));
    }
    __device__ __forceinline__ int groups() const { return size >> (31 - __clz(lanes)); }
    /// Place of this team in its block, and number of teams there.
    __device__ __forceinline__ int index() const { return static_cast<int>(threadIdx.x) >> (31 - __clz(size)); }
    __device__ __forceinline__ int count() const { return static_cast<int>(blockDim.x) >> (31 - __clz(size)); }
};

/// Every thread gets the maximum, or sum, over the team.
__device__ __forceinline__ float team_max(const Team& t, float v) {
    for (int offset = t.size / 2; offset > 0; offset /= 2) v = fmaxf(v, __shfl_xor_sync(t.mask, v, offset));
    return v;
}
__device__ __forceinline__ float team_sum(const Team& t, float v) {
    for (int offset = t.size / 2; offset > 0; offset /= 2) v += __shfl_xor_sync(t.mask, v, offset);
    return v;
}
__device__ __forceinline__ SoftmaxSum team_merge(const Team& t, SoftmaxSum a) {
    for (int offset = t.size / 2; offset > 0; offset /= 2) {
        a = merge(a, {__shfl_xor_sync(t.mask, a.max, offset), __shfl_xor_sync(t.mask, a.sum, offset)});
    }
    return a;
}
/// Sum over the lanes of a group.
__device__ __forceinline__ float lanes_sum(const Team& t, float v) {
    for (int offset = t.lanes / 2; offset > 0; offset /= 2) v += __shfl_xor_sync(t.mask, v, offset);
    return v;
}

/// Takes in one logit per thread (-infinity: none). `running.max` becomes the team's, `running.sum` this thread's share
/// of the sum; `p` is exp(e - running.max). Returns the factor for accumulators of earlier logits, the same in the team.
__device__ __forceinline__ float online_step(const Team& t, float e, SoftmaxSum& running, float& p) {
    const float max = fmaxf(running.max, team_max(t, e));
    const float factor = rescale(running.max, max);
    p = softmax_term(e, max);
    running = {max, running.sum * factor + p};
    return factor;
}

template <int VEC, int ITEMS>
__device__ __forceinline__ void zero_all(Vec<VEC> (&acc)[ITEMS]) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) zero(acc[i]);
}
template <int VEC, int ITEMS>
__device__ __forceinline__ void scale_all(Vec<VEC> (&acc)[ITEMS], float factor) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
        for (int j = 0; j < VEC; ++j) acc[i].v[j] *= factor;
    }
}

/// acc += w_q x[id_q] over the first `count` (<= size) threads q of the team, each of which holds one row id and weight;
/// `x` points at the head's first feature, rows are `stride` elements apart, lane vectors at f0 + i lanes VEC < k.
/// Groups take every groups()-th q: 4 ITEMS loads of a lane are in flight. Rows of weight 0 are not read.
template <typename T, int VEC, int ITEMS>
__device__ __forceinline__ void gather_weighted(const Team& t, std::int32_t id, float w, int count,
                                                const T* __restrict__ x, std::int64_t stride, int f0, std::int32_t k,
                                                Vec<VEC> (&acc)[ITEMS]) {
    constexpr int kUnroll = 4;
    const int groups = t.groups();
    const int step = t.lanes * VEC;
    for (int q0 = 0; q0 < count; q0 += kUnroll * groups) {
        Pack<T, VEC> value[kUnroll][ITEMS];
        float weight[kUnroll];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
            const int q = q0 + u * groups + t.group;
            const std::int32_t row = __shfl_sync(t.mask, id, q, t.size);
            weight[u] = __shfl_sync(t.mask, w, q, t.size);
            if (q >= count) weight[u] = 0.0F;
            const T* source = x + row * stride;
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
                zero(value[u][i]);
                if (weight[u] != 0.0F && f0 + i * step < k) value[u][i] = load_pack<VEC>(source + f0 + i * step);
            }
        }
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) fma(acc[i], weight[u], value[u][i]);
        }
    }
}

/// Adds the accumulators of the team's groups; every group gets the sum.
template <int VEC, int ITEMS>
__device__ __forceinline__ void sum_groups(const Team& t, Vec<VEC> (&acc)[ITEMS]) {
    for (int offset = t.lanes; offset < t.size; offset *= 2) {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
            for (int j = 0; j < VEC; ++j) acc[i].v[j] += __shfl_xor_sync(t.mask, acc[i].v[j], offset);
        }
    }
}

// --- blocks ---------------------------------------------------------------------------------------------------------

/// Merges what the teams of a block have found: `mine` of each team (the same in all its threads), and the accumulators
/// after sum_groups(). Calls store(c, value, all) once for every column c of the tile, in [0, lanes ITEMS VEC), with the
/// numerator at the maximum of `all`, which is also returned. `shared` has shared_floats() floats. All threads of the
/// block call it.
template <int VEC, int ITEMS, typename Store>
__device__ __forceinline__ SoftmaxSum block_merge(const Team& t, const SoftmaxSum& mine, const Vec<VEC> (&acc)[ITEMS],
                                                  float* shared, Store store) {
    const int teams = t.count();
    const int team = t.index();
    const int tile = t.lanes * ITEMS * VEC;
    float* max = shared;
    float* sum = shared + teams;
    float* value = shared + 2 * teams;
    __syncthreads();  // an earlier use of `shared` has ended
    if (t.rank == 0) max[team] = mine.max, sum[team] = mine.sum;
    if (t.group == 0) {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
            for (int j = 0; j < VEC; ++j) value[team * tile + (i * t.lanes + t.lane) * VEC + j] = acc[i].v[j];
        }
    }
    __syncthreads();
    SoftmaxSum all = empty_softmax();
    for (int s = 0; s < teams; ++s) all = merge(all, {max[s], sum[s]});
    for (int c = static_cast<int>(threadIdx.x); c < tile; c += static_cast<int>(blockDim.x)) {
        float total = 0.0F;
        for (int s = 0; s < teams; ++s) total = fmaf(rescale(max[s], all.max), value[s * tile + c], total);
        store(c, total, all);
    }
    return all;
}

/// Shared memory of block_merge() in blocks of `threads`; teams have at least kMinTeam threads.
inline constexpr int kMinTeam = 4;
template <int VEC, int ITEMS>
constexpr int shared_floats(int threads) {
    return 2 * (threads / kMinTeam) + threads * ITEMS * VEC;
}

/// Merges one pair of every thread of the block; all threads get the result. `shared` has blockDim.x / 32 elements.
__device__ __forceinline__ SoftmaxSum block_merge(SoftmaxSum mine, SoftmaxSum* shared) {
    const Team warp(32, 32);
    mine = team_merge(warp, mine);
    __syncthreads();  // an earlier use of `shared` has ended
    if (warp.rank == 0) shared[warp.index()] = mine;
    __syncthreads();
    SoftmaxSum all = empty_softmax();
    for (int s = 0; s < warp.count(); ++s) all = merge(all, shared[s]);
    return all;
}

// --- pieces of long rows --------------------------------------------------------------------------------------------

inline constexpr int kMergeThreads = 128;

/// Block b -> split row b / heads, head b % heads: y = sum over its pieces of values, each moved to the row's maximum,
/// divided by the sum if `normalise`. `total`, if not null, gets the log-sum-exp, or the plain sum if not `normalise`.
template <typename T, typename Total>
static __global__ void merge_pieces(const SplitRow* __restrict__ rows, const SoftmaxSum* __restrict__ sums,
                                    const float* __restrict__ values, T* __restrict__ y, Total* __restrict__ total,
                                    int heads, std::int32_t k, bool normalise) {
    const SplitRow r = rows[blockIdx.x / static_cast<unsigned>(heads)];
    const int head = static_cast<int>(blockIdx.x % static_cast<unsigned>(heads));
    const std::int64_t first = static_cast<std::int64_t>(r.first_slot) * heads + head;
    const std::int64_t unit = static_cast<std::int64_t>(r.row) * heads + head;
    SoftmaxSum all = empty_softmax();
    for (int s = 0; s < r.count; ++s) all = merge(all, sums[first + static_cast<std::int64_t>(s) * heads]);
    const float scale = normalise ? softmax_scale(all) : 1.0F;
    for (int f = static_cast<int>(threadIdx.x); f < k; f += kMergeThreads) {
        float value = 0.0F;
        for (int s = 0; s < r.count; ++s) {
            const std::int64_t slot = first + static_cast<std::int64_t>(s) * heads;
            value = fmaf(rescale(sums[slot].max, all.max), values[slot * k + f], value);
        }
        y[unit * k + f] = narrowed<T>(value * scale);
    }
    if (threadIdx.x == 0 && total) total[unit] = narrowed<Total>(normalise ? log_sum_exp(all) : all.sum);
}

/// Enqueues merge_pieces() for every split row; nothing if there is none.
template <typename T, typename Total>
static void launch_merge_pieces(const RowPieces& pieces, const PieceResults& partial, T* y, Total* total, int heads,
                                std::int32_t k, bool normalise, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(pieces.split.size()) * static_cast<unsigned>(heads);
    if (blocks == 0) return;
    merge_pieces<<<blocks, kMergeThreads, 0, stream>>>(pieces.split.data(), partial.sums, partial.values, y, total,
                                                       heads, k, normalise);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::kernels

// spmm_grad.gar: both gradients of y = A x (+ self loops) in one pass over CSC, fuseGNN section 5.4:
//   grad_x[j, :]        = self_weight[j] grad_y[j, :] + sum over edges e of column j of w_e grad_y[row_e, :]
//   grad_edge_weight[e] = <grad_y[row_e, :], x[j, :]>
//   grad_self_weight[j] = <grad_y[j, :], x[j, :]>
//
// Layout   col_ptr [n_cols + 1], row_idx [m] (a Gather over CSC), edge_id [m] or null; edge_weight, grad_edge_weight [m] in
//          the caller's order; self_weight, grad_self_weight [n] or null; x, grad_x [n_cols, k], grad_y [n_rows, k];
//          row-major, device memory.
// Work     block -> source vertex j. Its self loop is one more edge after the last.
//          k < T: floor(T / k) groups of k threads, each with its feature of x[j] in a register; group s takes the edges
//          s, s + groups, ... In each round thread (group g, feature f) leaves its product at buffer[g + f * groups]; the k
//          runs meet in the first one (group reduce), and consecutive threads write the edges' sums. After the last round
//          the groups' sums of grad_x meet in the same buffer.
//          k >= T: tiles of kItems T features, each thread with kItems of x[j] and of grad_x[j] in registers. Per round
//          kBatch edges, whose products are summed by shuffles and one float per warp and edge; the sums of later tiles
//          are added by the thread that wrote the first.
// Data     a row of grad_y per edge, loaded once, into registers, for both gradients; x[j] once.
// Shared   T floats if k < T, else 2 kBatch floats per warp: rounds take turns, so that one barrier each is enough.
// Atomics  none; the order of summation depends on T and k only, so results repeat bit for bit.
#pragma once

#include "kernels/common/gar.cuh"

namespace gnntune::spmm_grad_gar {

inline constexpr int kItems = 4;  ///< features per thread and tile
inline constexpr int kBatch = 4;  ///< edges whose rows are in flight together

/// Where the gradients of weights go.
struct WeightGradients {
    const float* x;      ///< [n_cols, k]
    float* edge_weight;  ///< [m]
    float* self_weight;  ///< [n] or null
};

/// Without a gradient of edge weights: Algorithm 3 over CSC (section 5.4).
__global__ void gar_kernel(kernels::Gather g) {
    extern __shared__ float buffer[];
    kernels::gar_rows(g, buffer);
}

/// The edges of one source vertex, its self loop last.
struct Column {
    std::int64_t vertex;
    std::int64_t begin;
    std::int64_t loop;  ///< position of the self loop: the end of the edges
    std::int64_t end;   ///< loop, or loop + 1 with self loops

    __device__ __forceinline__ explicit Column(const kernels::Gather& g) {
        vertex = blockIdx.x;
        begin = __ldg(g.row_ptr + vertex);
        loop = __ldg(g.row_ptr + vertex + 1);
        end = loop + (g.self_weight ? 1 : 0);
    }
    __device__ __forceinline__ const float* source(const kernels::Gather& g, std::int64_t e) const {
        return e == loop ? g.x + vertex * g.k : g.source(e);
    }
    __device__ __forceinline__ float weight(const kernels::Gather& g, std::int64_t e) const {
        return e == loop ? __ldg(g.self_weight + vertex) : g.weight(e);
    }
    __device__ __forceinline__ float* gradient(const kernels::Gather& g, const WeightGradients& to,
                                               std::int64_t e) const {
        return e == loop ? to.self_weight + vertex : to.edge_weight + g.id(e);
    }
};

__device__ __forceinline__ void narrow_column(const kernels::Gather& g, const WeightGradients& to, float* buffer) {
    const int threads = static_cast<int>(blockDim.x);
    const int thread = static_cast<int>(threadIdx.x);
    const Column column(g);
    const int groups = threads / g.k;
    const int group = thread / g.k;
    const int f = thread - group * g.k;
    const bool busy = group < groups;
    const float own = busy ? __ldg(to.x + column.vertex * g.k + f) : 0.0F;
    float sum = 0.0F;
    for (std::int64_t first = column.begin; first < column.end; first += groups) {
        const std::int64_t e = first + group;
        if (busy) {
            float product = 0.0F;
            if (e < column.end) {
                const float gradient = __ldg(column.source(g, e) + f);
                sum = fmaf(column.weight(g, e), gradient, sum);
                product = gradient * own;
            }
            buffer[group + f * groups] = product;
        }
        kernels::group_reduce(buffer, groups, g.k);
        if (thread < groups && first + thread < column.end) *column.gradient(g, to, first + thread) = buffer[thread];
        __syncthreads();  // the buffer is written again
    }
    if (busy) buffer[thread] = sum;
    kernels::group_reduce(buffer, g.k, groups);
    if (thread < g.k) g.y[column.vertex * g.k + thread] = buffer[thread];
}

__device__ __forceinline__ void wide_column(const kernels::Gather& g, const WeightGradients& to, float* buffer) {
    const int threads = static_cast<int>(blockDim.x);
    const int thread = static_cast<int>(threadIdx.x);
    const int warps = threads / 32;
    const Column column(g);
    int turn = 0;
    for (int tile = 0; tile < g.k; tile += kItems * threads) {
        float own[kItems];
        float sum[kItems];
#pragma unroll
        for (int i = 0; i < kItems; ++i) {
            const int f = tile + i * threads + thread;
            own[i] = f < g.k ? __ldg(to.x + column.vertex * g.k + f) : 0.0F;
            sum[i] = 0.0F;
        }
        for (std::int64_t first = column.begin; first < column.end; first += kBatch) {
            float product[kBatch];
#pragma unroll
            for (int u = 0; u < kBatch; ++u) {
                product[u] = 0.0F;
                const std::int64_t e = first + u;
                if (e >= column.end) continue;
                const float w = column.weight(g, e);
                const float* source = column.source(g, e);
#pragma unroll
                for (int i = 0; i < kItems; ++i) {
                    const int f = tile + i * threads + thread;
                    if (f >= g.k) continue;
                    const float gradient = __ldg(source + f);
                    sum[i] = fmaf(w, gradient, sum[i]);
                    product[u] = fmaf(gradient, own[i], product[u]);
                }
            }
            float* shared = buffer + turn * kBatch * warps;
            turn ^= 1;
#pragma unroll
            for (int u = 0; u < kBatch; ++u) {
                product[u] = kernels::warp_sum(product[u]);
                if (thread % 32 == 0) shared[u * warps + thread / 32] = product[u];
            }
            __syncthreads();
            if (thread < kBatch && first + thread < column.end) {
                float dot = 0.0F;
                for (int w = 0; w < warps; ++w) dot += shared[thread * warps + w];
                float* gradient = column.gradient(g, to, first + thread);
                *gradient = tile == 0 ? dot : *gradient + dot;
            }
        }
#pragma unroll
        for (int i = 0; i < kItems; ++i) {
            const int f = tile + i * threads + thread;
            if (f < g.k) g.y[column.vertex * g.k + f] = sum[i];
        }
    }
}

/// `g` is CSC, g.x = grad_y, g.y = grad_x; weighted.
__global__ void gar_grad_kernel(kernels::Gather g, WeightGradients to) {
    extern __shared__ float buffer[];
    if (g.k < static_cast<int>(blockDim.x)) {
        narrow_column(g, to, buffer);
    } else {
        wide_column(g, to, buffer);
    }
}

/// Bytes of shared memory of gar_grad_kernel.
inline std::size_t shared_bytes(std::int32_t k, int block_size) {
    return static_cast<std::size_t>(k < block_size ? block_size : 2 * kBatch * block_size / 32) * sizeof(float);
}

}  // namespace gnntune::spmm_grad_gar

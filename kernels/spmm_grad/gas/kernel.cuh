// spmm_grad.gas: both gradients of y = A x in one pass over a COO list, fuseGNN Algorithm 2:
//   grad_x[col_e, :]    += w_e grad_y[row_e, :]
//   grad_edge_weight[e]  = <grad_y[row_e, :], x[col_e, :]>
//
// Layout   row_idx, col_idx [m] in any order; edge_id [m] or null; edge_weight, grad_edge_weight [m] in the caller's order;
//          grad_y [n_rows, k], x [n_cols, k], grad_x [n_cols, k] holding the self loops' terms, or zeros; row-major, device
//          memory.
// Work     k < T: a block takes floor(T / k) edges at once, consecutive threads the consecutive features of an edge. Thread
//          (edge g, feature f) leaves its product at buffer[g + f * stride], so that the products of one feature are
//          neighbours; the k runs of `stride` products meet in the first one (group reduce), and consecutive threads write
//          the edges' sums.
//          k >= T: a block takes one edge, a thread sums the products of its features, and the block's sums meet by
//          shuffles and one float per warp (block reduce).
// Data     grad_y's row is loaded once, into a register, for both gradients.
// Shared   T floats if k < T, else one float per warp.
// Atomics  one scalar atomicAdd into grad_x per edge and feature: not deterministic. The edges' gradients are.
#pragma once

#include "kernels/common/gas.cuh"
#include "kernels/common/group_reduce.cuh"

namespace gnntune::spmm_grad_gas {

/// Without a gradient of the weights: Algorithm 1 with sources and targets exchanged (section 5.3).
__global__ void gas_kernel(kernels::Scatter s) {
    kernels::gas_scatter(s);
}

/// `s` leads from rows, in = grad_y, to columns, out = grad_x; weighted.
__global__ void gas_grad_kernel(kernels::Scatter s, const float* __restrict__ x, float* __restrict__ grad_edge_weight) {
    extern __shared__ float buffer[];
    const int threads = static_cast<int>(blockDim.x);
    const int thread = static_cast<int>(threadIdx.x);
    if (s.k < threads) {
        const int stride = kernels::edges_per_block(s.k, threads);
        const int slot = thread / s.k;
        const int f = thread - slot * s.k;
        const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * stride;
        const std::int64_t e = first + slot;
        if (slot < stride) {
            float product = 0.0F;
            if (e < s.m) {
                const float gradient = __ldg(s.in + static_cast<std::int64_t>(__ldg(s.from + e)) * s.k + f);
                const std::int64_t target = static_cast<std::int64_t>(__ldg(s.to + e)) * s.k + f;
                atomicAdd(s.out + target, s.weight(e) * gradient);
                product = gradient * __ldg(x + target);
            }
            buffer[slot + f * stride] = product;
        }
        kernels::group_reduce(buffer, stride, s.k);
        if (thread < stride && first + thread < s.m) grad_edge_weight[s.id(first + thread)] = buffer[thread];
    } else {
        const std::int64_t e = blockIdx.x;
        const float w = s.weight(e);
        const float* source = s.in + static_cast<std::int64_t>(__ldg(s.from + e)) * s.k;
        const std::int64_t target = static_cast<std::int64_t>(__ldg(s.to + e)) * s.k;
        float sum = 0.0F;
        for (int f = thread; f < s.k; f += threads) {
            const float gradient = __ldg(source + f);
            atomicAdd(s.out + target + f, w * gradient);
            sum = fmaf(gradient, __ldg(x + target + f), sum);
        }
        sum = kernels::block_sum(sum, buffer);
        if (thread == 0) grad_edge_weight[s.id(e)] = sum;
    }
}

/// Bytes of shared memory of gas_grad_kernel.
inline std::size_t shared_bytes(std::int32_t k, int block_size) {
    return static_cast<std::size_t>(k < block_size ? block_size : block_size / 32) * sizeof(float);
}

}  // namespace gnntune::spmm_grad_gas

// agnn_grad.gas: for every edge j -> i and head, with u = x_row[i], x = x[j], g = grad_y[i], c = cos(u, x),
// alpha = exp(beta c - lse[i]), de = alpha (<g, x> - <g, y[i]>) and w = beta de / (|u| |x|):
//     grad_x_row[i] += w x - beta de c u / |u|^2
//     grad_x[j]     += w u - beta de c x / |x|^2 + alpha g
//     grad_beta     += de c
//
// Layout   row_idx, col_idx [m]; x, grad_x [n_cols, heads, k], x_row, grad_y, grad_x_row [n_rows, heads, k], row-major,
//          aligned to 4 VEC bytes; lse [n_rows, heads], beta and grad_beta [heads]; from the workspace inverse_row and
//          inner = <g, y> [n_rows, heads], inverse_col [n_cols, heads]. Results are zeroed before.
// Work     group of `lanes` threads -> edge, grid.y -> head, lane -> every lanes-th vector of VEC features.
// Data     Three rows per edge, read twice: for two dot products, and for the gradients.
// Shared   one float per warp.  Atomics: vector reductions for both feature gradients, one atomic addition
//          per block for grad_beta: not deterministic.
#pragma once

#include "kernels/common/vec.cuh"

namespace gnntune::agnn_grad_gas {

using kernels::Vec;

inline constexpr int kThreads = 128;

struct Arguments {
    const std::int32_t* row_idx;
    const std::int32_t* col_idx;
    const float* x;
    const float* x_row;
    const float* beta;
    const float* grad_y;
    const float* lse;
    const float* inverse_row;
    const float* inverse_col;
    const float* inner;
    float* grad_x;
    float* grad_x_row;
    float* grad_beta;
    std::int64_t m;
    std::int32_t heads;
    std::int32_t k;
};

template <int VEC>
__global__ void __launch_bounds__(kThreads) edges_kernel(const Arguments a, int lanes) {
    __shared__ float shared[kThreads / 32];
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const int head = static_cast<int>(blockIdx.y);
    const std::int64_t e = kernels::group_index(lanes);
    const bool here = e < a.m;  // all threads stay for the shuffles
    const std::int64_t row = here ? static_cast<std::int64_t>(__ldg(a.row_idx + e)) * a.heads + head : 0;
    const std::int64_t col = here ? static_cast<std::int64_t>(__ldg(a.col_idx + e)) * a.heads + head : 0;
    const float* u = a.x_row + row * a.k;
    const float* x = a.x + col * a.k;
    const float* g = a.grad_y + row * a.k;
    const std::int32_t k = here ? a.k : 0;
    float cosine = 0.0F;
    float product = 0.0F;
    for (std::int32_t f = lane * VEC; f < k; f += lanes * VEC) {
        const Vec<VEC> target = kernels::load<VEC>(u + f);
        const Vec<VEC> source = kernels::load<VEC>(x + f);
        const Vec<VEC> grad = kernels::load<VEC>(g + f);
#pragma unroll
        for (int i = 0; i < VEC; ++i) {
            cosine = fmaf(target.v[i], source.v[i], cosine);
            product = fmaf(grad.v[i], source.v[i], product);
        }
    }
    for (int offset = lanes / 2; offset > 0; offset /= 2) {
        cosine += __shfl_xor_sync(0xffffffffU, cosine, offset);
        product += __shfl_xor_sync(0xffffffffU, product, offset);
    }
    float beta_part = 0.0F;
    if (here) {
        const float inverse_row = __ldg(a.inverse_row + row);
        const float inverse_col = __ldg(a.inverse_col + col);
        const float beta = __ldg(a.beta + head);
        cosine *= inverse_row * inverse_col;
        const float alpha = expf(fmaf(beta, cosine, -__ldg(a.lse + row)));
        const float de = alpha * (product - __ldg(a.inner + row));
        const float weight = beta * de * inverse_row * inverse_col;
        const float along_row = -beta * de * cosine * inverse_row * inverse_row;
        const float along_col = -beta * de * cosine * inverse_col * inverse_col;
        if (lane == 0) beta_part = de * cosine;
        for (std::int32_t f = lane * VEC; f < k; f += lanes * VEC) {
            const Vec<VEC> target = kernels::load<VEC>(u + f);
            const Vec<VEC> source = kernels::load<VEC>(x + f);
            const Vec<VEC> grad = kernels::load<VEC>(g + f);
            Vec<VEC> to_row;
            Vec<VEC> to_col;
            kernels::zero(to_row);
            kernels::zero(to_col);
            kernels::fma(to_row, weight, source);
            kernels::fma(to_row, along_row, target);
            kernels::fma(to_col, weight, target);
            kernels::fma(to_col, along_col, source);
            kernels::fma(to_col, alpha, grad);
            kernels::reduce_add(a.grad_x_row + row * a.k + f, to_row);
            kernels::reduce_add(a.grad_x + col * a.k + f, to_col);
        }
    }
    __syncwarp();
    for (int offset = 16; offset > 0; offset /= 2) beta_part += __shfl_xor_sync(0xffffffffU, beta_part, offset);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = beta_part;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int w = 1; w < kThreads / 32; ++w) beta_part += shared[w];
    atomicAdd(a.grad_beta + head, beta_part);
}

}  // namespace gnntune::agnn_grad_gas

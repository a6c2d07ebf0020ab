// agnn_grad.unfused, the parts that are no sddmm and no spmm.
//
// SoftmaxBackward: with p = <x_row, x> and q = <grad_y, x> of an edge, c = p / (|x_row| |x|), alpha = exp(beta c -
// lse), de = alpha (q - <grad_y, y>): p becomes alpha, q becomes beta de / (|x_row| |x|), and row_beta the row's sum of
// de c.
//   Layout  dots, products [m] for each head, in the caller's edge order; the rest [vertices, heads].
//   Work    kernels/common/row_walk.cuh. In place: each edge and head is one thread's.
// project_kernel: out[v, h, :] = z[v, :] - <z[v, :], own> own / |own|^2 (+ base[v, :]), own = vector[v, h, :]
//   Layout  z, base [n, k] of one head; vector, out [n, heads, k]; inverse [n, heads]; all aligned to 4 VEC bytes.
//   Work    group of `lanes` threads -> vertex; z is read twice, the second time from L1.
// Shared, atomics: none but those of the walk.
#pragma once

#include "kernels/common/row_walk.cuh"

namespace gnntune::agnn_grad_unfused {

using kernels::Vec;

struct SoftmaxBackward {
    float* dots;
    float* products;
    const float* inverse_row;
    const float* inverse_col;
    const float* inner;
    const float* lse;
    const float* beta;
    float* row_beta;

    __device__ __forceinline__ kernels::SoftmaxSum edge(const kernels::WalkEdge& e) const {
        const float both = __ldg(inverse_row + e.row) * __ldg(inverse_col + e.col);
        const float cosine = dots[e.at] * both;
        const float factor = __ldg(beta + e.head);
        const float alpha = expf(fmaf(factor, cosine, -__ldg(lse + e.row)));
        const float de = alpha * (products[e.at] - __ldg(inner + e.row));
        dots[e.at] = alpha;
        products[e.at] = factor * de * both;
        return {0.0F, de * cosine};  // a plain sum: its maximum is 0
    }
    __device__ __forceinline__ void row(std::int64_t unit, const kernels::SoftmaxSum& all) const {
        row_beta[unit] = all.sum;
    }
};

inline constexpr int kProjectThreads = 256;

template <int VEC>
__global__ void project_kernel(const float* __restrict__ z, const float* __restrict__ base,
                               const float* __restrict__ vector, const float* __restrict__ inverse,
                               float* __restrict__ out, std::int64_t n, int heads, int head, std::int32_t k,
                               int lanes) {
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const std::int64_t v = kernels::group_index(lanes);
    const bool here = v < n;  // all threads stay for the shuffles
    const std::int64_t unit = v * heads + head;
    float along = 0.0F;
    for (std::int32_t f = lane * VEC; here && f < k; f += lanes * VEC) {
        const Vec<VEC> a = kernels::load<VEC>(z + v * k + f);
        const Vec<VEC> b = kernels::load<VEC>(vector + unit * k + f);
#pragma unroll
        for (int i = 0; i < VEC; ++i) along = a.v[i] == 0.0F ? along : fmaf(a.v[i], b.v[i], along);
    }
    for (int offset = lanes / 2; offset > 0; offset /= 2) along += __shfl_xor_sync(0xffffffffU, along, offset);
    if (!here) return;
    const float inverse_here = __ldg(inverse + unit);
    along *= inverse_here * inverse_here;
    for (std::int32_t f = lane * VEC; f < k; f += lanes * VEC) {
        Vec<VEC> a = kernels::load<VEC>(z + v * k + f);
        // Zero where no edge touches the vertex, whatever its vector holds.
        if (along != 0.0F) kernels::fma(a, -along, kernels::load<VEC>(vector + unit * k + f));
        if (base) kernels::fma(a, 1.0F, kernels::load<VEC>(base + v * k + f));
        kernels::store_streaming(out + unit * k + f, a);
    }
}

}  // namespace gnntune::agnn_grad_unfused

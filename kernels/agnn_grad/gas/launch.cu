#include "kernels/agnn_grad/gas/launch.hpp"

#include "kernels/agnn_grad/gas/kernel.cuh"
#include "kernels/common/attention.hpp"
#include "kernels/common/row_dots.cuh"

namespace gnntune::agnn_grad_gas {
namespace {

struct Scratch {
    float* inverse_row;
    float* inverse_col;
    float* inner;
};

Scratch cut(const Plan& p, kernels::WorkspaceCutter& space) {
    Scratch out{};
    out.inverse_row = space.take<float>(std::int64_t{p.coo->n_rows} * p.heads);
    out.inverse_col = space.take<float>(std::int64_t{p.coo->n_cols} * p.heads);
    out.inner = space.take<float>(std::int64_t{p.coo->n_rows} * p.heads);
    return out;
}

void clear(float* values, std::int64_t count, cudaStream_t stream) {
    if (count > 0) GNNTUNE_CUDA(cudaMemsetAsync(values, 0, static_cast<std::size_t>(count) * sizeof(float), stream));
}

}  // namespace

std::size_t workspace_bytes(const Plan& p) {
    kernels::WorkspaceCutter space(nullptr);
    cut(p, space);
    return space.bytes();
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream_handle) {
    const CooFormat& g = *p.coo;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    kernels::WorkspaceCutter space(workspace);
    const Scratch t = cut(p, space);
    const std::int64_t row_units = std::int64_t{g.n_rows} * p.heads;
    const std::int64_t col_units = std::int64_t{g.n_cols} * p.heads;
    clear(o.grad_x_row, row_units * p.k, stream);
    clear(o.grad_x, col_units * p.k, stream);
    clear(o.grad_beta, p.heads, stream);
    if (g.m == 0) return;
    kernels::row_inverse_norms(o.x_row, t.inverse_row, row_units, p.k, stream);
    kernels::row_inverse_norms(o.x, t.inverse_col, col_units, p.k, stream);
    kernels::row_dots(o.grad_y, o.y_saved, t.inner, row_units, p.k, stream);
    const Arguments a{g.row_idx,   g.col_idx,     o.x,           o.x_row, o.beta,   o.grad_y,
                      o.lse_saved, t.inverse_row, t.inverse_col, t.inner, o.grad_x, o.grad_x_row,
                      o.grad_beta, g.m,           p.heads,       p.k};
    const dim3 grid(static_cast<unsigned>(kernels::ceil_div(g.m, kThreads / p.params.lanes)),
                    static_cast<unsigned>(p.heads));
    const int vec = kernels::vector_width(p.k, {o.x, o.x_row, o.grad_y, o.grad_x, o.grad_x_row});
    auto* kernel = vec == 4 ? &edges_kernel<4> : vec == 2 ? &edges_kernel<2> : &edges_kernel<1>;
    kernel<<<grid, kThreads, 0, stream>>>(a, p.params.lanes);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::agnn_grad_gas

#include "kernels/agnn_grad/unfused/launch.hpp"

#include "kernels/agnn_grad/common/head_sums.cuh"
#include "kernels/agnn_grad/unfused/kernel.cuh"
#include "kernels/common/attention.hpp"
#include "kernels/common/head_major.cuh"
#include "kernels/common/row_dots.cuh"

namespace gnntune::agnn_grad_unfused {

struct Plan {
    std::shared_ptr<const CsrFormat> csr;
    kernels::PartPlans parts;
    kernels::RowPieces pieces;
    std::int32_t k = 0;
    std::int32_t heads = 0;
};

namespace {

struct Scratch {
    float* inverse_row;  ///< [n_rows, heads]
    float* inverse_col;  ///< [n_cols, heads]
    float* inner;        ///< [n_rows, heads]: <grad_y, y>
    float* row_beta;     ///< [n_rows, heads]
    float* partial_beta;
    float* dots;      ///< [m] for each head, then alpha
    float* products;  ///< [m] for each head, then the weights
    float* x;         ///< [n_cols, k] for each head, if there are several
    float* x_row;     ///< [n_rows, k] for each head, if there are several
    float* grad_y;    ///< [n_rows, k] for each head, if there are several
    float* z;         ///< [max(n_rows, n_cols), k]
    float* base;      ///< [n_cols, k]
    kernels::SoftmaxSum* sums;
    unsigned char* part;  ///< workspace of the parts
};

Scratch cut(const Plan& p, kernels::WorkspaceCutter& space) {
    Scratch out{};
    const std::int64_t n_rows = p.csr->n_rows;
    const std::int64_t n_cols = p.csr->n_cols;
    const std::int64_t edge_values = kernels::head_stride(p.csr->m) * p.heads;
    out.inverse_row = space.take<float>(n_rows * p.heads);
    out.inverse_col = space.take<float>(n_cols * p.heads);
    out.inner = space.take<float>(n_rows * p.heads);
    out.row_beta = space.take<float>(n_rows * p.heads);
    out.partial_beta = space.take<float>(kernels::head_sum_blocks(n_rows) * p.heads);
    out.dots = space.take<float>(edge_values);
    out.products = space.take<float>(edge_values);
    if (p.heads > 1) {
        out.x = space.take<float>(kernels::head_stride(n_cols * p.k) * p.heads);
        out.x_row = space.take<float>(kernels::head_stride(n_rows * p.k) * p.heads);
        out.grad_y = space.take<float>(kernels::head_stride(n_rows * p.k) * p.heads);
    }
    out.z = space.take<float>(std::max(n_rows, n_cols) * p.k);
    out.base = space.take<float>(n_cols * p.k);
    out.sums = space.take<kernels::SoftmaxSum>(std::int64_t{p.pieces.slots} * p.heads);
    out.part = space.take<unsigned char>(static_cast<std::int64_t>(p.parts.workspace_bytes));
    return out;
}

void project(const float* z, const float* base, const float* vector, const float* inverse, float* out, std::int64_t n,
             int heads, int head, std::int32_t k, cudaStream_t stream) {
    if (n == 0) return;
    const int vec = kernels::vector_width(k, {z, base, vector, out});
    const auto vectors = static_cast<std::int32_t>(std::min<std::int64_t>(kernels::ceil_div(k, vec), 32));
    const int lanes = kernels::next_power_of_two(vectors);
    const auto blocks = static_cast<unsigned>(kernels::ceil_div(n, kProjectThreads / lanes));
    auto* kernel = vec == 4 ? &project_kernel<4> : vec == 2 ? &project_kernel<2> : &project_kernel<1>;
    kernel<<<blocks, kProjectThreads, 0, stream>>>(z, base, vector, inverse, out, n, heads, head, k, lanes);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace

std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, kernels::PartPlans parts, std::int32_t k,
                                      std::int32_t heads, StreamHandle stream) {
    auto plan = std::make_shared<Plan>();
    plan->csr = std::move(csr);
    plan->parts = std::move(parts);
    plan->pieces = kernels::build_row_pieces(*plan->csr, stream);
    plan->k = k;
    plan->heads = heads;
    return plan;
}

std::size_t workspace_bytes(const Plan& p) {
    kernels::WorkspaceCutter space(nullptr);
    cut(p, space);
    return space.bytes();
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream_handle) {
    const CsrFormat& g = *p.csr;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    kernels::WorkspaceCutter space(workspace);
    const Scratch t = cut(p, space);
    const bool slices = p.heads > 1;
    const std::int64_t row_units = std::int64_t{g.n_rows} * p.heads;
    const std::int64_t row_stride = kernels::head_stride(std::int64_t{g.n_rows} * p.k);
    const std::int64_t col_stride = kernels::head_stride(std::int64_t{g.n_cols} * p.k);
    const std::int64_t edge_stride = kernels::head_stride(g.m);
    kernels::row_inverse_norms(o.x_row, t.inverse_row, row_units, p.k, stream);
    kernels::row_inverse_norms(o.x, t.inverse_col, std::int64_t{g.n_cols} * p.heads, p.k, stream);
    kernels::row_dots(o.grad_y, o.y_saved, t.inner, row_units, p.k, stream);
    if (slices) {
        kernels::launch_head_major(o.x, t.x, g.n_cols, p.heads, p.k, true, stream);
        kernels::launch_head_major(o.x_row, t.x_row, g.n_rows, p.heads, p.k, true, stream);
        kernels::launch_head_major(o.grad_y, t.grad_y, g.n_rows, p.heads, p.k, true, stream);
    }
    const auto x = [&](std::int32_t h) { return slices ? t.x + h * col_stride : o.x; };
    const auto x_row = [&](std::int32_t h) { return slices ? t.x_row + h * row_stride : o.x_row; };
    const auto grad_y = [&](std::int32_t h) { return slices ? t.grad_y + h * row_stride : o.grad_y; };
    for (std::int32_t h = 0; h < p.heads; ++h) {
        Operands inner;
        inner.x = x(h);
        inner.x_row = x_row(h);
        inner.y = t.dots + h * edge_stride;
        p.parts[kSddmm].run(inner, t.part, stream_handle);
        inner.x_row = grad_y(h);
        inner.y = t.products + h * edge_stride;
        p.parts[kSddmm].run(inner, t.part, stream_handle);
    }
    kernels::walk_rows(
        g, p.pieces, p.heads, t.sums, edge_stride,
        SoftmaxBackward{t.dots, t.products, t.inverse_row, t.inverse_col, t.inner, o.lse_saved, o.beta, t.row_beta},
        t.row_beta, false, stream);
    kernels::head_sums(t.row_beta, g.n_rows, p.heads, t.partial_beta, o.grad_beta, stream);
    for (std::int32_t h = 0; h < p.heads; ++h) {
        const auto sum = [&](PartIndex part, const float* from, const float* weight, float* y) {
            Operands inner;
            inner.x = from;
            inner.edge_weight = weight + h * edge_stride;
            inner.y = y;
            p.parts[part].run(inner, t.part, stream_handle);
        };
        sum(kSpmm, x(h), t.products, t.z);
        project(t.z, nullptr, o.x_row, t.inverse_row, o.grad_x_row, g.n_rows, p.heads, h, p.k, stream);
        sum(kSpmmReversed, x_row(h), t.products, t.z);
        sum(kSpmmReversed, grad_y(h), t.dots, t.base);
        project(t.z, t.base, o.x, t.inverse_col, o.grad_x, g.n_cols, p.heads, h, p.k, stream);
    }
}

}  // namespace gnntune::agnn_grad_unfused

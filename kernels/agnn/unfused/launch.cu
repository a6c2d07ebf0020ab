#include "kernels/agnn/unfused/launch.hpp"

#include "kernels/agnn/unfused/kernel.cuh"
#include "kernels/common/attention.hpp"
#include "kernels/common/head_major.cuh"
#include "kernels/common/row_dots.cuh"

namespace gnntune::agnn_unfused {

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
    float* logit;        ///< [m] for each head
    float* alpha;        ///< [m]
    float* x;            ///< [n_cols, k] for each head, if there are several
    float* x_row;        ///< [n_rows, k] for each head, if there are several; after the dot products y of each head
    kernels::SoftmaxSum* sums;
    unsigned char* inner;  ///< workspace of the parts
};

Scratch cut(const Plan& p, kernels::WorkspaceCutter& space) {
    Scratch out{};
    const std::int64_t row_units = std::int64_t{p.csr->n_rows} * p.heads;
    const std::int64_t col_units = std::int64_t{p.csr->n_cols} * p.heads;
    out.inverse_row = space.take<float>(row_units);
    out.inverse_col = space.take<float>(col_units);
    out.logit = space.take<float>(kernels::head_stride(p.csr->m) * p.heads);
    out.alpha = space.take<float>(p.csr->m);
    if (p.heads > 1) {
        out.x = space.take<float>(kernels::head_stride(std::int64_t{p.csr->n_cols} * p.k) * p.heads);
        out.x_row = space.take<float>(kernels::head_stride(std::int64_t{p.csr->n_rows} * p.k) * p.heads);
    }
    out.sums = space.take<kernels::SoftmaxSum>(std::int64_t{p.pieces.slots} * p.heads);
    out.inner = space.take<unsigned char>(static_cast<std::int64_t>(p.parts.workspace_bytes));
    return out;
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
    const std::int64_t row_stride = kernels::head_stride(std::int64_t{g.n_rows} * p.k);
    const std::int64_t col_stride = kernels::head_stride(std::int64_t{g.n_cols} * p.k);
    const std::int64_t edge_stride = kernels::head_stride(g.m);
    kernels::row_inverse_norms(o.x_row, t.inverse_row, std::int64_t{g.n_rows} * p.heads, p.k, stream);
    kernels::row_inverse_norms(o.x, t.inverse_col, std::int64_t{g.n_cols} * p.heads, p.k, stream);
    if (slices) {
        kernels::launch_head_major(o.x, t.x, g.n_cols, p.heads, p.k, true, stream);
        kernels::launch_head_major(o.x_row, t.x_row, g.n_rows, p.heads, p.k, true, stream);
    }
    for (std::int32_t h = 0; h < p.heads; ++h) {
        Operands inner;
        inner.x = slices ? t.x + h * col_stride : o.x;
        inner.x_row = slices ? t.x_row + h * row_stride : o.x_row;
        inner.y = t.logit + h * edge_stride;
        p.parts[kSddmm].run(inner, t.inner, stream_handle);
    }
    kernels::walk_rows(g, p.pieces, p.heads, t.sums, edge_stride,
                       Logits{t.logit, t.inverse_row, t.inverse_col, o.beta, o.lse}, o.lse, true, stream);
    for (std::int32_t h = 0; h < p.heads; ++h) {
        Operands softmax;
        softmax.edge_weight = t.logit + h * edge_stride;
        softmax.y = t.alpha;
        p.parts[kSoftmax].run(softmax, t.inner, stream_handle);
        Operands sum;
        sum.x = slices ? t.x + h * col_stride : o.x;
        sum.edge_weight = t.alpha;
        sum.y = slices ? t.x_row + h * row_stride : o.y;
        p.parts[kSpmm].run(sum, t.inner, stream_handle);
    }
    if (slices) kernels::launch_head_major(t.x_row, o.y, g.n_rows, p.heads, p.k, false, stream);
}

}  // namespace gnntune::agnn_unfused

// Attention as a composition: dot products by an sddmm, logits from them in place, an edge_softmax, dropout in place, and
// a weighted spmm. The parts know no heads: for more than one, features are copied to one matrix per head.
#pragma once

#include "kernels/common/dropout.cuh"
#include "kernels/common/head_major.cuh"
#include "kernels/common/row_walk.cuh"
#include "kernels/common/unfused_attention.hpp"

namespace gnntune::kernels {

struct UnfusedPlan {
    std::shared_ptr<const CsrFormat> csr;
    PartPlans parts;
    RowPieces pieces;
    std::int32_t k = 0;
    std::int32_t heads = 0;
    bool keys = false;  ///< the dot products are with an operand of their own, not with x
};

/// Cuts long rows into pieces: synchronises `stream`.
inline UnfusedPlan make_unfused_plan(std::shared_ptr<const CsrFormat> csr, PartPlans parts, std::int32_t k,
                                     std::int32_t heads, bool keys, StreamHandle stream) {
    RowPieces pieces = build_row_pieces(*csr, stream);
    return {std::move(csr), std::move(parts), std::move(pieces), k, heads, keys};
}

struct UnfusedScratch {
    float* logit;  ///< [m] for each head
    float* alpha;  ///< [m]
    float* x;      ///< [n_cols, k] for each head, if there are several
    float* key;    ///< [n_cols, k] for each head, if there are several and x is not the key
    float* x_row;  ///< [n_rows, k] for each head, if there are several; after the dot products y of each head
    SoftmaxSum* sums;
    unsigned char* inner;  ///< workspace of the parts
};

inline UnfusedScratch take_unfused(const UnfusedPlan& p, WorkspaceCutter& space) {
    UnfusedScratch out{};
    const std::int64_t columns = head_stride(std::int64_t{p.csr->n_cols} * p.k) * p.heads;
    out.logit = space.take<float>(head_stride(p.csr->m) * p.heads);
    out.alpha = space.take<float>(p.csr->m);
    if (p.heads > 1) {
        out.x = space.take<float>(columns);
        if (p.keys) out.key = space.take<float>(columns);
        out.x_row = space.take<float>(head_stride(std::int64_t{p.csr->n_rows} * p.k) * p.heads);
    }
    out.sums = space.take<SoftmaxSum>(std::int64_t{p.pieces.slots} * p.heads);
    out.inner = space.take<unsigned char>(static_cast<std::int64_t>(p.parts.workspace_bytes));
    return out;
}

inline constexpr int kDropThreads = 256;

/// alpha[id] *= what dropout makes of the edge, in the caller's order; thread -> edge.
[[maybe_unused]] static __global__ void __launch_bounds__(kDropThreads)
    drop_edges(float* __restrict__ alpha, std::int64_t m, int head, const Dropout dropout) {
    const std::int64_t id = static_cast<std::int64_t>(blockIdx.x) * kDropThreads + threadIdx.x;
    if (id < m) alpha[id] *= dropout.factor(id, head);
}

/// Enqueues everything. `key` is multiplied with o.x_row; o.x itself unless the plan has keys. `logits`, for
/// walk_rows(), turns the dot products in t.logit into logits and gives lse. `dropout` is not looked at in o.
template <typename Logits>
void launch_unfused(const UnfusedPlan& p, const Operands& o, const float* key, const UnfusedScratch& t,
                    const Logits& logits, const Dropout& dropout, StreamHandle stream_handle) {
    const CsrFormat& g = *p.csr;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const bool slices = p.heads > 1;
    const std::int64_t row_stride = head_stride(std::int64_t{g.n_rows} * p.k);
    const std::int64_t col_stride = head_stride(std::int64_t{g.n_cols} * p.k);
    const std::int64_t edge_stride = head_stride(g.m);
    if (slices) {
        launch_head_major(o.x, t.x, g.n_cols, p.heads, p.k, true, stream);
        if (p.keys) launch_head_major(key, t.key, g.n_cols, p.heads, p.k, true, stream);
        launch_head_major(o.x_row, t.x_row, g.n_rows, p.heads, p.k, true, stream);
    }
    const float* keys = p.keys ? t.key : t.x;
    for (std::int32_t h = 0; h < p.heads; ++h) {
        Operands inner;
        inner.x = slices ? keys + h * col_stride : key;
        inner.x_row = slices ? t.x_row + h * row_stride : o.x_row;
        inner.y = t.logit + h * edge_stride;
        p.parts[UnfusedAttention::kSddmm].run(inner, t.inner, stream_handle);
    }
    walk_rows(g, p.pieces, p.heads, t.sums, edge_stride, logits, o.lse, true, stream);
    for (std::int32_t h = 0; h < p.heads; ++h) {
        Operands softmax;
        softmax.edge_weight = t.logit + h * edge_stride;
        softmax.y = t.alpha;
        p.parts[UnfusedAttention::kSoftmax].run(softmax, t.inner, stream_handle);
        if (dropout.probability > 0.0F && g.m > 0) {
            drop_edges<<<static_cast<unsigned>(ceil_div(g.m, kDropThreads)), kDropThreads, 0, stream>>>(t.alpha, g.m, h,
                                                                                                        dropout);
            GNNTUNE_CUDA(cudaGetLastError());
        }
        Operands sum;
        sum.x = slices ? t.x + h * col_stride : o.x;
        sum.edge_weight = t.alpha;
        sum.y = slices ? t.x_row + h * row_stride : o.y;
        p.parts[UnfusedAttention::kSpmm].run(sum, t.inner, stream_handle);
    }
    if (slices) launch_head_major(t.x_row, o.y, g.n_rows, p.heads, p.k, false, stream);
}

}  // namespace gnntune::kernels

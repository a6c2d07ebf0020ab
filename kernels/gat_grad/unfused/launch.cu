#include "kernels/gat_grad/unfused/launch.hpp"

#include "kernels/common/head_major.cuh"
#include "kernels/common/permute.cuh"
#include "kernels/common/row_dots.cuh"
#include "kernels/gat_grad/unfused/kernel.cuh"

namespace gnntune::gat_grad_unfused {
namespace {

struct Workspace {
    float* alpha;  ///< [heads, m], padded
    float* d;      ///< the same
    float* mean;   ///< [n_rows, heads]
    float* ones;
    // [heads, n, k] or [heads, n], padded; heads > 1 only.
    float* x = nullptr;
    float* grad_y = nullptr;
    float* grad_x = nullptr;
    float* row_sum = nullptr;
    float* col_sum = nullptr;
    void* parts;
    std::size_t bytes;

    Workspace(const State& s, void* base) {
        const CooFormat& g = *s.coo;
        const std::int64_t n_rows = g.n_rows;
        const std::int64_t n_cols = g.n_cols;
        WorkspaceCutter cut(base);
        alpha = cut.take<float>(head_stride(g.m) * s.heads);
        d = cut.take<float>(head_stride(g.m) * s.heads);
        mean = cut.take<float>(n_rows * s.heads);
        ones = cut.take<float>(std::max(n_rows, n_cols));
        if (s.heads > 1) {
            x = cut.take<float>(head_stride(n_cols * s.k) * s.heads);
            grad_y = cut.take<float>(head_stride(n_rows * s.k) * s.heads);
            grad_x = cut.take<float>(head_stride(n_cols * s.k) * s.heads);
            row_sum = cut.take<float>(head_stride(n_rows) * s.heads);
            col_sum = cut.take<float>(head_stride(n_cols) * s.heads);
        }
        parts = cut.take<char>(static_cast<std::int64_t>(s.parts.workspace_bytes));
        bytes = cut.bytes();
    }
};

}  // namespace

std::size_t workspace_bytes(const State& s) {
    return Workspace(s, nullptr).bytes;
}

void launch(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const CooFormat& g = *s.coo;
    const std::int64_t n_rows = g.n_rows;
    const std::int64_t n_cols = g.n_cols;
    const Workspace w(s, workspace);
    const bool split = s.heads > 1;
    const EdgeList list = edge_list(g, s.heads);
    const GatSoftmax softmax{gat_scores<float>(o, s.heads)};
    const auto blocks = static_cast<unsigned>(ceil_div(g.m * s.heads, kThreads));
    if (blocks > 0)
        alpha_kernel<<<blocks, kThreads, 0, stream>>>(list, softmax, o.lse_saved, w.alpha, head_stride(g.m));
    const std::int64_t n = std::max(n_rows, n_cols);
    if (n > 0) fill_values<<<permute_blocks(n), kPermuteThreads, 0, stream>>>(w.ones, n, 1.0F);
    GNNTUNE_CUDA(cudaGetLastError());
    row_dots(o.grad_y, o.y_saved, w.mean, n_rows * s.heads, s.k, stream);
    if (split) {
        launch_head_major(o.x, w.x, n_cols, s.heads, s.k, true, stream);
        launch_head_major(o.grad_y, w.grad_y, n_rows, s.heads, s.k, true, stream);
    }
    for (std::int32_t h = 0; h < s.heads; ++h) {
        const float* grad_y = split ? w.grad_y + h * head_stride(n_rows * s.k) : o.grad_y;
        Operands spmm;
        spmm.x = grad_y;
        spmm.edge_weight = w.alpha + h * head_stride(g.m);
        spmm.y = split ? w.grad_x + h * head_stride(n_cols * s.k) : o.grad_x;
        s.parts[kSpmm].run(spmm, w.parts, stream);
        Operands sddmm;
        sddmm.x_row = grad_y;
        sddmm.x = split ? w.x + h * head_stride(n_cols * s.k) : o.x;
        sddmm.y = w.d + h * head_stride(g.m);
        s.parts[kSddmm].run(sddmm, w.parts, stream);
    }
    if (blocks > 0) {
        score_kernel<<<blocks, kThreads, 0, stream>>>(list, softmax, o.lse_saved, w.mean, w.d, head_stride(g.m));
    }
    GNNTUNE_CUDA(cudaGetLastError());
    for (std::int32_t h = 0; h < s.heads; ++h) {
        Operands sum;
        sum.x = w.ones;
        sum.edge_weight = w.d + h * head_stride(g.m);
        sum.y = split ? w.row_sum + h * head_stride(n_rows) : o.grad_score_row;
        s.parts[kRowSum].run(sum, w.parts, stream);
        sum.y = split ? w.col_sum + h * head_stride(n_cols) : o.grad_score_col;
        s.parts[kColSum].run(sum, w.parts, stream);
    }
    if (split) {
        launch_head_major(w.grad_x, o.grad_x, n_cols, s.heads, s.k, false, stream);
        launch_head_major(w.row_sum, o.grad_score_row, n_rows, s.heads, 1, false, stream);
        launch_head_major(w.col_sum, o.grad_score_col, n_cols, s.heads, 1, false, stream);
    }
}

}  // namespace gnntune::gat_grad_unfused

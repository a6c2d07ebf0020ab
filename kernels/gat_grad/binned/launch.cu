#include "kernels/gat_grad/binned/launch.hpp"

#include "kernels/gat_grad/binned/kernel.cuh"

namespace gnntune::gat_grad_binned {
namespace {

struct Workspace {
    RowTerms* terms;
    float* g;
    float* rows;    ///< of pieces [slots, heads]
    float* cols;    ///< the same
    float* cols_x;  ///< of pieces [slots, heads, k]
    std::size_t bytes;

    Workspace(const State& s, void* base) {
        WorkspaceCutter cut(base);
        terms = cut.take<RowTerms>(std::int64_t{s.csr->n_rows} * s.heads);
        g = cut.take<float>(s.csr->m * s.heads);
        rows = cut.take<float>(std::int64_t{s.rows.pieces.slots} * s.heads);
        cols = cut.take<float>(std::int64_t{s.cols.pieces.slots} * s.heads);
        cols_x = cut.take<float>(std::int64_t{s.cols.pieces.slots} * s.heads * s.k);
        bytes = cut.bytes();
    }
};

void launch_row_sums(const State& s, const Operands& o, const Workspace& w, cudaStream_t stream) {
    const BinShape shape = row_shape(s.heads);
    const dim3 grid(s.rows.blocks, static_cast<unsigned>(ceil_div(s.heads, shape.lanes)));
    row_sums_kernel<<<grid, static_cast<unsigned>(shape.threads), 0, stream>>>(
        view_of(s.rows, *s.csr), s.csr->edge_id, w.g, o.grad_score_row, w.rows, s.heads, shape.lanes);
    GNNTUNE_CUDA(cudaGetLastError());
    launch_merge_rows(s.rows.pieces, nullptr, w.rows, o.grad_score_row, s.heads, stream);
}

}  // namespace

BinShape row_shape(std::int32_t heads) {
    return {std::min(32, next_power_of_two(heads)), 8, 128};
}

std::size_t workspace_bytes(const State& s) {
    return Workspace(s, nullptr).bytes;
}

void launch(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const Workspace w(s, workspace);
    for_row_dots(o.grad_y, o.y_saved, std::int64_t{s.csr->n_rows} * s.heads, s.k,
                 StoreTerms{o.score_row, o.lse_saved, w.terms}, stream);
    ColumnPass<float> a{};
    a.x = o.x;
    a.grad_y = o.grad_y;
    a.grad_x = o.grad_x;
    a.partial = w.cols_x;
    a.k = s.k;
    a.heads = s.heads;
    const GatScores scores = gat_scores(o, s.heads);
    if (o.dropout > 0.0F) {
        const GatEdges<true> edges{s.csc->edge_id, scores, w.terms, w.g, o.grad_score_col, w.cols};
        launch_column_pass(*s.csc, s.cols, s.params, a, edges, stream);
    } else {
        const GatEdges<false> edges{s.csc->edge_id, scores, w.terms, w.g, o.grad_score_col, w.cols};
        launch_column_pass(*s.csc, s.cols, s.params, a, edges, stream);
    }
    launch_merge_rows(s.cols.pieces, nullptr, w.cols, o.grad_score_col, s.heads, stream);
    if (s.rows.blocks > 0) launch_row_sums(s, o, w, stream);
}

}  // namespace gnntune::gat_grad_binned

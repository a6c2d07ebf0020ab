// launch_typed(); instantiated for each storage type.
#include "kernels/gat_grad/binned/kernel.cuh"

namespace gnntune::gat_grad_binned {

template <typename T>
void launch_row_sums(const State& s, T* sums, const Workspace& w, cudaStream_t stream) {
    const BinShape shape = row_shape(s.heads);
    const dim3 grid(s.rows.blocks, static_cast<unsigned>(ceil_div(s.heads, shape.lanes)));
    row_sums_kernel<<<grid, static_cast<unsigned>(shape.threads), 0, stream>>>(view_of(s.rows, *s.csr), s.csr->edge_id,
                                                                               w.g, sums, w.rows, s.heads, shape.lanes);
    GNNTUNE_CUDA(cudaGetLastError());
    launch_merge_rows(*s.rows.pieces, {}, w.rows, sums, s.heads, stream);
}

template <typename T>
void launch_typed(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const Workspace w(s, workspace);
    for_row_dots(elements_of<T>(o.grad_y), elements_of<T>(o.y_saved), std::int64_t{s.csr->n_rows} * s.heads, s.k,
                 StoreTerms<T>{elements_of<T>(o.score_row), o.lse_saved, w.terms}, stream);
    ColumnPass<T> a{};
    a.x = elements_of<T>(o.x);
    a.grad_y = elements_of<T>(o.grad_y);
    a.grad_x = elements_of<T>(o.grad_x);
    a.partial = w.cols_x;
    a.k = s.k;
    a.heads = s.heads;
    a.dots = true;
    const GatScores<T> scores = gat_scores<T>(o, s.heads);
    T* grad_score_col = elements_of<T>(o.grad_score_col);
    if (o.dropout > 0.0F) {
        const GatEdges<T, true> edges{s.csc->edge_id, scores, w.terms, w.g, grad_score_col, w.cols};
        launch_column_pass(*s.csc, s.cols, s.params, a, edges, stream);
    } else {
        const GatEdges<T, false> edges{s.csc->edge_id, scores, w.terms, w.g, grad_score_col, w.cols};
        launch_column_pass(*s.csc, s.cols, s.params, a, edges, stream);
    }
    launch_merge_rows(*s.cols.pieces, {}, w.cols, grad_score_col, s.heads, stream);
    if (s.rows.blocks > 0) launch_row_sums(s, elements_of<T>(o.grad_score_row), w, stream);
}

template void launch_typed<float>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<Float16>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<BFloat16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::gat_grad_binned

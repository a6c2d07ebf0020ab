// launch_typed() for every shape; instantiated for each storage type.
#include "kernels/common/storage.hpp"
#include "kernels/gat_grad/rows_cols/kernel.cuh"
#include "kernels/gat_grad/rows_cols/workspace.cuh"

namespace gnntune::gat_grad_rows_cols {

inline Csr view(const CsrFormat& g) {
    return {g.row_ptr, g.col_idx, g.edge_id, g.n_rows};
}

inline Pieces view(const RowPieces& p, const PieceResults& partial, std::int32_t heads) {
    return {p.pieces.data(), static_cast<unsigned>(p.pieces.size()) * static_cast<unsigned>(heads), p.long_row,
            partial};
}

inline unsigned blocks(const CsrFormat& g, const Pieces& p, const State& s) {
    return p.blocks + static_cast<unsigned>(ceil_div(std::int64_t{g.n_rows} * s.heads, kThreads / s.params.team));
}

template <typename T, int VEC>
void launch_rows(const State& s, const Operands& o, const Workspace& w, cudaStream_t stream) {
    const Pieces p = view(s.row_pieces, w.rows, s.heads);
    rows_kernel<T, VEC><<<blocks(*s.csr, p, s), kThreads, 0, stream>>>(
        view(*s.csr), gat_scores<T>(o, s.heads), elements_of<T>(o.x), elements_of<T>(o.grad_y),
        elements_of<T>(o.y_saved), o.lse_saved, w.terms, elements_of<T>(o.grad_score_row), p, s.k, s.params.lanes,
        s.params.team);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T, int VEC, int ITEMS>
void launch_cols_shape(const State& s, const Operands& o, const Workspace& w, cudaStream_t stream) {
    const Pieces p = view(s.col_pieces, w.cols, s.heads);
    const dim3 grid(blocks(*s.csc, p, s), static_cast<unsigned>(ceil_div(s.k, tile_width(s.params.lanes, ITEMS, VEC))));
    cols_kernel<T, VEC, ITEMS><<<grid, kThreads, 0, stream>>>(
        view(*s.csc), elements_of<T>(o.grad_y), w.terms, elements_of<T>(o.grad_x), elements_of<T>(o.grad_score_col), p,
        s.k, s.heads, s.params.lanes, s.params.team);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T, int VEC>
void launch_cols(const State& s, const Operands& o, const Workspace& w, cudaStream_t stream) {
    if (s.params.items == 2) {
        launch_cols_shape<T, VEC, 2>(s, o, w, stream);
    } else {
        launch_cols_shape<T, VEC, 1>(s, o, w, stream);
    }
}

// Params promise what k allows; the pointers of a run may allow less.
template <typename T>
void launch_row_pass(const State& s, const Operands& o, const Workspace& w, cudaStream_t stream) {
    with_vector<T>(vector_width(s.k, {o.x, o.grad_y, o.y_saved}, s.params.vec, sizeof(T)),
                   [&](auto vec) { launch_rows<T, vec()>(s, o, w, stream); });
    launch_merge_pieces(s.row_pieces, w.rows, static_cast<T*>(nullptr), elements_of<T>(o.grad_score_row), s.heads, 0,
                        false, stream);
}

template <typename T>
void launch_col_pass(const State& s, const Operands& o, const Workspace& w, cudaStream_t stream) {
    with_vector<T>(vector_width(s.k, {o.grad_y, o.grad_x}, s.params.vec, sizeof(T)),
                   [&](auto vec) { launch_cols<T, vec()>(s, o, w, stream); });
    launch_merge_pieces(s.col_pieces, w.cols, elements_of<T>(o.grad_x), elements_of<T>(o.grad_score_col), s.heads, s.k,
                        false, stream);
}

template <typename T>
void launch_typed(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const Workspace w(s, workspace);
    if (s.csr->n_rows > 0) launch_row_pass<T>(s, o, w, stream);
    if (s.csc->n_rows > 0) launch_col_pass<T>(s, o, w, stream);
}

template void launch_typed<float>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<Float16>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<BFloat16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::gat_grad_rows_cols

#include "kernels/gat_grad/rows_cols/launch.hpp"

#include "kernels/gat_grad/rows_cols/kernel.cuh"

namespace gnntune::gat_grad_rows_cols {
namespace {

Csr view(const CsrFormat& g) {
    return {g.row_ptr, g.col_idx, g.edge_id, g.n_rows};
}

Pieces view(const RowPieces& p, const PieceResults& partial, std::int32_t heads) {
    return {p.pieces.data(), static_cast<unsigned>(p.pieces.size()) * static_cast<unsigned>(heads), p.long_row,
            partial};
}

unsigned blocks(const CsrFormat& g, const Pieces& p, const State& s) {
    return p.blocks + static_cast<unsigned>(ceil_div(std::int64_t{g.n_rows} * s.heads, kThreads / s.params.team));
}

template <int VEC>
void launch_rows(const State& s, const Operands& o, float2* terms, const PieceResults& partial, cudaStream_t stream) {
    const Pieces p = view(s.row_pieces, partial, s.heads);
    rows_kernel<VEC><<<blocks(*s.csr, p, s), kThreads, 0, stream>>>(
        view(*s.csr), gat_scores<float>(o, s.heads), o.x, o.grad_y, o.y_saved, o.lse_saved, terms, o.grad_score_row, p, s.k,
        s.params.lanes, s.params.team);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <int VEC, int ITEMS>
void launch_cols_shape(const State& s, const Operands& o, const float2* terms, const PieceResults& partial,
                       cudaStream_t stream) {
    const Pieces p = view(s.col_pieces, partial, s.heads);
    const dim3 grid(blocks(*s.csc, p, s),
                    static_cast<unsigned>(ceil_div(s.k, tile_width(s.params.lanes, ITEMS, VEC))));
    cols_kernel<VEC, ITEMS><<<grid, kThreads, 0, stream>>>(view(*s.csc), o.grad_y, terms, o.grad_x, o.grad_score_col, p,
                                                           s.k, s.heads, s.params.lanes, s.params.team);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <int VEC>
void launch_cols(const State& s, const Operands& o, const float2* terms, const PieceResults& partial,
                 cudaStream_t stream) {
    if (s.params.items == 2) {
        launch_cols_shape<VEC, 2>(s, o, terms, partial, stream);
    } else {
        launch_cols_shape<VEC, 1>(s, o, terms, partial, stream);
    }
}

struct Workspace {
    float2* terms;
    PieceResults rows;
    PieceResults cols;
    std::size_t bytes;

    Workspace(const State& s, void* base) {
        WorkspaceCutter cut(base);
        terms = cut.take<float2>(s.csr->m * s.heads);
        rows = {cut.take<SoftmaxSum>(std::int64_t{s.row_pieces.slots} * s.heads), nullptr};
        cols.sums = cut.take<SoftmaxSum>(std::int64_t{s.col_pieces.slots} * s.heads);
        cols.values = cut.take<float>(std::int64_t{s.col_pieces.slots} * s.heads * s.k);
        bytes = cut.bytes();
    }
};

}  // namespace

std::size_t workspace_bytes(const State& s) {
    return Workspace(s, nullptr).bytes;
}

void launch(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const Workspace w(s, workspace);
    // Params promise what k allows; the pointers of this run may allow less.
    if (s.csr->n_rows > 0) {
        switch (vector_width(s.k, {o.x, o.grad_y, o.y_saved}, s.params.vec)) {
            case 4: launch_rows<4>(s, o, w.terms, w.rows, stream); break;
            case 2: launch_rows<2>(s, o, w.terms, w.rows, stream); break;
            default: launch_rows<1>(s, o, w.terms, w.rows, stream); break;
        }
        launch_merge_pieces(s.row_pieces, w.rows, static_cast<float*>(nullptr), o.grad_score_row, s.heads, 0, false, stream);
    }
    if (s.csc->n_rows > 0) {
        switch (vector_width(s.k, {o.grad_y, o.grad_x}, s.params.vec)) {
            case 4: launch_cols<4>(s, o, w.terms, w.cols, stream); break;
            case 2: launch_cols<2>(s, o, w.terms, w.cols, stream); break;
            default: launch_cols<1>(s, o, w.terms, w.cols, stream); break;
        }
        launch_merge_pieces(s.col_pieces, w.cols, o.grad_x, o.grad_score_col, s.heads, s.k, false, stream);
    }
}

}  // namespace gnntune::gat_grad_rows_cols

#include "kernels/edge_softmax/rows/launch.hpp"

#include "kernels/edge_softmax/rows/kernel.cuh"

namespace gnntune::edge_softmax_rows {

void launch(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    const CsrFormat& g = *s.csr;
    if (g.m == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    auto* partial = static_cast<SoftmaxSum*>(workspace);
    const Edges edges{g.row_ptr, g.edge_id, o.edge_weight, o.y, g.n_rows, s.heads};
    const RowPiece* pieces = s.pieces.pieces.data();
    const auto piece_blocks = static_cast<unsigned>(s.pieces.pieces.size()) * static_cast<unsigned>(s.heads);
    const auto row_blocks =
        static_cast<unsigned>(ceil_div(std::int64_t{g.n_rows} * s.heads, kThreads / s.team));
    rows_kernel<<<piece_blocks + row_blocks, kThreads, 0, stream>>>(edges, pieces, piece_blocks, s.pieces.long_row,
                                                                     partial, s.team);
    GNNTUNE_CUDA(cudaGetLastError());
    if (s.pieces.slots == 0) return;
    finish_kernel<<<piece_blocks, kThreads, 0, stream>>>(edges, pieces, partial);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::edge_softmax_rows

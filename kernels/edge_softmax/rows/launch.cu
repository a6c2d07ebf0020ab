#include "kernels/edge_softmax/rows/launch.hpp"

#include "kernels/common/storage.hpp"
#include "kernels/edge_softmax/rows/kernel.cuh"

namespace gnntune::edge_softmax_rows {

namespace {

template <typename T>
void launch_typed(const State& s, const Operands& o, void* workspace, cudaStream_t stream) {
    const CsrFormat& g = *s.csr;
    if (g.m == 0) return;
    auto* partial = static_cast<SoftmaxSum*>(workspace);
    const Edges<T> edges{g.row_ptr, g.edge_id, elements_of<T>(o.edge_weight), elements_of<T>(o.y), g.n_rows, s.heads};
    const RowPiece* pieces = s.pieces.pieces.data();
    const auto piece_blocks = static_cast<unsigned>(s.pieces.pieces.size()) * static_cast<unsigned>(s.heads);
    const auto row_blocks = static_cast<unsigned>(ceil_div(std::int64_t{g.n_rows} * s.heads, kThreads / s.team));
    rows_kernel<<<piece_blocks + row_blocks, kThreads, 0, stream>>>(edges, pieces, piece_blocks, s.pieces.long_row,
                                                                    partial, s.team);
    GNNTUNE_CUDA(cudaGetLastError());
    if (s.pieces.slots == 0) return;
    finish_kernel<<<piece_blocks, kThreads, 0, stream>>>(edges, pieces, partial);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace

void launch(const State& s, const Operands& o, void* workspace, StreamHandle stream) {
    with_storage(s.dtype, [&]<typename T>(std::type_identity<T>) {
        launch_typed<T>(s, o, workspace, static_cast<cudaStream_t>(stream));
    });
}

}  // namespace gnntune::edge_softmax_rows

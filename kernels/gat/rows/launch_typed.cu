// launch_typed() for every shape; instantiated for each storage type.
#include "kernels/common/storage.hpp"
#include "kernels/gat/rows/kernel.cuh"
#include "kernels/gat/rows/launch.hpp"

namespace gnntune::gat_rows {

template <typename T, int VEC, int ITEMS>
void launch_shape(const State& s, const Operands& o, PieceResults partial, cudaStream_t stream) {
    const CsrFormat& g = *s.csr;
    const TeamParams& p = s.params;
    const auto piece_blocks = static_cast<unsigned>(s.pieces.pieces.size()) * static_cast<unsigned>(s.heads);
    const std::int64_t units = std::int64_t{g.n_rows} * s.heads;
    const dim3 grid(piece_blocks + static_cast<unsigned>(ceil_div(units, kThreads / p.team)),
                    static_cast<unsigned>(ceil_div(s.k, tile_width(p.lanes, ITEMS, VEC))));
    rows_kernel<T, VEC, ITEMS>
        <<<grid, kThreads, 0, stream>>>({g.row_ptr, g.col_idx, g.edge_id, g.n_rows}, gat_scores<T>(o, s.heads),
                                        elements_of<T>(o.x), elements_of<T>(o.y), o.lse, s.pieces.pieces.data(),
                                        piece_blocks, s.pieces.long_row, partial, s.k, p.lanes, p.team);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T, int VEC>
void launch_items(const State& s, const Operands& o, PieceResults partial, cudaStream_t stream) {
    if (s.params.items == 2) {
        launch_shape<T, VEC, 2>(s, o, partial, stream);
    } else {
        launch_shape<T, VEC, 1>(s, o, partial, stream);
    }
}

template <typename T>
void launch_typed(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    if (s.csr->n_rows == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const PieceResults partial = cut_piece_results(workspace, s.pieces.slots, s.heads, s.k);
    // Params promise what k allows; the pointers of this run may allow less.
    with_vector<T>(vector_width(s.k, {o.x, o.y}, s.params.vec, sizeof(T)),
                   [&](auto vec) { launch_items<T, vec()>(s, o, partial, stream); });
    launch_merge_pieces(s.pieces, partial, elements_of<T>(o.y), o.lse, s.heads, s.k, true, stream);
}

template void launch_typed<float>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<Float16>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<BFloat16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::gat_rows

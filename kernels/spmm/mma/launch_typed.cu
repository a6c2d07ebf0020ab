// launch_typed() for every shape; instantiated for each storage type.
#include "kernels/common/merge_rows.cuh"
#include "kernels/common/tiles.hpp"
#include "kernels/spmm/mma/kernel.cuh"

namespace gnntune::spmm_mma {

template <typename T, bool SINGLE, int VEC, int TILES, int COPY>
void launch_shape(const Plan& p, const Arguments<T>& a, cudaStream_t stream) {
    using Shape = Stages<T, VEC, TILES, COPY>;
    const dim3 grid(static_cast<unsigned>(ceil_div(a.n_pieces, kThreads / 32)),
                    static_cast<unsigned>(ceil_div(p.k, Shape::kTile * TILES)));
    constexpr std::size_t kShared = kThreads / 32 * Shape::kElements * sizeof(T);
    static_assert(kShared <= 48 * 1024, "no kernel needs to be allowed more shared memory");
    mma_kernel<T, SINGLE, VEC, TILES, COPY><<<grid, kThreads, kShared, stream>>>(a);
    GNNTUNE_CUDA(cudaGetLastError());
}

/// Rows are copied 16 bytes at a time where k allows it, else as many as a lane loads.
template <typename T, bool SINGLE, int VEC>
void launch_copies(const Plan& p, const Arguments<T>& a, cudaStream_t stream) {
    if (p.k % (16 / static_cast<int>(sizeof(T))) == 0) {
        launch_shape<T, SINGLE, VEC, 1, 16>(p, a, stream);
    } else {
        launch_shape<T, SINGLE, VEC, 1, VEC* static_cast<int>(sizeof(T))>(p, a, stream);
    }
}

template <typename T, bool SINGLE>
void launch_vectors(const Plan& p, const Arguments<T>& a, int vec, cudaStream_t stream) {
    constexpr int kWidest = 16 / static_cast<int>(sizeof(T));
    if (vec == kWidest) {
        if (p.params.tiles == 2) return launch_shape<T, SINGLE, kWidest, 2, 16>(p, a, stream);
        return launch_shape<T, SINGLE, kWidest, 1, 16>(p, a, stream);
    }
    if (vec == kWidest / 2) return launch_copies<T, SINGLE, kWidest / 2>(p, a, stream);
    launch_copies<T, SINGLE, kWidest / 4>(p, a, stream);
}

template <typename T>
void launch_typed(const Plan& p, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const SgtFormat& g = *p.sgt;
    if (g.n_rows == 0) return;
    Arguments<T> a{};
    a.pieces = p.pieces.data();
    a.cells = p.cells.data();
    a.block_ptr = g.block_ptr;
    a.block_cols = g.block_cols;
    a.tile_position = g.tile_position;
    a.mean = {p.csr ? p.csr->row_ptr : nullptr, p.self_loop};
    a.self.weight = p.self_loop ? elements_of<T>(o.self_weight) : nullptr;
    a.x = elements_of<T>(o.x);
    a.y = elements_of<T>(o.y);
    a.edge_id = g.edge_id;
    a.edge_weight = p.weighted ? elements_of<T>(o.edge_weight) : nullptr;
    a.partial = static_cast<float*>(workspace);
    a.n_pieces = static_cast<std::int64_t>(p.pieces.size());
    a.n_rows = g.n_rows;
    a.k = p.k;
    if constexpr (sizeof(T) == 4) {
        if (p.single_pass) {
            launch_vectors<T, true>(p, a, p.params.vec, stream);
        } else {
            launch_vectors<T, false>(p, a, p.params.vec, stream);
        }
    } else {
        launch_vectors<T, false>(p, a, p.params.vec, stream);
    }
    launch_merge_rows(p.split, a.mean, a.partial, a.y, p.k, stream);
}

template void launch_typed<float>(const Plan&, const Operands&, void*, StreamHandle);
template void launch_typed<Float16>(const Plan&, const Operands&, void*, StreamHandle);
template void launch_typed<BFloat16>(const Plan&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::spmm_mma

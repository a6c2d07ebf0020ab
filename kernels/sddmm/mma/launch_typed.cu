// launch_typed() for every shape; instantiated for each storage type.
#include "kernels/common/storage.hpp"
#include "kernels/sddmm/mma/kernel.cuh"
#include "kernels/sddmm/mma/launch.hpp"

namespace gnntune::sddmm_mma {

template <typename T, bool SINGLE, int VEC, int BLOCKS>
void launch_shape(const Arguments<T>& a, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(ceil_div(a.n_pieces, kThreads / 32));
    mma_kernel<T, SINGLE, VEC, BLOCKS><<<blocks, kThreads, 0, stream>>>(a);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T, bool SINGLE>
void launch_vectors(const MmaParams& p, const Arguments<T>& a, cudaStream_t stream) {
    constexpr int kWidest = 16 / static_cast<int>(sizeof(T));
    if (p.vec == kWidest && p.chunk == 8) return launch_shape<T, SINGLE, kWidest, 8>(a, stream);
    with_vector<T>(p.vec, [&](auto vec) { launch_shape<T, SINGLE, vec, 4>(a, stream); });
}

template <typename T>
void launch_typed(const Plan& p, const Operands& o, cudaStream_t stream) {
    const SgtFormat& g = *p.sgt;
    Arguments<T> a{};
    a.pieces = p.pieces.data();
    a.block_ptr = g.block_ptr;
    a.block_cols = g.block_cols;
    a.tile_position = g.tile_position;
    a.edge_id = g.edge_id;
    a.edge_weight = p.weighted ? elements_of<T>(o.edge_weight) : nullptr;
    a.x_row = elements_of<T>(o.x_row);
    a.x = elements_of<T>(o.x);
    a.y = elements_of<T>(o.y);
    a.epilogue = EdgeEpilogue(o);
    a.n_pieces = static_cast<std::int64_t>(p.pieces.size());
    a.n_rows = g.n_rows;
    a.k = p.k;
    if (a.n_pieces == 0) return;
    if constexpr (sizeof(T) == 4) {
        if (p.single_pass) return launch_vectors<T, true>(p.params, a, stream);
    }
    launch_vectors<T, false>(p.params, a, stream);
}

template void launch_typed<float>(const Plan&, const Operands&, cudaStream_t);
template void launch_typed<Float16>(const Plan&, const Operands&, cudaStream_t);
template void launch_typed<BFloat16>(const Plan&, const Operands&, cudaStream_t);

}  // namespace gnntune::sddmm_mma

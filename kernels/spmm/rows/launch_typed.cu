// launch_typed() for every shape; instantiated for each storage type.
#include "core/gpu/cuda_check.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/tiles.hpp"
#include "kernels/spmm/rows/kernel.cuh"
#include "kernels/spmm/rows/launch.hpp"

namespace gnntune::spmm_rows {

template <typename T, int VEC, int ITEMS, bool SELF>
void launch_shape(const State& s, const Operands& o, cudaStream_t stream) {
    const CsrFormat& g = *s.graph;
    const RowsParams& p = s.params;
    const int threads = p.warps_per_block * 32;
    const dim3 grid(static_cast<unsigned>(kernels::ceil_div(g.n_rows, threads / (p.lanes * p.split))),
                    static_cast<unsigned>(kernels::ceil_div(s.k, kernels::tile_width(p.lanes, ITEMS, VEC))));
    auto* kernel = s.weighted ? &rows_kernel<T, VEC, ITEMS, kUnroll, true, SELF>
                              : &rows_kernel<T, VEC, ITEMS, kUnroll, false, SELF>;
    kernel<<<grid, static_cast<unsigned>(threads), 0, stream>>>(
        g.row_ptr, kernels::edges_of(g, elements_of<T>(o.edge_weight)),
        kernels::SelfTerm<T>{SELF ? elements_of<T>(o.self_weight) : nullptr}, elements_of<T>(o.x), elements_of<T>(o.y),
        g.n_rows, s.k, p.lanes, p.split, s.mean);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T, int VEC, int ITEMS>
void launch_items(const State& s, const Operands& o, cudaStream_t stream) {
    if (s.self_loop) {
        launch_shape<T, VEC, ITEMS, true>(s, o, stream);
    } else {
        launch_shape<T, VEC, ITEMS, false>(s, o, stream);
    }
}

template <typename T, int VEC>
void launch_vector(const State& s, const Operands& o, cudaStream_t stream) {
    if (s.params.items == 2) {
        launch_items<T, VEC, 2>(s, o, stream);
    } else {
        launch_items<T, VEC, 1>(s, o, stream);
    }
}

template <typename T>
void launch_typed(const State& s, const Operands& o, StreamHandle stream_handle) {
    if (s.graph->n_rows == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    // Params promise what k allows; the pointers of this run may allow less.
    const int vec = kernels::vector_width(s.k, {o.x, o.y}, s.params.vec, sizeof(T));
    kernels::with_vector<T>(vec,
                            [&]<int VEC>(std::integral_constant<int, VEC>) { launch_vector<T, VEC>(s, o, stream); });
}

template void launch_typed<float>(const State&, const Operands&, StreamHandle);
template void launch_typed<Float16>(const State&, const Operands&, StreamHandle);
template void launch_typed<BFloat16>(const State&, const Operands&, StreamHandle);

}  // namespace gnntune::spmm_rows

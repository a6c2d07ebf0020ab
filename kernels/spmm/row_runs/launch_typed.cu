// launch_typed() for every shape; instantiated for each storage type.
#include "core/gpu/cuda_check.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/tiles.hpp"
#include "kernels/spmm/row_runs/kernel.cuh"
#include "kernels/spmm/row_runs/launch.hpp"

namespace gnntune::spmm_row_runs {

template <typename T, int VEC, int ITEMS>
void launch_shape(const State& s, const Operands& o, cudaStream_t stream) {
    const CsrFormat& g = *s.graph;
    const dim3 grid(static_cast<unsigned>(kernels::ceil_div(g.n_rows, s.params.block_rows())),
                    static_cast<unsigned>(kernels::ceil_div(s.k, kernels::tile_width(s.params.lanes, ITEMS, VEC))));
    auto* plain =
        s.weighted ? &row_runs_kernel<T, VEC, ITEMS, true, false> : &row_runs_kernel<T, VEC, ITEMS, false, false>;
    auto* with_self =
        s.weighted ? &row_runs_kernel<T, VEC, ITEMS, true, true> : &row_runs_kernel<T, VEC, ITEMS, false, true>;
    auto* kernel = s.self_loop ? with_self : plain;
    kernel<<<grid, kThreads, 0, stream>>>(g.row_ptr, kernels::edges_of(g, elements_of<T>(o.edge_weight)),
                                          kernels::SelfTerm<T>{s.self_loop ? elements_of<T>(o.self_weight) : nullptr},
                                          elements_of<T>(o.x), elements_of<T>(o.y), g.n_rows, s.k, s.params.lanes,
                                          s.params.rows, s.mean);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T, int VEC>
void launch_items(const State& s, const Operands& o, cudaStream_t stream) {
    if (s.params.items == 2) {
        launch_shape<T, VEC, 2>(s, o, stream);
    } else {
        launch_shape<T, VEC, 1>(s, o, stream);
    }
}

template <typename T>
void launch_typed(const State& s, const Operands& o, StreamHandle stream_handle) {
    if (s.graph->n_rows == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    // Params promise what k allows; the pointers of this run may allow less.
    const int vec = kernels::vector_width(s.k, {o.x, o.y}, s.params.vec, sizeof(T));
    kernels::with_vector<T>(vec,
                            [&]<int VEC>(std::integral_constant<int, VEC>) { launch_items<T, VEC>(s, o, stream); });
}

template void launch_typed<float>(const State&, const Operands&, StreamHandle);
template void launch_typed<Float16>(const State&, const Operands&, StreamHandle);
template void launch_typed<BFloat16>(const State&, const Operands&, StreamHandle);

}  // namespace gnntune::spmm_row_runs

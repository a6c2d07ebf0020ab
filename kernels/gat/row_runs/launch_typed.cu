// launch_typed() for every shape; instantiated for each storage type.
#include "core/gpu/cuda_check.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/tiles.hpp"
#include "kernels/gat/row_runs/kernel.cuh"
#include "kernels/gat/row_runs/launch.hpp"

namespace gnntune::gat_row_runs {

template <typename T, int VEC, int ITEMS>
void launch_shape(const State& s, const Arguments<T>& a, cudaStream_t stream) {
    const dim3 grid(static_cast<unsigned>(ceil_div(a.n_rows, s.params.block_rows())),
                    static_cast<unsigned>(ceil_div(std::int64_t{s.k} * s.heads, tile_width(a.lanes, ITEMS, VEC))));
    auto* kernel = a.scores.dropout.probability > 0.0F ? &row_runs_kernel<T, VEC, ITEMS, true>
                                                       : &row_runs_kernel<T, VEC, ITEMS, false>;
    kernel<<<grid, kThreads, 0, stream>>>(a);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T>
void launch_typed(const State& s, const Operands& o, StreamHandle stream_handle) {
    if (s.csr->n_rows == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const CsrFormat& g = *s.csr;
    Arguments<T> a{};
    a.row_ptr = g.row_ptr;
    a.col_idx = g.col_idx;
    a.edge_id = g.edge_id;
    a.scores = gat_scores<T>(o, s.heads);
    a.x = elements_of<T>(o.x);
    a.y = elements_of<T>(o.y);
    a.lse = o.lse;
    a.m = g.m;
    a.n_rows = g.n_rows;
    a.k = s.k;
    a.lanes = s.params.lanes;
    a.rows = s.params.rows;
    a.ids_aligned = aligned_to_four(g.col_idx);
    // Params promise what k allows; the pointers of this run may allow less.
    const int vec = vector_width(s.k, {o.x, o.y}, s.params.vec, sizeof(T));
    with_vector<T>(vec, [&]<int VEC>(std::integral_constant<int, VEC>) {
        if (s.params.items == 2) {
            launch_shape<T, VEC, 2>(s, a, stream);
        } else {
            launch_shape<T, VEC, 1>(s, a, stream);
        }
    });
}

template void launch_typed<float>(const State&, const Operands&, StreamHandle);
template void launch_typed<Float16>(const State&, const Operands&, StreamHandle);
template void launch_typed<BFloat16>(const State&, const Operands&, StreamHandle);

}  // namespace gnntune::gat_row_runs

#include "kernels/spmm/rows/launch.hpp"

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/tiles.hpp"
#include "kernels/spmm/rows/kernel.cuh"

namespace gnntune::spmm_rows {
namespace {

template <int VEC, int ITEMS, int UNROLL>
void launch_shape(const CsrFormat& g, const RowsParams& p, std::int32_t k, bool weighted, bool mean,
                  const Operands& o, cudaStream_t stream) {
    const int threads = p.warps_per_block * 32;
    const dim3 grid(static_cast<unsigned>(kernels::ceil_div(g.n_rows, threads / (p.lanes * p.split))),
                    static_cast<unsigned>(kernels::ceil_div(k, kernels::tile_width(p.lanes, ITEMS, VEC))));
    auto* kernel = weighted ? &rows_kernel<VEC, ITEMS, UNROLL, true> : &rows_kernel<VEC, ITEMS, UNROLL, false>;
    kernel<<<grid, static_cast<unsigned>(threads), 0, stream>>>(g.row_ptr, g.col_idx, g.edge_id, o.edge_weight, o.x,
                                                                o.y, g.n_rows, k, p.lanes, p.split, mean);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <int VEC, int ITEMS>
void launch_unroll(const CsrFormat& g, const RowsParams& p, std::int32_t k, bool weighted, bool mean,
                   const Operands& o, cudaStream_t stream) {
    if (p.unroll == 8) {
        launch_shape<VEC, ITEMS, 8>(g, p, k, weighted, mean, o, stream);
    } else {
        launch_shape<VEC, ITEMS, 4>(g, p, k, weighted, mean, o, stream);
    }
}

template <int VEC>
void launch_items(const CsrFormat& g, const RowsParams& p, std::int32_t k, bool weighted, bool mean,
                  const Operands& o, cudaStream_t stream) {
    if (p.items == 2) {
        launch_unroll<VEC, 2>(g, p, k, weighted, mean, o, stream);
    } else {
        launch_unroll<VEC, 1>(g, p, k, weighted, mean, o, stream);
    }
}

}  // namespace

void launch(const CsrFormat& g, const RowsParams& p, std::int32_t k, bool weighted, bool mean, const Operands& o,
            StreamHandle stream_handle) {
    if (g.n_rows == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    // Params promise what k allows; the pointers of this run may allow less.
    switch (kernels::vector_width(k, {o.x, o.y}, p.vec)) {
        case 4: return launch_items<4>(g, p, k, weighted, mean, o, stream);
        case 2: return launch_items<2>(g, p, k, weighted, mean, o, stream);
        default: return launch_items<1>(g, p, k, weighted, mean, o, stream);
    }
}

}  // namespace gnntune::spmm_rows

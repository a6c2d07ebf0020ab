#include "kernels/spmm/edges/launch.hpp"

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/tiles.hpp"
#include "kernels/spmm/edges/kernel.cuh"

namespace gnntune::spmm_edges {
namespace {

constexpr int kThreads = 128;

template <int VEC>
void launch_zero(const CsrFormat& g, const EdgesParams& p, std::int32_t k, float* y, cudaStream_t stream) {
    const int lanes = std::min(32, kernels::next_power_of_two(static_cast<std::int32_t>(kernels::ceil_div(k, VEC))));
    const auto blocks = static_cast<unsigned>(kernels::ceil_div(g.n_rows, kThreads / lanes));
    zero_kernel<VEC><<<blocks, kThreads, 0, stream>>>(g.row_ptr, y, g.n_rows, k, p.chunk, lanes);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <int VEC, int ITEMS, int UNROLL>
void launch_shape(const CooFormat& g, const EdgesParams& p, std::int32_t k, bool weighted, const Operands& o,
                  cudaStream_t stream) {
    const std::int64_t chunks = kernels::ceil_div(g.m, p.chunk);
    const dim3 grid(static_cast<unsigned>(kernels::ceil_div(chunks, kThreads / p.lanes)),
                    static_cast<unsigned>(kernels::ceil_div(k, kernels::tile_width(p.lanes, ITEMS, VEC))));
    auto* kernel = weighted ? &edges_kernel<VEC, ITEMS, UNROLL, true> : &edges_kernel<VEC, ITEMS, UNROLL, false>;
    const bool ids_aligned = kernels::aligned_to_four(g.row_idx) && kernels::aligned_to_four(g.col_idx) &&
                             kernels::aligned_to_four(g.edge_id);
    kernel<<<grid, kThreads, 0, stream>>>(g.row_idx, g.col_idx, g.edge_id, o.edge_weight, o.x, o.y, g.m, k, p.chunk,
                                          p.lanes, ids_aligned, kernels::aligned_to_four(o.edge_weight));
    GNNTUNE_CUDA(cudaGetLastError());
}

template <int VEC, int ITEMS>
void launch_unroll(const CooFormat& g, const EdgesParams& p, std::int32_t k, bool weighted, const Operands& o,
                   cudaStream_t stream) {
    if (p.unroll == 8) {
        launch_shape<VEC, ITEMS, 8>(g, p, k, weighted, o, stream);
    } else {
        launch_shape<VEC, ITEMS, 4>(g, p, k, weighted, o, stream);
    }
}

template <int VEC>
void launch_vector(const CsrFormat& csr, const CooFormat& coo, const EdgesParams& p, std::int32_t k, bool weighted,
                   const Operands& o, cudaStream_t stream) {
    launch_zero<VEC>(csr, p, k, o.y, stream);
    if (coo.m == 0) return;
    if (p.items == 2) {
        launch_unroll<VEC, 2>(coo, p, k, weighted, o, stream);
    } else {
        launch_unroll<VEC, 1>(coo, p, k, weighted, o, stream);
    }
}

}  // namespace

void launch(const CsrFormat& csr, const CooFormat& coo, const EdgesParams& p, std::int32_t k, bool weighted,
            const Operands& o, StreamHandle stream_handle) {
    if (csr.n_rows == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    // Params promise what k allows; the pointers of this run may allow less.
    switch (kernels::vector_width(k, {o.x, o.y}, p.vec)) {
        case 4:
            return launch_vector<4>(csr, coo, p, k, weighted, o, stream);
        case 2:
            return launch_vector<2>(csr, coo, p, k, weighted, o, stream);
        default:
            return launch_vector<1>(csr, coo, p, k, weighted, o, stream);
    }
}

}  // namespace gnntune::spmm_edges

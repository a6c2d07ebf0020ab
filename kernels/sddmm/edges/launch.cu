#include "kernels/sddmm/edges/launch.hpp"

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/host.hpp"
#include "kernels/sddmm/edges/kernel.cuh"

namespace gnntune::sddmm_edges {
namespace {

constexpr int kThreads = 128;

template <int VEC, int UNROLL>
void launch_shape(const CooFormat& g, int lanes, std::int32_t k, bool weighted, const Operands& o,
                  cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(kernels::ceil_div(g.m, std::int64_t{kThreads / lanes} * UNROLL));
    edges_kernel<VEC, UNROLL><<<blocks, kThreads, 0, stream>>>(
        g.row_idx, g.col_idx, g.edge_id, weighted ? o.edge_weight : nullptr, o.x_row, o.x, o.y, g.m, k, lanes);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <int VEC>
void launch_unroll(const CooFormat& g, const EdgesParams& p, std::int32_t k, bool weighted, const Operands& o,
                   cudaStream_t stream) {
    switch (p.unroll) {
        case 4: return launch_shape<VEC, 4>(g, p.lanes, k, weighted, o, stream);
        case 2: return launch_shape<VEC, 2>(g, p.lanes, k, weighted, o, stream);
        default: return launch_shape<VEC, 1>(g, p.lanes, k, weighted, o, stream);
    }
}

}  // namespace

void launch(const CooFormat& g, const EdgesParams& p, std::int32_t k, bool weighted, const Operands& o,
            StreamHandle stream_handle) {
    if (g.m == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    // Params promise what k allows; the pointers of this run may allow less.
    switch (kernels::vector_width(k, {o.x, o.x_row}, p.vec)) {
        case 4: return launch_unroll<4>(g, p, k, weighted, o, stream);
        case 2: return launch_unroll<2>(g, p, k, weighted, o, stream);
        default: return launch_unroll<1>(g, p, k, weighted, o, stream);
    }
}

}  // namespace gnntune::sddmm_edges

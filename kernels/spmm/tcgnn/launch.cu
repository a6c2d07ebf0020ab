#include "kernels/spmm/tcgnn/launch.hpp"

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/shared_memory.hpp"
#include "kernels/spmm/tcgnn/kernel.cuh"

namespace gnntune::spmm_tcgnn {
namespace {

using Kernel = void (*)(kernels::SgtTiles, const float*, float*, std::int32_t, std::int32_t);

template <int TILES>
Kernel kernel_of_vector(int vec) {
    switch (vec) {
        case 4:
            return &window_kernel<TILES, 4>;
        case 2:
            return &window_kernel<TILES, 2>;
        default:
            return &window_kernel<TILES, 1>;
    }
}

Kernel kernel_of(int tiles, int vec) {
    switch (tiles) {
        case 8:
            return kernel_of_vector<8>(vec);
        case 4:
            return kernel_of_vector<4>(vec);
        case 2:
            return kernel_of_vector<2>(vec);
        default:
            return kernel_of_vector<1>(vec);
    }
}

}  // namespace

std::int64_t shared_bytes(int warps_per_block, int tiles_per_warp) {
    return std::int64_t{warps_per_block} * warp_floats(tiles_per_warp) * static_cast<std::int64_t>(sizeof(float));
}

void allow_shared_memory(const TcgnnParams& p) {
    for (const int vec : {1, 2, 4}) kernels::allow_all_shared_memory(kernel_of(p.tiles_per_warp, vec));
}

void launch(const SgtFormat& g, const TcgnnParams& p, std::int32_t k, bool weighted, const Operands& o,
            StreamHandle stream_handle) {
    if (g.n_rows == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const kernels::SgtTiles tiles(g, weighted ? o.edge_weight : nullptr);
    const dim3 grid(static_cast<unsigned>(g.n_windows),
                    static_cast<unsigned>(kernels::ceil_div(k, 16 * p.tiles_per_warp)));
    const auto bytes = static_cast<std::size_t>(shared_bytes(p.warps_per_block, p.tiles_per_warp));
    // The pointers of this run may allow narrower vectors than k does.
    const Kernel kernel = kernel_of(p.tiles_per_warp, kernels::vector_width(k, {o.x, o.y}));
    kernel<<<grid, static_cast<unsigned>(p.warps_per_block * 32), bytes, stream>>>(tiles, o.x, o.y, g.n_rows, k);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::spmm_tcgnn

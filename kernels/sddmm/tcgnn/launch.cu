#include "kernels/sddmm/tcgnn/launch.hpp"

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/shared_memory.hpp"
#include "kernels/sddmm/tcgnn/kernel.cuh"

namespace gnntune::sddmm_tcgnn {
namespace {

using Kernel = void (*)(kernels::SgtTiles, const float*, const float*, float*, kernels::EdgeEpilogue, std::int32_t,
                        std::int32_t, int);

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
        case 4:
            return kernel_of_vector<4>(vec);
        case 2:
            return kernel_of_vector<2>(vec);
        default:
            return kernel_of_vector<1>(vec);
    }
}

}  // namespace

int segment_features(std::int32_t k, int tiles_per_warp) {
    const std::int64_t parts = kernels::ceil_div(k, kMaxSegment);
    const std::int64_t step = 16 * tiles_per_warp;
    return static_cast<int>(kernels::ceil_div(kernels::ceil_div(k, parts), step) * step);
}

std::int64_t shared_bytes(std::int32_t k, const TcgnnParams& p) {
    const std::int64_t row_floats =
        std::int64_t{kernels::kWindowRows} * padded_ld(segment_features(k, p.tiles_per_warp));
    const std::int64_t stage_floats = std::int64_t{kernels::kWindowRows} * padded_ld(16 * p.tiles_per_warp);
    return (row_floats + p.warps_per_block * 2 * stage_floats) * static_cast<std::int64_t>(sizeof(float));
}

void allow_shared_memory(const TcgnnParams& p) {
    for (const int vec : {1, 2, 4}) kernels::allow_all_shared_memory(kernel_of(p.tiles_per_warp, vec));
}

void launch(const SgtFormat& g, const TcgnnParams& p, std::int32_t k, bool weighted, const Operands& o,
            StreamHandle stream_handle) {
    if (g.m == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const kernels::SgtTiles tiles(g, weighted ? o.edge_weight : nullptr);
    const auto bytes = static_cast<std::size_t>(shared_bytes(k, p));
    // The pointers of this run may allow narrower vectors than k does.
    const Kernel kernel = kernel_of(p.tiles_per_warp, kernels::vector_width(k, {o.x, o.x_row}));
    kernel<<<static_cast<unsigned>(g.n_windows), static_cast<unsigned>(p.warps_per_block * 32), bytes, stream>>>(
        tiles, o.x_row, o.x, o.y, kernels::EdgeEpilogue(o), g.n_rows, k, segment_features(k, p.tiles_per_warp));
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::sddmm_tcgnn

// launch_typed() for every shape; instantiated for each storage type.
#include <algorithm>

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/tiles.hpp"
#include "kernels/spmm/max_binned/kernel.cuh"
#include "kernels/spmm/max_binned/launch.hpp"

namespace gnntune::spmm_max_binned {

template <typename T, int VEC, int ITEMS, bool ARGMAX>
void launch_shape(const State& s, const Arguments<T>& a, cudaStream_t stream) {
    const MaxParams& p = s.params;
    const dim3 grid(s.rows.blocks,
                    static_cast<unsigned>(kernels::ceil_div(s.k, kernels::tile_width(p.lanes, ITEMS, VEC))));
    auto* kernel = s.weighted ? &max_kernel<T, VEC, ITEMS, true, ARGMAX> : &max_kernel<T, VEC, ITEMS, false, ARGMAX>;
    const int words = s.rows.has_teams_of_warps() ? p.warps_per_block * p.lanes * ITEMS * VEC * (ARGMAX ? 2 : 1) : 0;
    kernel<<<grid, static_cast<unsigned>(p.threads()), static_cast<std::size_t>(words) * 4, stream>>>(a);
    GNNTUNE_CUDA(cudaGetLastError());
    const auto split = static_cast<unsigned>(s.rows.pieces->split.size());
    if (split == 0) return;
    const auto wide = static_cast<unsigned>(std::clamp(kernels::next_power_of_two(std::min(s.k, 64)), 8, 64));
    merge_kernel<T, ARGMAX><<<split, dim3(wide, kMergeThreads / wide), 0, stream>>>(a, s.rows.pieces->split.data());
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T, int VEC, int ITEMS>
void launch_items(const State& s, const Arguments<T>& a, cudaStream_t stream) {
    if (a.argmax) {
        launch_shape<T, VEC, ITEMS, true>(s, a, stream);
    } else {
        launch_shape<T, VEC, ITEMS, false>(s, a, stream);
    }
}

// A tile is lanes * items vectors, so narrower ones only make for more tiles; two of a lane are those of 16 bytes.
template <typename T, int VEC>
void launch_vectors(const State& s, const Arguments<T>& a, cudaStream_t stream) {
    if constexpr (VEC * sizeof(T) == 16) {
        if (s.params.items == 2) return launch_items<T, VEC, 2>(s, a, stream);
    }
    launch_items<T, VEC, 1>(s, a, stream);
}

template <typename T>
void launch_typed(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    if (s.rows.blocks == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const CsrFormat& g = *s.csr;
    Arguments<T> a{};
    a.rows = kernels::view_of(s.rows, g);
    a.edges = kernels::edges_of(g, elements_of<T>(o.edge_weight));
    a.x = elements_of<T>(o.x);
    a.y = elements_of<T>(o.y);
    a.argmax = o.argmax;
    a.partial = static_cast<float*>(workspace);
    a.partial_places = static_cast<std::int32_t*>(workspace) + std::int64_t{s.rows.pieces->slots} * s.k;
    a.k = s.k;
    a.lanes = s.params.lanes;
    // Params promise what k allows; the pointers of this run may allow less. Edges are stored four at a time at most.
    int vec = kernels::vector_width(s.k, {o.x, o.y}, s.params.vec, sizeof(T));
    const int edges = kernels::vector_width(s.k, {o.argmax}, 4, sizeof(std::int32_t));
    if (edges < 4) vec = std::min(vec, edges);
    switch (vec) {
        case 8:
            if constexpr (sizeof(T) == 2) launch_vectors<T, 8>(s, a, stream);
            break;
        case 4:
            launch_vectors<T, 4>(s, a, stream);
            break;
        case 2:
            launch_vectors<T, 2>(s, a, stream);
            break;
        default:
            launch_vectors<T, 1>(s, a, stream);
    }
}

template void launch_typed<float>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<Float16>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<BFloat16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::spmm_max_binned

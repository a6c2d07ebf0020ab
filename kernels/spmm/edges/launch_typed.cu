// launch_typed() for every shape; instantiated for each storage type.
#include "core/gpu/cuda_check.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/tiles.hpp"
#include "kernels/spmm/edges/kernel.cuh"
#include "kernels/spmm/edges/launch.hpp"

namespace gnntune::spmm_edges {

inline constexpr int kThreads = 128;

/// What a run hands down to its kernels.
template <typename T>
struct Run {
    const State& s;
    const T* edge_weight;
    Terms<T> terms;
    const T* x;
    T* y;
    float* sums;
    cudaStream_t stream;
};

template <typename T, int VEC, int ITEMS, bool MORE>
void launch_shape(const Run<T>& r) {
    const CooFormat& g = *r.s.coo;
    const EdgesParams& p = r.s.params;
    const std::int64_t chunks = kernels::ceil_div(g.m, p.chunk);
    const dim3 grid(static_cast<unsigned>(kernels::ceil_div(chunks, kThreads / p.lanes)),
                    static_cast<unsigned>(kernels::ceil_div(r.s.k, kernels::tile_width(p.lanes, ITEMS, VEC))));
    auto* kernel = r.s.weighted ? &edges_kernel<T, VEC, ITEMS, kUnroll, true, MORE>
                                : &edges_kernel<T, VEC, ITEMS, kUnroll, false, MORE>;
    kernels::WeightedEdges<T> edges = kernels::edges_of(g, r.edge_weight);
    edges.ids_aligned = edges.ids_aligned && kernels::aligned_to_four(g.row_idx);
    kernel<<<grid, kThreads, 0, r.stream>>>(edges, r.terms, g.row_idx, r.x, r.y, r.sums, r.s.k, p.chunk, p.lanes);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T, int VEC, int ITEMS>
void launch_items(const Run<T>& r) {
    if (r.s.self_loop || r.s.mean) {
        launch_shape<T, VEC, ITEMS, true>(r);
    } else {
        launch_shape<T, VEC, ITEMS, false>(r);
    }
}

template <typename T, int VEC>
void launch_vector(const Run<T>& r) {
    const CsrFormat& g = *r.s.csr;
    const std::int32_t chunk = r.s.params.chunk;
    const int lanes =
        std::min(32, kernels::next_power_of_two(static_cast<std::int32_t>(kernels::ceil_div(r.s.k, VEC))));
    const auto blocks = static_cast<unsigned>(kernels::ceil_div(g.n_rows, kThreads / lanes));
    start_kernel<T, VEC><<<blocks, kThreads, 0, r.stream>>>(r.terms, r.x, r.sums, g.n_rows, r.s.k, chunk, lanes);
    GNNTUNE_CUDA(cudaGetLastError());
    if (r.s.coo->m > 0) {
        if (r.s.params.items == 2) {
            launch_items<T, VEC, 2>(r);
        } else {
            launch_items<T, VEC, 1>(r);
        }
    }
    if constexpr (sizeof(T) == 2) {
        round_kernel<T, VEC><<<blocks, kThreads, 0, r.stream>>>(g.row_ptr, r.sums, r.y, g.n_rows, r.s.k, chunk, lanes);
        GNNTUNE_CUDA(cudaGetLastError());
    }
}

template <typename T>
void launch_typed(const State& s, const Operands& o, void* workspace, StreamHandle stream) {
    if (s.csr->n_rows == 0) return;
    Run<T> r{s,
             elements_of<T>(o.edge_weight),
             {{s.self_loop ? elements_of<T>(o.self_weight) : nullptr}, s.csr->row_ptr, s.mean},
             elements_of<T>(o.x),
             elements_of<T>(o.y),
             static_cast<float*>(workspace),
             static_cast<cudaStream_t>(stream)};
    if constexpr (std::is_same_v<T, float>) r.sums = r.y;
    // Params promise what k allows; the pointers of this run may allow less.
    const int vec = kernels::vector_width(s.k, {o.x, o.y}, s.params.vec, sizeof(T));
    kernels::with_vector<T>(vec, [&]<int VEC>(std::integral_constant<int, VEC>) { launch_vector<T, VEC>(r); });
}

template void launch_typed<float>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<Float16>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<BFloat16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::spmm_edges

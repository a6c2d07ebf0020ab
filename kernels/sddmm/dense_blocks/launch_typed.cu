// launch_typed() for every shape; instantiated for each storage type.
#include "kernels/common/shared_memory.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/sddmm/common/edge_dots.cuh"
#include "kernels/sddmm/dense_blocks/kernel.cuh"

namespace gnntune::sddmm_dense_blocks {

inline constexpr int kRestEdges = 4;  ///< of a group at once

/// Calls f(std::integral_constant<int, VEC>{}, std::integral_constant<int, STAGES>{}) for the plan's shape. The record
/// asks for arrays that are aligned to 16 bytes.
template <typename T, typename F>
void with_shape(const Plan& p, const F& f) {
    constexpr int kWidest = 16 / static_cast<int>(sizeof(T));
    with_vector<T>(vector_width(p.k, {}, kWidest, sizeof(T)), [&](auto vec) {
        if constexpr (vec == kWidest) {
            if (p.params.stages == 3) return f(vec, std::integral_constant<int, 3>{});
        }
        f(vec, std::integral_constant<int, 2>{});
    });
}

template <typename T>
void prepare_typed(const Plan& p) {
    with_shape<T>(p, [](auto vec, auto stages) { allow_all_shared_memory(&dense_blocks_kernel<T, vec, stages>); });
}

template <typename T, int VEC>
void launch_rest(const Arguments<T>& a, const Plan& p, cudaStream_t stream) {
    const formats::DenseBlocksFormat& g = *p.blocks;
    EdgeDots<T> rest{};
    rest.row_idx = p.rest_row.data();
    rest.col_idx = g.rest_col;
    rest.edge_id = g.rest_id;
    rest.edge_weight = a.edge_weight;
    rest.x_row = a.x_row;
    rest.x = a.x;
    rest.y = a.y;
    rest.epilogue = a.epilogue;
    rest.m = g.n_rest;
    rest.k = a.k;
    rest.lanes = edge_dot_lanes(a.k, VEC);
    rest.ids_aligned = aligned_to_four(rest.row_idx) && aligned_to_four(rest.col_idx);
    launch_edge_dots<VEC, kRestEdges>(rest, stream);
}

template <typename T>
void launch_typed(const Plan& p, const Operands& o, cudaStream_t stream) {
    const formats::DenseBlocksFormat& g = *p.blocks;
    Arguments<T> a{};
    a.places = p.places.data();
    a.block_rows = g.block_rows;
    a.edge_id = g.edge_id;
    a.edge_weight = p.weighted ? elements_of<T>(o.edge_weight) : nullptr;
    a.x_row = elements_of<T>(o.x_row);
    a.x = elements_of<T>(o.x);
    a.y = elements_of<T>(o.y);
    a.epilogue = EdgeEpilogue(o);
    a.n_blocks = g.n_blocks;
    a.n_rows = g.n_rows;
    a.n_cols = g.n_cols;
    a.k = p.k;
    with_shape<T>(p, [&](auto vec, auto stages) {
        if (g.n_rest > 0) launch_rest<T, vec>(a, p, stream);
        if (g.n_blocks == 0) return;
        constexpr int kWarps = kThreads / 32;
        static_assert(kWarps * WarpMemory<stages>::kBytes == shared_bytes(stages), "what legal() asks");
        const auto blocks = static_cast<unsigned>(ceil_div(g.n_blocks, kWarps));
        dense_blocks_kernel<T, vec, stages><<<blocks, kThreads, kWarps * WarpMemory<stages>::kBytes, stream>>>(a);
        GNNTUNE_CUDA(cudaGetLastError());
    });
}

template void launch_typed<float>(const Plan&, const Operands&, cudaStream_t);
template void prepare_typed<float>(const Plan&);
template void launch_typed<Float16>(const Plan&, const Operands&, cudaStream_t);
template void prepare_typed<Float16>(const Plan&);
template void launch_typed<BFloat16>(const Plan&, const Operands&, cudaStream_t);
template void prepare_typed<BFloat16>(const Plan&);

}  // namespace gnntune::sddmm_dense_blocks

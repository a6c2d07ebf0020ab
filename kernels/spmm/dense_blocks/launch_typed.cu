// launch_typed() and prepare_typed() for every shape; instantiated for each storage type.
#include "kernels/common/merge_rows.cuh"
#include "kernels/common/shared_memory.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/spmm/dense_blocks/kernel.cuh"
#include "kernels/spmm/dense_blocks/rest.cuh"

namespace gnntune::spmm_dense_blocks {

/// Calls f(std::integral_constant<int, WARPS>{}, std::bool_constant<WEIGHTED>{}) for the plan's shape.
template <typename T, typename F>
void with_shape(const Plan& p, const F& f) {
    const auto with_warps = [&](auto weighted) {
        if (p.params.tile == 128) return f(std::integral_constant<int, 4>{}, weighted);
        if (p.params.tile == 64) return f(std::integral_constant<int, 2>{}, weighted);
        f(std::integral_constant<int, 1>{}, weighted);
    };
    if (p.weighted) return with_warps(std::true_type{});
    with_warps(std::false_type{});
}

template <typename T>
void prepare_typed(const Plan& p) {
    with_shape<T>(p, [](auto warps, auto weighted) {
        allow_all_shared_memory(&dense_blocks_kernel<T, decltype(warps)::value, decltype(weighted)::value>);
    });
}

/// Bytes to which every row of x is aligned: 16, 8, 4 or 2.
template <typename T>
int aligned_copies(const Arguments<T>& a) {
    constexpr int kWidest = 16 / static_cast<int>(sizeof(T));
    return vector_width(a.k, {a.x}, kWidest, sizeof(T)) * static_cast<int>(sizeof(T));
}

template <typename T>
void launch_rest(const Arguments<T>& a, const formats::DenseBlocksFormat& g, float* rest, cudaStream_t stream) {
    const RestArguments<T> r{g.rest_begin, g.rest_col, g.rest_id, a.edge_weight, a.x, rest, g.n_rest_pieces, a.k};
    with_vector<T>(aligned_copies(a) / static_cast<int>(sizeof(T)), [&]<int VEC>(std::integral_constant<int, VEC>) {
        const auto vectors = static_cast<std::int32_t>(std::min<std::int64_t>(32, ceil_div(a.k, VEC)));
        const int lanes = next_power_of_two(vectors);
        const auto blocks = static_cast<unsigned>(ceil_div(g.n_rest_pieces, kRestThreads / lanes));
        rest_kernel<T, VEC><<<blocks, kRestThreads, 0, stream>>>(r, lanes);
        GNNTUNE_CUDA(cudaGetLastError());
    });
}

template <typename T>
void launch_typed(const Plan& p, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const formats::DenseBlocksFormat& g = *p.blocks;
    if (g.n_rows == 0) return;
    Arguments<T> a{};
    a.pieces = p.pieces.data();
    a.block_col = g.block_col;
    a.block_rows = g.block_rows;
    a.edge_id = g.edge_id;
    a.rest_ptr = g.rest_ptr;
    a.mean = {p.csr ? p.csr->row_ptr : nullptr, p.self_loop};
    a.self.weight = p.self_loop ? elements_of<T>(o.self_weight) : nullptr;
    a.edge_weight = p.weighted ? elements_of<T>(o.edge_weight) : nullptr;
    a.x = elements_of<T>(o.x);
    a.y = elements_of<T>(o.y);
    a.partial = static_cast<float*>(workspace);
    a.n_rows = g.n_rows;
    a.n_cols = g.n_cols;
    a.k = p.k;
    a.copy = aligned_copies(a);
    a.fours = vector_width(a.k, {a.y, p.self_loop ? a.x : nullptr}, 4, sizeof(T)) == 4;
    if (g.n_rest_pieces > 0) {
        float* rest = a.partial + static_cast<std::int64_t>(p.split.slots) * p.k;
        launch_rest(a, g, rest, stream);
        a.rest = rest;
    }
    with_shape<T>(p, [&](auto warps, auto weighted) {
        using Shape = Stage<T, decltype(warps)::value, decltype(weighted)::value>;
        const dim3 grid(static_cast<unsigned>(p.pieces.size()), static_cast<unsigned>(ceil_div(p.k, Shape::kTile)));
        constexpr std::size_t kShared = kStages * Shape::kBytes + sizeof(Barriers);
        static_assert(kShared == shared_bytes(Shape::kTile, sizeof(T), decltype(weighted)::value), "what legal() asks");
        dense_blocks_kernel<T, decltype(warps)::value, decltype(weighted)::value>
            <<<grid, Shape::kThreads, kShared, stream>>>(a);
        GNNTUNE_CUDA(cudaGetLastError());
    });
    launch_merge_rows(p.split, a.mean, a.partial, a.y, p.k, stream);
}

template void launch_typed<float>(const Plan&, const Operands&, void*, StreamHandle);
template void prepare_typed<float>(const Plan&);
template void launch_typed<Float16>(const Plan&, const Operands&, void*, StreamHandle);
template void prepare_typed<Float16>(const Plan&);
template void launch_typed<BFloat16>(const Plan&, const Operands&, void*, StreamHandle);
template void prepare_typed<BFloat16>(const Plan&);

}  // namespace gnntune::spmm_dense_blocks

// launch_typed() for every shape; included by the translation unit of each storage type.
#pragma once

#include "kernels/agnn/rows/kernel.cuh"
#include "kernels/agnn/rows/plan.cuh"
#include "kernels/common/tiles.hpp"

namespace gnntune::agnn_rows {

template <typename T, int VEC, int ITEMS>
void launch_shape(const Plan& p, Arguments<T> a, cudaStream_t stream) {
    const int lanes = p.params.lanes;
    const int team = lanes * p.params.split;
    a.row_blocks = static_cast<unsigned>(kernels::ceil_div(std::int64_t{a.n_rows} * a.heads, kThreads / team));
    const auto piece_blocks = static_cast<unsigned>(static_cast<std::int64_t>(p.pieces.pieces.size()) * a.heads);
    const dim3 grid(a.row_blocks + piece_blocks,
                    static_cast<unsigned>(kernels::ceil_div(p.k, kernels::tile_width(lanes, ITEMS, VEC))));
    rows_kernel<T, VEC, ITEMS><<<grid, kThreads, 0, stream>>>(a, lanes, p.params.split);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T, int VEC>
void launch_items(const Plan& p, const Arguments<T>& a, cudaStream_t stream) {
    switch (p.params.items) {
        case 4:
            return launch_shape<T, VEC, 4>(p, a, stream);
        case 2:
            return launch_shape<T, VEC, 2>(p, a, stream);
        default:
            return launch_shape<T, VEC, 1>(p, a, stream);
    }
}

template <typename T>
void launch_typed(const Plan& p, const Operands& o, void* workspace, cudaStream_t stream) {
    const CsrFormat& g = *p.csr;
    if (g.n_rows == 0) return;
    kernels::WorkspaceCutter space(workspace);
    const Scratch t = cut(p, space);
    const T* x = elements_of<T>(o.x);
    T* y = elements_of<T>(o.y);
    if (t.inverse_norm) {
        kernels::row_inverse_norms(x, t.inverse_norm, std::int64_t{g.n_cols} * p.heads, p.k, stream);
    }
    const Arguments<T> a{g.row_ptr,      g.col_idx, x,     elements_of<T>(o.x_row), elements_of<T>(o.beta),
                         t.inverse_norm, y,         o.lse, p.pieces.pieces.data(),  t.results,
                         g.n_rows,       p.heads,   p.k,   p.pieces.long_row,       0};
    // A tile is lanes * items vectors: pointers of this run that allow narrower ones only make for more tiles.
    switch (kernels::vector_width(p.k, {o.x, o.x_row, o.y}, static_cast<int>(16 / sizeof(T)), sizeof(T))) {
        case 8:
            if constexpr (sizeof(T) == 2) launch_items<T, 8>(p, a, stream);
            break;
        case 4:
            launch_items<T, 4>(p, a, stream);
            break;
        case 2:
            launch_items<T, 2>(p, a, stream);
            break;
        default:
            launch_items<T, 1>(p, a, stream);
    }
    kernels::launch_merge_pieces(p.pieces, t.results, y, o.lse, p.heads, p.k, true, stream);
}

}  // namespace gnntune::agnn_rows

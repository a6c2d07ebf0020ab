// launch_typed() for every shape; included by the translation unit of each storage type.
#pragma once

#include "kernels/agnn_grad/rows_cols/kernel.cuh"
#include "kernels/agnn_grad/rows_cols/plan.cuh"
#include "kernels/common/tiles.hpp"

namespace gnntune::agnn_grad_rows_cols {

template <bool COLUMNS, typename T, int VEC, int ITEMS>
void launch_shape(const Plan& p, Arguments<T> a, std::size_t pieces, cudaStream_t stream) {
    const int lanes = p.params.lanes;
    const int team = lanes * p.params.split;
    a.unit_blocks = static_cast<unsigned>(kernels::ceil_div(std::int64_t{a.vertices} * a.heads, kThreads / team));
    const dim3 grid(a.unit_blocks + static_cast<unsigned>(static_cast<std::int64_t>(pieces) * a.heads),
                    static_cast<unsigned>(kernels::ceil_div(p.k, kernels::tile_width(lanes, ITEMS, VEC))));
    gradient_kernel<COLUMNS, T, VEC, ITEMS><<<grid, kThreads, 0, stream>>>(a, lanes, p.params.split);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <bool COLUMNS, typename T, int VEC>
void launch_items(const Plan& p, const Arguments<T>& a, std::size_t pieces, cudaStream_t stream) {
    switch (p.params.items) {
        case 4:
            return launch_shape<COLUMNS, T, VEC, 4>(p, a, pieces, stream);
        case 2:
            return launch_shape<COLUMNS, T, VEC, 2>(p, a, pieces, stream);
        default:
            return launch_shape<COLUMNS, T, VEC, 1>(p, a, pieces, stream);
    }
}

// One side: its gradient, and the sums of de c of its rows in `total` where that is wanted.
template <bool COLUMNS, typename T>
void launch_side(const Plan& p, const Operands& o, const Scratch& t, cudaStream_t stream) {
    const CsrFormat& g = COLUMNS ? *p.csc : *p.csr;
    const kernels::RowPieces& pieces = COLUMNS ? p.col_pieces : p.row_pieces;
    T* grad = elements_of<T>(COLUMNS ? o.grad_x : o.grad_x_row);
    if (g.n_rows == 0) return;
    const Arguments<T> a{g.row_ptr,
                         g.col_idx,
                         elements_of<T>(o.x),
                         elements_of<T>(o.x_row),
                         elements_of<T>(o.beta),
                         elements_of<T>(o.grad_y),
                         elements_of<T>(o.y_saved),
                         o.lse_saved,
                         t.row_info,
                         t.row_beta,
                         grad,
                         pieces.pieces.data(),
                         t.results,
                         g.n_rows,
                         p.heads,
                         p.k,
                         pieces.long_row,
                         0};
    // A tile is lanes * items vectors: pointers of this run that allow narrower ones only make for more tiles.
    switch (kernels::vector_width(p.k, {o.x, o.x_row, o.grad_y, o.y_saved, o.grad_x, o.grad_x_row},
                                  static_cast<int>(16 / sizeof(T)), sizeof(T))) {
        case 8:
            if constexpr (sizeof(T) == 2) launch_items<COLUMNS, T, 8>(p, a, pieces.pieces.size(), stream);
            break;
        case 4:
            launch_items<COLUMNS, T, 4>(p, a, pieces.pieces.size(), stream);
            break;
        case 2:
            launch_items<COLUMNS, T, 2>(p, a, pieces.pieces.size(), stream);
            break;
        default:
            launch_items<COLUMNS, T, 1>(p, a, pieces.pieces.size(), stream);
    }
    kernels::launch_merge_pieces(pieces, t.results, grad, COLUMNS ? nullptr : t.row_beta, p.heads, p.k, false, stream);
}

template <typename T>
void launch_typed(const Plan& p, const Operands& o, void* workspace, cudaStream_t stream) {
    kernels::WorkspaceCutter space(workspace);
    const Scratch t = cut(p, space);
    launch_side<false, T>(p, o, t, stream);
    launch_side<true, T>(p, o, t, stream);
    kernels::head_sums(t.row_beta, p.csr->n_rows, p.heads, t.partial_beta, elements_of<T>(o.grad_beta), stream);
}

}  // namespace gnntune::agnn_grad_rows_cols

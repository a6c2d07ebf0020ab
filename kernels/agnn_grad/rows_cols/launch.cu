#include "kernels/agnn_grad/rows_cols/launch.hpp"

#include "kernels/agnn_grad/rows_cols/kernel.cuh"
#include "kernels/common/attention.hpp"
#include "kernels/common/head_sums.cuh"
#include "kernels/common/tiles.hpp"

namespace gnntune::agnn_grad_rows_cols {

struct Plan {
    std::shared_ptr<const CsrFormat> csr;
    std::shared_ptr<const CsrFormat> csc;
    kernels::RowPieces row_pieces;
    kernels::RowPieces col_pieces;
    RowsColsParams params;
    std::int32_t k = 0;
    std::int32_t heads = 0;
};

namespace {

struct Scratch {
    float2* row_info;
    float* row_beta;
    float* partial_beta;
    kernels::PieceResults results;  ///< of rows, then of columns
};

Scratch cut(const Plan& p, kernels::WorkspaceCutter& space) {
    Scratch out{};
    const std::int64_t units = std::int64_t{p.csr->n_rows} * p.heads;
    const std::int64_t slots = std::int64_t{std::max(p.row_pieces.slots, p.col_pieces.slots)} * p.heads;
    out.row_info = space.take<float2>(units);
    out.row_beta = space.take<float>(units);
    out.partial_beta = space.take<float>(kernels::head_sum_blocks(p.csr->n_rows) * p.heads);
    out.results.sums = space.take<kernels::SoftmaxSum>(slots);
    out.results.values = space.take<float>(slots * p.k);
    return out;
}

template <bool COLUMNS, int VEC, int ITEMS>
void launch_shape(const Plan& p, Arguments a, std::size_t pieces, cudaStream_t stream) {
    const int lanes = p.params.lanes;
    const int team = lanes * p.params.split;
    a.unit_blocks = static_cast<unsigned>(kernels::ceil_div(std::int64_t{a.vertices} * a.heads, kThreads / team));
    const dim3 grid(a.unit_blocks + static_cast<unsigned>(static_cast<std::int64_t>(pieces) * a.heads),
                    static_cast<unsigned>(kernels::ceil_div(p.k, kernels::tile_width(lanes, ITEMS, VEC))));
    gradient_kernel<COLUMNS, VEC, ITEMS><<<grid, kThreads, 0, stream>>>(a, lanes, p.params.split);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <bool COLUMNS, int VEC>
void launch_items(const Plan& p, const Arguments& a, std::size_t pieces, cudaStream_t stream) {
    switch (p.params.items) {
        case 4:
            return launch_shape<COLUMNS, VEC, 4>(p, a, pieces, stream);
        case 2:
            return launch_shape<COLUMNS, VEC, 2>(p, a, pieces, stream);
        default:
            return launch_shape<COLUMNS, VEC, 1>(p, a, pieces, stream);
    }
}

// One side: its gradient, and the sums of de c of its rows in `total` where that is wanted.
template <bool COLUMNS>
void launch_side(const Plan& p, const Operands& o, const Scratch& t, cudaStream_t stream) {
    const CsrFormat& g = COLUMNS ? *p.csc : *p.csr;
    const kernels::RowPieces& pieces = COLUMNS ? p.col_pieces : p.row_pieces;
    float* grad = COLUMNS ? o.grad_x : o.grad_x_row;
    if (g.n_rows == 0) return;
    const Arguments a{g.row_ptr,       g.col_idx,  o.x,       o.x_row,
                      o.beta,          o.grad_y,   o.y_saved, o.lse_saved,
                      t.row_info,      t.row_beta, grad,      pieces.pieces.data(),
                      t.results,       g.n_rows,   p.heads,   p.k,
                      pieces.long_row, 0};
    // A tile is lanes * items vectors: pointers of this run that allow narrower ones only make for more tiles.
    switch (kernels::vector_width(p.k, {o.x, o.x_row, o.grad_y, o.y_saved, o.grad_x, o.grad_x_row})) {
        case 4:
            launch_items<COLUMNS, 4>(p, a, pieces.pieces.size(), stream);
            break;
        case 2:
            launch_items<COLUMNS, 2>(p, a, pieces.pieces.size(), stream);
            break;
        default:
            launch_items<COLUMNS, 1>(p, a, pieces.pieces.size(), stream);
            break;
    }
    if (pieces.split.size() == 0) return;
    kernels::merge_pieces<<<static_cast<unsigned>(pieces.split.size() * static_cast<std::size_t>(p.heads)),
                            kernels::kMergeThreads, 0, stream>>>(pieces.split.data(), t.results.sums, t.results.values,
                                                                 grad, COLUMNS ? nullptr : t.row_beta, p.heads, p.k,
                                                                 false);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace

std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, std::shared_ptr<const CsrFormat> csc,
                                      const RowsColsParams& params, std::int32_t k, std::int32_t heads,
                                      StreamHandle stream) {
    auto plan = std::make_shared<Plan>();
    plan->csr = std::move(csr);
    plan->csc = std::move(csc);
    plan->row_pieces = kernels::build_row_pieces(*plan->csr, stream);
    plan->col_pieces = kernels::build_row_pieces(*plan->csc, stream);
    plan->params = params;
    plan->k = k;
    plan->heads = heads;
    return plan;
}

std::size_t workspace_bytes(const Plan& p) {
    kernels::WorkspaceCutter space(nullptr);
    cut(p, space);
    return space.bytes();
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    kernels::WorkspaceCutter space(workspace);
    const Scratch t = cut(p, space);
    launch_side<false>(p, o, t, stream);
    launch_side<true>(p, o, t, stream);
    kernels::head_sums(t.row_beta, p.csr->n_rows, p.heads, t.partial_beta, o.grad_beta, stream);
}

}  // namespace gnntune::agnn_grad_rows_cols

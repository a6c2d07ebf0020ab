// What a plan holds between its runs, and where the arrays of a run lie in its workspace.
#pragma once

#include "kernels/agnn_grad/rows_cols/launch.hpp"
#include "kernels/common/attention.cuh"
#include "kernels/common/head_sums.cuh"

namespace gnntune::agnn_grad_rows_cols {

struct Plan {
    std::shared_ptr<const CsrFormat> csr;
    std::shared_ptr<const CsrFormat> csc;
    kernels::RowPieces row_pieces;
    kernels::RowPieces col_pieces;
    RowsColsParams params;
    std::int32_t k = 0;
    std::int32_t heads = 0;
    DType dtype = DType::f32;
};

struct Scratch {
    float2* row_info;
    float* row_beta;
    float* partial_beta;
    kernels::PieceResults results;  ///< of rows, then of columns
};

inline Scratch cut(const Plan& p, kernels::WorkspaceCutter& space) {
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

/// launch() for a plan whose dtype is T; there is a translation unit for each.
template <typename T>
void launch_typed(const Plan& plan, const Operands& operands, void* workspace, cudaStream_t stream);

}  // namespace gnntune::agnn_grad_rows_cols

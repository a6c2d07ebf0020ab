// What a plan holds between its runs, and where the arrays of a run lie in its workspace.
#pragma once

#include "kernels/agnn_grad/rows_cols/kernel.cuh"
#include "kernels/agnn_grad/rows_cols/launch.hpp"
#include "kernels/common/head_sums.cuh"

namespace gnntune::agnn_grad_rows_cols {

struct Plan {
    kernels::PassPlan rows;
    kernels::PassPlan columns;
};

struct Scratch {
    float2* row_info;
    float* row_beta;
    float* partial_beta;
    kernels::PieceResults results;  ///< of rows, then of columns
};

inline Scratch cut(const Plan& p, kernels::WorkspaceCutter& space) {
    Scratch out{};
    const std::int64_t n_rows = p.rows.graph->n_rows;
    out.row_info = space.take<float2>(n_rows * p.rows.heads);
    out.row_beta = space.take<float>(n_rows * p.rows.heads);
    out.partial_beta = space.take<float>(kernels::head_sum_blocks(n_rows) * p.rows.heads);
    // Partial results are fp32 whatever the storage type.
    out.results = kernels::take_results<RowPass<float>, ColPass<float>>(p.rows, p.columns, space);
    return out;
}

/// launch() for a plan whose dtype is T; there is a translation unit for each.
template <typename T>
void launch_typed(const Plan& plan, const Operands& operands, void* workspace, cudaStream_t stream);

}  // namespace gnntune::agnn_grad_rows_cols

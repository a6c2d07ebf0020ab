// What a plan holds between its runs, and where the arrays of a run lie in its workspace.
#pragma once

#include "kernels/attention_grad/rows_cols/kernel.cuh"
#include "kernels/attention_grad/rows_cols/launch.hpp"

namespace gnntune::attention_grad_rows_cols {

struct Plan {
    kernels::PassPlan rows;
    kernels::PassPlan columns;
};

struct Scratch {
    float* inner;
    kernels::PieceResults results;  ///< of rows, then of columns
};

inline Scratch cut(const Plan& p, kernels::WorkspaceCutter& space) {
    Scratch out{};
    out.inner = space.take<float>(std::int64_t{p.rows.graph->n_rows} * p.rows.heads);
    // Partial results are fp32 whatever the storage type.
    out.results = kernels::take_results<RowPass<float>, ColPass<float>>(p.rows, p.columns, space);
    return out;
}

/// launch() for a plan whose dtype is T; there is a translation unit for each.
template <typename T>
void launch_typed(const Plan& plan, const Operands& operands, void* workspace, cudaStream_t stream);

}  // namespace gnntune::attention_grad_rows_cols

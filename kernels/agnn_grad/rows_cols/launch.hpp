// Where the arrays of a run lie in its workspace, and the run.
#pragma once

#include "core/registry/variant.hpp"
#include "kernels/agnn_grad/common/head_sums.hpp"
#include "kernels/common/gradient_passes.hpp"

namespace gnntune::agnn_grad_rows_cols {

/// Gradients that each pass leaves.
inline constexpr int kRowOutputs = 1;
inline constexpr int kColOutputs = 1;

struct Scratch {
    float2* row_info;
    float* row_beta;
    float* partial_beta;
    kernels::PieceResults results;  ///< of rows, then of columns
};

inline Scratch cut(const kernels::TwoPassPlan& p, kernels::WorkspaceCutter& space) {
    Scratch out{};
    out.row_info = space.take<float2>(p.row_units());
    out.row_beta = space.take<float>(p.row_units());
    out.partial_beta = space.take<float>(kernels::head_sum_blocks(p.rows.graph->n_rows) * p.rows.heads);
    out.results = p.take_results(kRowOutputs, kColOutputs, space);
    return out;
}

/// Enqueues one run on operands of type T on the device that is current; there is a translation unit for each of float,
/// Float16 and BFloat16. Throws on a launch error.
template <typename T>
void launch_typed(const kernels::TwoPassPlan& plan, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::agnn_grad_rows_cols

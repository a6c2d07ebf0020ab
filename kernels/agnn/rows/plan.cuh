// What a plan holds between its runs, and where the arrays of a run lie in its workspace.
#pragma once

#include "kernels/agnn/rows/launch.hpp"
#include "kernels/common/attend.cuh"

namespace gnntune::agnn_rows {

struct Plan {
    kernels::AttendPlan rows;
    bool stored_norms = false;
};

struct Scratch {
    float* inverse_norm;
    kernels::PieceResults results;
};

inline Scratch cut(const Plan& p, kernels::WorkspaceCutter& space) {
    Scratch out{};
    if (p.stored_norms) out.inverse_norm = space.take<float>(std::int64_t{p.rows.csr->n_cols} * p.rows.heads);
    out.results = kernels::take_results(p.rows, space);
    return out;
}

/// launch() for a plan whose dtype is T; there is a translation unit for each.
template <typename T>
void launch_typed(const Plan& plan, const Operands& operands, void* workspace, cudaStream_t stream);

}  // namespace gnntune::agnn_rows

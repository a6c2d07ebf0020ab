// What a plan holds between its runs, and where the arrays of a run lie in its workspace.
#pragma once

#include "kernels/agnn/rows/launch.hpp"
#include "kernels/common/attention.cuh"

namespace gnntune::agnn_rows {

struct Plan {
    std::shared_ptr<const CsrFormat> csr;
    kernels::RowPieces pieces;
    RowsParams params;
    std::int32_t k = 0;
    std::int32_t heads = 0;
    DType dtype = DType::f32;
};

struct Scratch {
    float* inverse_norm;
    kernels::PieceResults results;
};

inline Scratch cut(const Plan& p, kernels::WorkspaceCutter& space) {
    Scratch out{};
    const std::int64_t slots = std::int64_t{p.pieces.slots} * p.heads;
    if (p.params.stored_norms != 0) out.inverse_norm = space.take<float>(std::int64_t{p.csr->n_cols} * p.heads);
    out.results.sums = space.take<kernels::SoftmaxSum>(slots);
    out.results.values = space.take<float>(slots * p.k);
    return out;
}

/// launch() for a plan whose dtype is T; there is a translation unit for each.
template <typename T>
void launch_typed(const Plan& plan, const Operands& operands, void* workspace, cudaStream_t stream);

}  // namespace gnntune::agnn_rows

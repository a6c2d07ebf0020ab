// What a plan holds, where the arrays of a run lie in its workspace, and the run.
#pragma once

#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/agnn_grad/common/head_sums.hpp"
#include "kernels/common/gather_pass.hpp"
#include "kernels/common/workspace.hpp"

namespace gnntune::agnn_grad_binned {

struct State {
    std::shared_ptr<const CsrFormat> csr;
    std::shared_ptr<const CsrFormat> csc;
    kernels::BinnedRows rows;
    kernels::BinnedRows cols;
    kernels::GatherPassParams params;  ///< of the rows
    Problem problem;
};

/// What columns multiply the rows that they gather with.
struct alignas(8) EdgeWeights {
    float row;   ///< of x_row
    float grad;  ///< of grad_y: alpha
};

struct Workspace {
    EdgeWeights* weights;  ///< [m, heads] in the caller's order
    float* block_beta;     ///< [blocks of the rows, heads] sums of de c
    float* partial_beta;   ///< of head_sums()
    float* rows;           ///< of pieces [slots, heads, k]
    float* cols;           ///< the same
    std::size_t bytes;

    Workspace(const State& s, void* base) {
        kernels::WorkspaceCutter cut(base);
        const std::int64_t heads = s.problem.heads;
        weights = cut.take<EdgeWeights>(s.csr->m * heads);
        block_beta = cut.take<float>(s.rows.blocks * heads);
        partial_beta = cut.take<float>(kernels::head_sum_blocks(s.rows.blocks) * heads);
        rows = cut.take<float>(s.rows.pieces->slots * heads * s.problem.k);
        cols = cut.take<float>(s.cols.pieces->slots * heads * s.problem.k);
        bytes = cut.bytes();
    }
};

/// Enqueues one run on operands of type T on the device that is current; there is a translation unit for each of float,
/// Float16 and BFloat16. Throws on a launch error.
template <typename T>
void launch_typed(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::agnn_grad_binned

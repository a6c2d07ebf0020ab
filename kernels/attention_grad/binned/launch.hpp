// What a plan holds, where the arrays of a run lie in its workspace, and the run.
#pragma once

#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/gather_pass.hpp"
#include "kernels/common/workspace.hpp"

namespace gnntune::attention_grad_binned {

struct State {
    std::shared_ptr<const CsrFormat> csr;
    std::shared_ptr<const CsrFormat> csc;
    kernels::BinnedRows rows;
    kernels::BinnedRows cols;
    kernels::GatherPassParams params;  ///< of the columns
    Problem problem;
};

/// What an edge needs of its row and head.
struct alignas(8) RowTerms {
    float lse;
    float inner;  ///< <grad_y, y>
};

struct Workspace {
    RowTerms* terms;  ///< [n_rows, heads]
    float* weight;    ///< [m, heads] in the caller's order: of key in the rows
    float* rows;      ///< of pieces [slots, heads, k], like the next two
    float* cols_key;
    float* cols_x;
    std::size_t bytes;

    Workspace(const State& s, void* base) {
        kernels::WorkspaceCutter cut(base);
        const std::int64_t heads = s.problem.heads;
        terms = cut.take<RowTerms>(s.csr->n_rows * heads);
        weight = cut.take<float>(s.csr->m * heads);
        rows = cut.take<float>(s.rows.pieces->slots * heads * s.problem.k);
        cols_key = cut.take<float>(s.cols.pieces->slots * heads * s.problem.k);
        cols_x = cut.take<float>(s.cols.pieces->slots * heads * s.problem.k);
        bytes = cut.bytes();
    }
};

/// Enqueues one run on operands of type T on the device that is current; there is a translation unit for each of float,
/// Float16 and BFloat16. Throws on a launch error.
template <typename T>
void launch_typed(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::attention_grad_binned

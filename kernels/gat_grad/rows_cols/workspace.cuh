// Where the arrays of a run lie in its workspace.
#pragma once

#include "kernels/common/attention.cuh"
#include "kernels/gat_grad/rows_cols/launch.hpp"

namespace gnntune::gat_grad_rows_cols {

struct Workspace {
    float2* terms;
    kernels::PieceResults rows;
    kernels::PieceResults cols;
    std::size_t bytes;

    Workspace(const State& s, void* base) {
        kernels::WorkspaceCutter cut(base);
        terms = cut.take<float2>(s.csr->m * s.heads);
        rows = {cut.take<kernels::SoftmaxSum>(std::int64_t{s.row_pieces.slots} * s.heads), nullptr};
        cols.sums = cut.take<kernels::SoftmaxSum>(std::int64_t{s.col_pieces.slots} * s.heads);
        cols.values = cut.take<float>(std::int64_t{s.col_pieces.slots} * s.heads * s.k);
        bytes = cut.bytes();
    }
};

}  // namespace gnntune::gat_grad_rows_cols

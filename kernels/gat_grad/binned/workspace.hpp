// Where the arrays of a run lie in its workspace.
#pragma once

#include "kernels/common/attention.hpp"
#include "kernels/gat_grad/binned/launch.hpp"

namespace gnntune::gat_grad_binned {

/// What an edge needs of its row and head.
struct alignas(16) RowTerms {
    float score;
    float lse;
    float mean;  ///< D_i
    float keep;
};

struct Workspace {
    RowTerms* terms;
    float* g;
    float* rows;    ///< of pieces [slots, heads]
    float* cols;    ///< the same
    float* cols_x;  ///< of pieces [slots, heads, k]
    std::size_t bytes;

    Workspace(const State& s, void* base) {
        kernels::WorkspaceCutter cut(base);
        terms = cut.take<RowTerms>(std::int64_t{s.csr->n_rows} * s.heads);
        g = cut.take<float>(s.csr->m * s.heads);
        rows = cut.take<float>(std::int64_t{s.rows.pieces->slots} * s.heads);
        cols = cut.take<float>(std::int64_t{s.cols.pieces->slots} * s.heads);
        cols_x = cut.take<float>(std::int64_t{s.cols.pieces->slots} * s.heads * s.k);
        bytes = cut.bytes();
    }
};

}  // namespace gnntune::gat_grad_binned

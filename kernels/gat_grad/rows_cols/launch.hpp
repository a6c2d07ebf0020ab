#pragma once

#include "kernels/common/attention.hpp"
#include "kernels/common/row_pieces.hpp"
#include "kernels/common/teams.hpp"

namespace gnntune::gat_grad_rows_cols {

struct State {
    std::shared_ptr<const CsrFormat> csr;
    std::shared_ptr<const CsrFormat> csc;
    kernels::RowPieces row_pieces;
    kernels::RowPieces col_pieces;
    kernels::TeamParams params;
    std::int32_t k;
    std::int32_t heads;
    DType dtype;
};

std::size_t workspace_bytes(const State& state);

/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

/// The same for a state whose dtype is T; there is a translation unit for each.
template <typename T>
void launch_typed(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::gat_grad_rows_cols

#pragma once

#include "kernels/common/row_pieces.hpp"

namespace gnntune::edge_softmax_rows {

struct State {
    std::shared_ptr<const CsrFormat> csr;
    kernels::RowPieces pieces;
    int team;
    std::int32_t heads;
    DType dtype;
};

/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::edge_softmax_rows

#pragma once

#include "kernels/common/attention.hpp"
#include "kernels/common/row_pieces.hpp"
#include "kernels/common/teams.hpp"

namespace gnntune::gat_rows {

struct State {
    std::shared_ptr<const CsrFormat> csr;
    kernels::RowPieces pieces;
    kernels::TeamParams params;
    std::int32_t k;
    std::int32_t heads;
};

/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::gat_rows

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
    DType dtype;
};

/// Enqueues one run on operands of type T on the device that is current; there is a translation unit for each of float,
/// Float16 and BFloat16. Throws on a launch error.
template <typename T>
void launch_typed(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::gat_rows

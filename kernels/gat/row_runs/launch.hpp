#pragma once

#include <cstdint>
#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/gat/row_runs/params.hpp"

namespace gnntune::gat_row_runs {

struct State {
    std::shared_ptr<const CsrFormat> csr;
    RowRunsParams params;
    std::int32_t k;
    std::int32_t heads;
    DType dtype;
};

/// Enqueues one run on operands of type T on the device that is current; there is a translation unit for each of float,
/// Float16 and BFloat16. Throws on a launch error.
template <typename T>
void launch_typed(const State& state, const Operands& operands, StreamHandle stream);

}  // namespace gnntune::gat_row_runs

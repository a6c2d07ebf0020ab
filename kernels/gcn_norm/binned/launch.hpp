#pragma once

#include <memory>

#include "core/graph/formats.hpp"
#include "kernels/gcn_norm/binned/params.hpp"

namespace gnntune::gcn_norm_binned {

struct State {
    std::shared_ptr<const CsrFormat> csr;   ///< of the rows, whose edges make degrees
    kernels::BinnedRows rows;               ///< likewise
    std::shared_ptr<const CsrFormat> walk;  ///< the same, or the CSC: in its order edges are weighted
    kernels::BinnedRows walk_rows;
    NormParams params;
    bool weighted;
    DType dtype;
};

std::size_t workspace_bytes(const State& state);

/// Enqueues one run; `workspace` has workspace_bytes(state). Throws on a launch error.
void launch(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::gcn_norm_binned

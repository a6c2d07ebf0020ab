#pragma once

#include <cstdint>
#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/spmm/edges/params.hpp"

namespace gnntune::spmm_edges {

struct State {
    std::shared_ptr<const CsrFormat> csr;
    std::shared_ptr<const CooFormat> coo;  ///< sorted by row: the edges of `csr` in the same order
    EdgesParams params;
    std::int32_t k;
    bool weighted;
    bool mean;
    bool self_loop;
    DType dtype;
};

/// Enqueues one run on operands of type T on the device that is current; there is a translation unit for each of float,
/// Float16 and BFloat16. In 16 bits `workspace` has n_rows * k floats. Throws on a launch error.
template <typename T>
void launch_typed(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::spmm_edges

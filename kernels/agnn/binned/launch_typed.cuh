// launch_typed() for every shape; included by the translation unit of each storage type.
#pragma once

#include "kernels/agnn/binned/launch.hpp"
#include "kernels/common/binned_attend.cuh"
#include "kernels/common/cosines.cuh"

namespace gnntune::agnn_binned {

template <typename T>
void launch_typed(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    kernels::WorkspaceCutter space(workspace);
    const CsrFormat& g = *s.rows.csr;
    float* norms = s.norms(space);
    // Without any edge nobody asks for norms, and x may be a null pointer.
    if (s.stored_norms && g.m > 0) {
        kernels::row_inverse_norms(elements_of<T>(o.x), norms, std::int64_t{g.n_cols} * s.rows.heads, s.rows.k, stream);
    }
    kernels::with_cosines<T>(s.stored_norms, o, norms, [&](const auto& cosines) {
        kernels::launch_binned_attend(s.rows, cosines, {o.x, o.x_row, o.y}, elements_of<T>(o.y), o.lse, space, stream);
    });
}

}  // namespace gnntune::agnn_binned

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
    float* norms = s.norms(space);
    const kernels::Cosines<T> cosines{elements_of<T>(o.x), elements_of<T>(o.x_row), elements_of<T>(o.beta), norms};
    // Without any edge nobody asks for norms, and x may be a null pointer.
    if (norms && s.rows.csr->m > 0) {
        kernels::row_inverse_norms(cosines.x, norms, std::int64_t{s.rows.csr->n_cols} * s.rows.heads, s.rows.k, stream);
    }
    kernels::launch_binned_attend(s.rows, cosines, {o.x, o.x_row, o.y}, elements_of<T>(o.y), o.lse, space, stream);
}

}  // namespace gnntune::agnn_binned

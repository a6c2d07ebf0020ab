// launch_typed() for every shape; included by the translation unit of each storage type.
#pragma once

#include "kernels/agnn/rows/plan.cuh"
#include "kernels/common/cosines.cuh"

namespace gnntune::agnn_rows {

template <typename T>
void launch_typed(const Plan& p, const Operands& o, void* workspace, cudaStream_t stream) {
    const CsrFormat& g = *p.rows.csr;
    kernels::WorkspaceCutter space(workspace);
    const Scratch t = cut(p, space);
    const T* x = elements_of<T>(o.x);
    // Without any edge nobody asks for norms, and x may be a null pointer.
    if (p.stored_norms && g.m > 0) {
        kernels::row_inverse_norms(x, t.inverse_norm, std::int64_t{g.n_cols} * p.rows.heads, p.rows.k, stream);
    }
    kernels::with_cosines<T>(p.stored_norms, o, t.inverse_norm, [&](const auto& cosines) {
        kernels::launch_attend(p.rows, cosines, {o.x, o.x_row, o.y}, elements_of<T>(o.y), o.lse, t.results, stream);
    });
}

}  // namespace gnntune::agnn_rows

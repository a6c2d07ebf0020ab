// launch_typed() for every shape; included by the translation unit of each storage type.
#pragma once

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/host.hpp"
#include "kernels/sddmm/binned/kernel.cuh"
#include "kernels/sddmm/binned/launch.hpp"

namespace gnntune::sddmm_binned {

template <typename T, int VEC, int ITEMS, int RUN>
void launch_shape(const State& s, const Arguments<T>& a, cudaStream_t stream) {
    binned_kernel<T, VEC, ITEMS, RUN><<<s.rows.blocks, static_cast<unsigned>(s.params.shape().threads), 0, stream>>>(a);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T, int VEC>
void launch_vectors(const State& s, const Arguments<T>& a, cudaStream_t stream) {
    switch (10 * s.params.items + s.params.run) {
        case 18:
            return launch_shape<T, VEC, 1, 8>(s, a, stream);
        case 14:
            return launch_shape<T, VEC, 1, 4>(s, a, stream);
        case 28:
            return launch_shape<T, VEC, 2, 8>(s, a, stream);
        case 24:
            return launch_shape<T, VEC, 2, 4>(s, a, stream);
        default:
            return launch_shape<T, VEC, 4, 4>(s, a, stream);
    }
}

template <typename T>
void launch_typed(const State& s, const Operands& o, cudaStream_t stream) {
    if (s.rows.blocks == 0) return;
    const CsrFormat& g = *s.csr;
    Arguments<T> a{};
    a.rows = kernels::view_of(s.rows, g);
    a.col_idx = g.col_idx;
    a.edge_id = g.edge_id;
    a.edge_weight = s.weighted ? elements_of<T>(o.edge_weight) : nullptr;
    a.x_row = elements_of<T>(o.x_row);
    a.x = elements_of<T>(o.x);
    a.y = elements_of<T>(o.y);
    a.m = g.m;
    a.k = s.k;
    a.lanes = s.params.lanes;
    a.ids_aligned = kernels::aligned_to_four(g.col_idx);
    // Params promise what k allows; the pointers of this run may allow less.
    switch (kernels::vector_width(s.k, {o.x, o.x_row}, s.params.vec, sizeof(T))) {
        case 8:
            if constexpr (sizeof(T) == 2) launch_vectors<T, 8>(s, a, stream);
            break;
        case 4:
            launch_vectors<T, 4>(s, a, stream);
            break;
        case 2:
            launch_vectors<T, 2>(s, a, stream);
            break;
        default:
            launch_vectors<T, 1>(s, a, stream);
    }
}

}  // namespace gnntune::sddmm_binned

// launch_typed() for every shape; included by the translation unit of each storage type.
#pragma once

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/host.hpp"
#include "kernels/sddmm/edges/kernel.cuh"
#include "kernels/sddmm/edges/launch.hpp"

namespace gnntune::sddmm_edges {

template <typename T, int VEC, int UNROLL>
void launch_shape(const Arguments<T>& a, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(kernels::ceil_div(a.m, std::int64_t{kThreads / a.lanes} * UNROLL));
    edges_kernel<T, VEC, UNROLL><<<blocks, kThreads, 0, stream>>>(a);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T, int VEC>
void launch_unroll(const Arguments<T>& a, int unroll, cudaStream_t stream) {
    switch (unroll) {
        case 4:
            return launch_shape<T, VEC, 4>(a, stream);
        case 2:
            return launch_shape<T, VEC, 2>(a, stream);
        default:
            return launch_shape<T, VEC, 1>(a, stream);
    }
}

template <typename T>
void launch_typed(const CooFormat& g, const EdgesParams& p, std::int32_t k, bool weighted, const Operands& o,
                  cudaStream_t stream) {
    Arguments<T> a{};
    a.row_idx = g.row_idx;
    a.col_idx = g.col_idx;
    a.edge_id = g.edge_id;
    a.edge_weight = weighted ? elements_of<T>(o.edge_weight) : nullptr;
    a.x_row = elements_of<T>(o.x_row);
    a.x = elements_of<T>(o.x);
    a.y = elements_of<T>(o.y);
    a.m = g.m;
    a.k = k;
    a.lanes = p.lanes;
    a.ids_aligned = kernels::aligned_to_four(g.row_idx) && kernels::aligned_to_four(g.col_idx);
    // Params promise what k allows; the pointers of this run may allow less.
    switch (kernels::vector_width(k, {o.x, o.x_row}, p.vec, sizeof(T))) {
        case 8:
            if constexpr (sizeof(T) == 2) launch_unroll<T, 8>(a, p.unroll, stream);
            return;
        case 4:
            return launch_unroll<T, 4>(a, p.unroll, stream);
        case 2:
            return launch_unroll<T, 2>(a, p.unroll, stream);
        default:
            return launch_unroll<T, 1>(a, p.unroll, stream);
    }
}

}  // namespace gnntune::sddmm_edges

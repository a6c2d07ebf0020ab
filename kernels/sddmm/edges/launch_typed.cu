// launch_typed() for every shape; instantiated for each storage type.
#include "kernels/common/storage.hpp"
#include "kernels/sddmm/common/edge_dots.cuh"
#include "kernels/sddmm/edges/heads.cuh"
#include "kernels/sddmm/edges/launch.hpp"

namespace gnntune::sddmm_edges {

template <typename T, int VEC>
void launch_unroll(const kernels::EdgeDots<T>& a, int unroll, cudaStream_t stream) {
    switch (unroll) {
        case 4:
            return kernels::launch_edge_dots<VEC, 4>(a, stream);
        case 2:
            return kernels::launch_edge_dots<VEC, 2>(a, stream);
        default:
            return kernels::launch_edge_dots<VEC, 1>(a, stream);
    }
}

template <typename T, int VEC>
void launch_heads(const HeadDots<T>& a, int unroll, cudaStream_t stream) {
    if (unroll == 4) return launch_head_dots<VEC, 4>(a, stream);
    launch_head_dots<VEC, 1>(a, stream);
}

template <typename T>
void launch_typed(const CooFormat& g, const EdgesParams& p, std::int32_t k, std::int32_t heads, bool weighted,
                  const Operands& o, cudaStream_t stream) {
    kernels::EdgeDots<T> a{};
    a.row_idx = g.row_idx;
    a.col_idx = g.col_idx;
    a.edge_id = g.edge_id;
    a.edge_weight = weighted ? elements_of<T>(o.edge_weight) : nullptr;
    a.x_row = elements_of<T>(o.x_row);
    a.x = elements_of<T>(o.x);
    a.y = elements_of<T>(o.y);
    a.epilogue = kernels::EdgeEpilogue(o);
    a.m = g.m;
    a.k = k;
    a.lanes = p.lanes;
    a.ids_aligned = kernels::aligned_to_four(g.row_idx) && kernels::aligned_to_four(g.col_idx);
    // Params promise what k allows; the pointers of this run may allow less.
    const int vec = kernels::vector_width(k, {o.x, o.x_row}, p.vec, sizeof(T));
    if (heads > 1) {
        const HeadDots<T> with_heads(a, heads);
        kernels::with_vector<T>(vec, [&]<int VEC>(std::integral_constant<int, VEC>) {
            launch_heads<T, VEC>(with_heads, p.unroll, stream);
        });
        return;
    }
    kernels::with_vector<T>(
        vec, [&]<int VEC>(std::integral_constant<int, VEC>) { launch_unroll<T, VEC>(a, p.unroll, stream); });
}

template void launch_typed<float>(const CooFormat&, const EdgesParams&, std::int32_t, std::int32_t, bool,
                                  const Operands&, cudaStream_t);
template void launch_typed<Float16>(const CooFormat&, const EdgesParams&, std::int32_t, std::int32_t, bool,
                                    const Operands&, cudaStream_t);
template void launch_typed<BFloat16>(const CooFormat&, const EdgesParams&, std::int32_t, std::int32_t, bool,
                                     const Operands&, cudaStream_t);

}  // namespace gnntune::sddmm_edges

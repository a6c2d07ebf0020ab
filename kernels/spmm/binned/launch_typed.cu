// launch_typed() for every shape; instantiated for each storage type.
#include "kernels/common/merge_rows.cuh"
#include "kernels/common/storage.hpp"
#include "kernels/common/tiles.hpp"
#include "kernels/spmm/binned/kernel.cuh"
#include "kernels/spmm/binned/launch.hpp"

namespace gnntune::spmm_binned {

template <typename T, int VEC, int ITEMS>
void launch_shape(const Plan& p, const Arguments<T>& a, cudaStream_t stream) {
    const dim3 grid(p.rows.blocks,
                    static_cast<unsigned>(kernels::ceil_div(p.k, kernels::tile_width(p.params.lanes, ITEMS, VEC))));
    using enum Weights;
    auto* plain =
        p.weighted ? &binned_kernel<T, VEC, ITEMS, of_edges, false> : &binned_kernel<T, VEC, ITEMS, none, false>;
    auto* looped =
        p.weighted ? &binned_kernel<T, VEC, ITEMS, of_edges, true> : &binned_kernel<T, VEC, ITEMS, none, true>;
    auto* kernel = p.heads > 1 ? &binned_kernel<T, VEC, ITEMS, of_heads, true> : p.self_loop ? looped : plain;
    const int teams_of_warps = p.rows.has_teams_of_warps() ? 1 : 0;
    const auto shared = static_cast<std::size_t>(teams_of_warps * p.params.warps_per_block * p.params.lanes * ITEMS) *
                        sizeof(kernels::Vec<VEC>);
    kernel<<<grid, static_cast<unsigned>(p.params.threads()), shared, stream>>>(a);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T, int VEC>
void launch_items(const Plan& p, const Arguments<T>& a, cudaStream_t stream) {
    if (p.params.items == 2) {
        launch_shape<T, VEC, 2>(p, a, stream);
    } else {
        launch_shape<T, VEC, 1>(p, a, stream);
    }
}

template <typename T>
void launch_typed(const Plan& p, const Operands& o, void* workspace, cudaStream_t stream) {
    if (p.rows.blocks == 0) return;
    const CsrFormat& g = *p.csr;
    Arguments<T> a{};
    a.rows = kernels::view_of(p.rows, g);
    a.edges = kernels::edges_of(g, elements_of<T>(o.edge_weight));
    a.self.weight = p.self_loop ? elements_of<T>(o.self_weight) : nullptr;
    a.x = elements_of<T>(o.x);
    a.y = elements_of<T>(o.y);
    a.partial = static_cast<float*>(workspace);
    a.k = p.k;
    a.lanes = p.params.lanes;
    a.mean = p.mean;
    a.heads = p.heads;
    a.head_k = p.k / p.heads;
    // Params promise what k allows; the pointers of this run may allow less.
    const int vec = kernels::vector_width(p.k, {o.x, o.y}, p.params.vec, sizeof(T));
    kernels::with_vector<T>(vec,
                            [&]<int VEC>(std::integral_constant<int, VEC>) { launch_items<T, VEC>(p, a, stream); });
    kernels::launch_merge_rows(*p.rows.pieces, {p.mean ? g.row_ptr : nullptr, p.self_loop}, a.partial, a.y, p.k,
                               stream);
}

template void launch_typed<float>(const Plan&, const Operands&, void*, cudaStream_t);
template void launch_typed<Float16>(const Plan&, const Operands&, void*, cudaStream_t);
template void launch_typed<BFloat16>(const Plan&, const Operands&, void*, cudaStream_t);

}  // namespace gnntune::spmm_binned

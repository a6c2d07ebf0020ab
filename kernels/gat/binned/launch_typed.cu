// launch_typed() for every shape; instantiated for each storage type.
#include "kernels/gat/binned/kernel.cuh"
#include "kernels/gat/binned/launch.hpp"

namespace gnntune::gat_binned {

template <typename T, int VEC, int RUN, bool TOGETHER>
void launch_shape(const State& s, const Arguments<T>& a, cudaStream_t stream) {
    const int threads = s.params.shape().threads;
    const dim3 grid(s.rows.blocks, static_cast<unsigned>(ceil_div(std::int64_t{s.k} * s.heads, a.lanes * VEC)));
    const int warps = s.rows.has_teams_of_warps() ? threads / 32 : 0;
    const std::size_t shared = static_cast<std::size_t>(warps * a.lanes * running_slot(VEC, 1)) * sizeof(float);
    auto* kernel = a.scores.dropout.probability > 0.0F ? &binned_kernel<T, VEC, RUN, true, TOGETHER>
                                                       : &binned_kernel<T, VEC, RUN, false, TOGETHER>;
    kernel<<<grid, static_cast<unsigned>(threads), shared, stream>>>(a);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T, int RUN>
void launch_run(const State& s, const Arguments<T>& a, int vec, cudaStream_t stream) {
    constexpr int kWidest = static_cast<int>(16 / sizeof(T));
    if (vec == kWidest) {
        if (s.k % (RUN * kWidest) == 0 && a.lanes >= RUN) {
            launch_shape<T, kWidest, RUN, true>(s, a, stream);
        } else {
            launch_shape<T, kWidest, RUN, false>(s, a, stream);
        }
        return;
    }
    switch (vec) {
        case 4:
            return launch_shape<T, 4, RUN, false>(s, a, stream);
        case 2:
            return launch_shape<T, 2, RUN, false>(s, a, stream);
        default:
            return launch_shape<T, 1, RUN, false>(s, a, stream);
    }
}

template <typename T>
void launch_typed(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    if (s.rows.blocks == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const CsrFormat& g = *s.csr;
    Arguments<T> a{};
    a.rows = view_of(s.rows, g);
    a.col_idx = g.col_idx;
    a.edge_id = g.edge_id;
    a.scores = gat_scores<T>(o, s.heads);
    a.x = elements_of<T>(o.x);
    a.y = elements_of<T>(o.y);
    a.lse = o.lse;
    a.partial = cut_piece_results(workspace, s.rows.pieces->slots, s.heads, s.k);
    a.m = g.m;
    a.k = s.k;
    a.lanes = s.params.lanes;
    a.ids_aligned = aligned_to_four(g.col_idx);
    // Params promise what k allows; the pointers of this run may allow less.
    const int vec = vector_width(s.k, {o.x, o.y}, s.params.vec, sizeof(T));
    if (s.params.run == 4) {
        launch_run<T, 4>(s, a, vec, stream);
    } else {
        launch_run<T, 8>(s, a, vec, stream);
    }
    launch_merge_pieces(*s.rows.pieces, a.partial, a.y, o.lse, s.heads, s.k, true, stream);
}

template void launch_typed<float>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<Float16>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<BFloat16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::gat_binned

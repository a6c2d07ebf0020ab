#include "kernels/gat/binned/launch.hpp"

#include "kernels/gat/binned/kernel.cuh"

namespace gnntune::gat_binned {
namespace {

template <int VEC, int RUN, bool TOGETHER>
void launch_shape(const State& s, const Arguments& a, cudaStream_t stream) {
    const int threads = s.params.shape().threads;
    const dim3 grid(s.rows.blocks, static_cast<unsigned>(ceil_div(std::int64_t{s.k} * s.heads, a.lanes * VEC)));
    const int warps = s.rows.has_teams_of_warps() ? threads / 32 : 0;
    const std::size_t shared = static_cast<std::size_t>(warps * a.lanes * (2 + VEC)) * sizeof(float);
    auto* kernel =
        a.scores.dropout > 0.0F ? &binned_kernel<VEC, RUN, true, TOGETHER> : &binned_kernel<VEC, RUN, false, TOGETHER>;
    kernel<<<grid, static_cast<unsigned>(threads), shared, stream>>>(a);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <int RUN>
void launch_run(const State& s, const Arguments& a, int vec, cudaStream_t stream) {
    switch (vec) {
        case 4:
            if (s.k % (RUN * 4) == 0 && a.lanes >= RUN) {
                launch_shape<4, RUN, true>(s, a, stream);
            } else {
                launch_shape<4, RUN, false>(s, a, stream);
            }
            break;
        case 2:
            launch_shape<2, RUN, false>(s, a, stream);
            break;
        default:
            launch_shape<1, RUN, false>(s, a, stream);
    }
}

}  // namespace

void launch(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    if (s.rows.blocks == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const CsrFormat& g = *s.csr;
    Arguments a{};
    a.rows = view_of(s.rows, g);
    a.col_idx = g.col_idx;
    a.edge_id = g.edge_id;
    a.scores = gat_scores(o, s.heads);
    a.x = o.x;
    a.y = o.y;
    a.lse = o.lse;
    a.partial = cut_piece_results(workspace, s.rows.pieces.slots, s.heads, s.k);
    a.m = g.m;
    a.k = s.k;
    a.lanes = s.params.lanes;
    a.ids_aligned = aligned_to_four(g.col_idx);
    // Params promise what k allows; the pointers of this run may allow less.
    const int vec = vector_width(s.k, {o.x, o.y}, s.params.vec);
    if (s.params.run == 4) {
        launch_run<4>(s, a, vec, stream);
    } else {
        launch_run<8>(s, a, vec, stream);
    }
    launch_merge_pieces(s.rows.pieces, a.partial, o.y, o.lse, s.heads, s.k, true, stream);
}

}  // namespace gnntune::gat_binned

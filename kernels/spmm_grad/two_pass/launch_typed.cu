// spmm_grad.two_pass, first pass: dot products of edges (kernels/common/edge_dots.cuh), and each edge's weight put where
// the second pass, an spmm on the column graph, reads it in order.
//
//   grad_edge_weight[e] = <grad_y[row_e, :], x[col_e, :]>       placed[place[e]] = edge_weight[e]
//   grad_self_weight[i] = <grad_y[i, :], x[i, :]>               a kernel of its own (kernels/common/self_loop.cuh)
//   grad_x[j, :]        = sum over edges e with source j of w_e grad_y[row_e, :] (+ self_weight[j] grad_y[j, :])
//                                                               second pass
#include "kernels/common/edge_dots.cuh"
#include "kernels/common/self_loop.cuh"
#include "kernels/common/storage.hpp"
#include "kernels/spmm_grad/two_pass/launch.hpp"

namespace gnntune::spmm_grad_two_pass {
namespace {

/// Edges of a group where there is much to do; else each has one to itself (kernels/sddmm/edges/README.md).
constexpr double kMuchWork = 3e6;

template <typename T, int VEC, bool PLACES>
void launch_unroll(const kernels::EdgeDots<T>& a, cudaStream_t stream) {
    if (static_cast<double>(a.m) * a.k < kMuchWork) return kernels::launch_edge_dots<VEC, 1, PLACES>(a, stream);
    kernels::launch_edge_dots<VEC, 4, PLACES>(a, stream);
}

template <typename T>
void launch_typed(const State& s, const Operands& o, T* placed, cudaStream_t stream) {
    const CooFormat& g = *s.coo;
    if (g.m > 0) {
        kernels::EdgeDots<T> a{};
        a.row_idx = g.row_idx;
        a.col_idx = g.col_idx;
        a.edge_id = g.edge_id;
        a.x_row = elements_of<T>(o.grad_y);
        a.x = elements_of<T>(o.x);
        a.y = elements_of<T>(o.grad_edge_weight);
        a.m = g.m;
        a.k = s.k;
        a.ids_aligned = kernels::aligned_to_four(g.row_idx) && kernels::aligned_to_four(g.col_idx);
        const int vec = kernels::vector_width(s.k, {o.x, o.grad_y}, static_cast<int>(16 / sizeof(T)), sizeof(T));
        a.lanes = kernels::edge_dot_lanes(s.k, vec);
        if (placed) {
            a.place = s.columns->place.data();
            a.place_from = elements_of<T>(o.edge_weight);
            a.placed = placed;
        }
        kernels::with_vector<T>(vec, [&]<int VEC>(std::integral_constant<int, VEC>) {
            if (placed) {
                launch_unroll<T, VEC, true>(a, stream);
            } else {
                launch_unroll<T, VEC, false>(a, stream);
            }
        });
    }
    if (s.self_loop) {
        kernels::enqueue_self_loops<T>({.in = elements_of<T>(o.grad_y),
                                        .other = elements_of<T>(o.x),
                                        .dot = elements_of<T>(o.grad_self_weight),
                                        .n = g.n_rows,
                                        .k = s.k},
                                       stream);
    }
}

}  // namespace

void launch_dots(const State& s, const Operands& o, void* placed, StreamHandle stream) {
    kernels::with_storage(s.dtype, [&]<typename T>(std::type_identity<T>) {
        launch_typed<T>(s, o, static_cast<T*>(placed), static_cast<cudaStream_t>(stream));
    });
}

}  // namespace gnntune::spmm_grad_two_pass

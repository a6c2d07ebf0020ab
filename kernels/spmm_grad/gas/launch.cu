#include "kernels/spmm_grad/gas/launch.hpp"

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/self_loop.cuh"
#include "kernels/spmm_grad/gas/kernel.cuh"

namespace gnntune::spmm_grad_gas {

void launch(const State& s, const Operands& o, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const CooFormat& g = *s.graph;
    if (s.self_loop) {
        kernels::enqueue_self_loops<float>({.self_weight = o.self_weight,
                                            .in = o.grad_y,
                                            .out = o.grad_x,
                                            .other = o.x,
                                            .dot = o.grad_self_weight,
                                            .n = g.n_rows,
                                            .k = s.k},
                                           stream);
    } else if (g.n_cols > 0) {
        const std::size_t bytes = static_cast<std::size_t>(g.n_cols) * static_cast<std::size_t>(s.k) * sizeof(float);
        GNNTUNE_CUDA(cudaMemsetAsync(o.grad_x, 0, bytes, stream));
    }
    if (g.m == 0) return;
    const int threads = s.params.block_size;
    const auto blocks = static_cast<unsigned>(kernels::ceil_div(g.m, kernels::edges_per_block(s.k, threads)));
    const kernels::Scatter scatter{g.row_idx, g.col_idx, g.edge_id, s.weighted ? o.edge_weight : nullptr,
                                   o.grad_y,  o.grad_x,  g.m,       s.k};
    if (s.weighted) {
        gas_grad_kernel<<<blocks, static_cast<unsigned>(threads), shared_bytes(s.k, threads), stream>>>(
            scatter, o.x, o.grad_edge_weight);
    } else {
        gas_kernel<<<blocks, static_cast<unsigned>(threads), 0, stream>>>(scatter);
    }
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::spmm_grad_gas

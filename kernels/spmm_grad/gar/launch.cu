#include "kernels/spmm_grad/gar/launch.hpp"

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/self_loop.cuh"
#include "kernels/spmm_grad/gar/kernel.cuh"

namespace gnntune::spmm_grad_gar {

void launch(const State& s, const Operands& o, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const CsrFormat& csc = *s.graph;
    if (csc.n_rows == 0) return;
    const int threads = s.params.block_size;
    const auto blocks = static_cast<unsigned>(csc.n_rows);
    const kernels::Gather gather{csc.row_ptr,
                                 csc.col_idx,
                                 csc.edge_id,
                                 s.weighted ? o.edge_weight : nullptr,
                                 s.self_loop ? o.self_weight : nullptr,
                                 o.grad_y,
                                 o.grad_x,
                                 s.k,
                                 false};
    if (s.weighted) {
        gar_grad_kernel<<<blocks, static_cast<unsigned>(threads), shared_bytes(s.k, threads), stream>>>(
            gather, {o.x, o.grad_edge_weight, s.self_loop ? o.grad_self_weight : nullptr});
        GNNTUNE_CUDA(cudaGetLastError());
        return;
    }
    gar_kernel<<<blocks, static_cast<unsigned>(threads), kernels::gar_shared_bytes(s.k, threads), stream>>>(gather);
    GNNTUNE_CUDA(cudaGetLastError());
    if (s.self_loop) {
        kernels::enqueue_self_loops<float>(
            {.in = o.grad_y, .other = o.x, .dot = o.grad_self_weight, .n = csc.n_rows, .k = s.k}, stream);
    }
}

}  // namespace gnntune::spmm_grad_gar

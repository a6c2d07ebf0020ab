#include "kernels/spmm/gar/launch.hpp"

#include "core/gpu/cuda_check.hpp"
#include "kernels/spmm/gar/kernel.cuh"

namespace gnntune::spmm_gar {

void launch(const State& s, const Operands& o, StreamHandle stream) {
    const CsrFormat& g = *s.graph;
    if (g.n_rows == 0) return;
    const kernels::Gather gather{g.row_ptr,
                                 g.col_idx,
                                 g.edge_id,
                                 s.weighted ? o.edge_weight : nullptr,
                                 s.self_loop ? o.self_weight : nullptr,
                                 o.x,
                                 o.y,
                                 s.k,
                                 s.mean};
    const int threads = s.params.block_size;
    gar_kernel<<<static_cast<unsigned>(g.n_rows), static_cast<unsigned>(threads),
                 kernels::gar_shared_bytes(s.k, threads), static_cast<cudaStream_t>(stream)>>>(gather);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::spmm_gar

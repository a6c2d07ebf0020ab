#include "core/gpu/cuda_check.hpp"
#include "kernels/spmm/gar/kernel.cuh"
#include "kernels/spmm/gar/launch.hpp"

namespace gnntune::spmm_gar {

void launch(const CsrFormat& g, int block_size, std::int32_t k, bool weighted, bool mean,
            const Operands& o, StreamHandle stream_handle) {
    if (g.n_rows == 0) return;
    const std::size_t shared = k < block_size ? static_cast<std::size_t>(block_size) * sizeof(float) : 0;
    gar_kernel<<<static_cast<unsigned>(g.n_rows), static_cast<unsigned>(block_size), shared,
                 static_cast<cudaStream_t>(stream_handle)>>>(g.row_ptr, g.col_idx, g.edge_id,
                                                             weighted ? o.edge_weight : nullptr, o.x, o.y, k, mean);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::spmm_gar

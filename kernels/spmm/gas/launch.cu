#include "core/gpu/cuda_check.hpp"
#include "kernels/common/host.hpp"
#include "kernels/spmm/gas/kernel.cuh"
#include "kernels/spmm/gas/launch.hpp"

namespace gnntune::spmm_gas {

void launch(const CooFormat& g, int block_size, std::int32_t k, bool weighted, const Operands& o,
            StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const std::size_t bytes = static_cast<std::size_t>(g.n_rows) * static_cast<std::size_t>(k) * sizeof(float);
    if (bytes > 0) GNNTUNE_CUDA(cudaMemsetAsync(o.y, 0, bytes, stream));
    if (g.m == 0) return;
    const auto blocks = static_cast<unsigned>(kernels::ceil_div(g.m, k < block_size ? block_size / k : 1));
    gas_kernel<<<blocks, static_cast<unsigned>(block_size), 0, stream>>>(
        g.row_idx, g.col_idx, g.edge_id, weighted ? o.edge_weight : nullptr, o.x, o.y, g.m, k);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::spmm_gas

#include "kernels/spmm/gas/launch.hpp"

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/self_loop.cuh"
#include "kernels/spmm/gas/kernel.cuh"

namespace gnntune::spmm_gas {

void launch(const State& s, const Operands& o, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const CooFormat& g = *s.graph;
    if (s.self_loop) {
        kernels::enqueue_self_loops<float>(
            {.self_weight = o.self_weight, .in = o.x, .out = o.y, .n = g.n_rows, .k = s.k}, stream);
    } else if (g.n_rows > 0) {
        const std::size_t bytes = static_cast<std::size_t>(g.n_rows) * static_cast<std::size_t>(s.k) * sizeof(float);
        GNNTUNE_CUDA(cudaMemsetAsync(o.y, 0, bytes, stream));
    }
    if (g.m == 0) return;
    const int threads = s.params.block_size;
    const auto blocks = static_cast<unsigned>(kernels::ceil_div(g.m, kernels::edges_per_block(s.k, threads)));
    gas_kernel<<<blocks, static_cast<unsigned>(threads), 0, stream>>>(
        {g.col_idx, g.row_idx, g.edge_id, s.weighted ? o.edge_weight : nullptr, o.x, o.y, g.m, s.k});
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::spmm_gas

#include "kernels/gcn_norm/gas/launch.hpp"

#include <algorithm>

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/host.hpp"
#include "kernels/gcn_norm/gas/kernel.cuh"

namespace gnntune::gcn_norm_gas {

std::size_t workspace_bytes(const State& s) {
    return static_cast<std::size_t>(s.graph->n_rows) * (s.weighted ? sizeof(double) : sizeof(std::uint32_t));
}

void launch(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    const CooFormat& g = *s.graph;
    if (g.n_rows == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const Arrays arrays{g.row_idx, g.col_idx, g.edge_id, s.weighted ? o.edge_weight : nullptr, workspace, o.y,
                        o.y_self,  g.n_rows,  g.m};
    const std::int64_t threads = s.params.block_size;
    const auto blocks = [&](std::int64_t count) { return static_cast<unsigned>(kernels::ceil_div(count, threads)); };
    GNNTUNE_CUDA(cudaMemsetAsync(workspace, 0, workspace_bytes(s), stream));
    if (g.m > 0) {
        scatter_kernel<<<blocks(g.m), static_cast<unsigned>(threads), 0, stream>>>(arrays);
        GNNTUNE_CUDA(cudaGetLastError());
    }
    const std::int64_t units = std::max<std::int64_t>(g.m, g.n_rows);
    weights_kernel<<<blocks(units), static_cast<unsigned>(threads), 0, stream>>>(arrays);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::gcn_norm_gas

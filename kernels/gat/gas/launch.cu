#include "kernels/gat/gas/launch.hpp"

#include "kernels/gat/gas/kernel.cuh"

namespace gnntune::gat_gas {

using namespace kernels;

void launch(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const CooFormat& g = *s.coo;
    const std::int64_t units = std::int64_t{g.n_rows} * s.heads;
    WorkspaceCutter cut(workspace);
    const RowSums rows(cut.take<std::uint32_t>(3 * units), units);
    auto* p = cut.take<float>(g.m * s.heads);
    const auto threads = static_cast<unsigned>(s.block_size);
    const GatSoftmax softmax{gat_scores<float>(o, s.heads)};
    launch_edge_passes(g, s.heads, softmax, softmax, rows, p, s.block_size, stream);
    if (units > 0) {
        GNNTUNE_CUDA(cudaMemsetAsync(o.y, 0, static_cast<std::size_t>(units * s.k) * sizeof(float), stream));
        if (o.lse) {
            write_lse<<<static_cast<unsigned>(ceil_div(units, s.block_size)), threads, 0, stream>>>(
                rows.keys, rows.sums, o.lse, units);
        }
    }
    if (g.m > 0) {
        const int width = s.heads * s.k;
        const auto blocks = static_cast<unsigned>(ceil_div(g.m, width < s.block_size ? s.block_size / width : 1));
        scatter_kernel<<<blocks, threads, 0, stream>>>(edge_list(g, s.heads), p, o.x, o.y, s.k);
    }
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::gat_gas

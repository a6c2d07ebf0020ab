#include "kernels/gat/gar/launch.hpp"

#include "kernels/gat/gar/kernel.cuh"

namespace gnntune::gat_gar {

using namespace kernels;

void launch(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    const CsrFormat& g = *s.csr;
    if (g.n_rows == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const std::int64_t units = std::int64_t{g.n_rows} * s.heads;
    WorkspaceCutter cut(workspace);
    const RowSums rows(cut.take<std::uint32_t>(3 * units), units);
    auto* p = cut.take<float>(g.m * s.heads);
    const auto threads = static_cast<unsigned>(s.block_size);
    const GatSoftmax softmax{gat_scores<float>(o, s.heads)};
    launch_edge_passes(*s.coo, s.heads, softmax, softmax, rows, p, s.block_size, stream);
    if (o.lse) {
        write_lse<<<static_cast<unsigned>(ceil_div(units, s.block_size)), threads, 0, stream>>>(rows.keys, rows.sums,
                                                                                                o.lse, units);
    }
    const std::size_t shared = s.heads * s.k < s.block_size ? threads * sizeof(float) : 0;
    reduce_kernel<<<static_cast<unsigned>(g.n_rows), threads, shared, stream>>>(g.row_ptr, g.col_idx, g.edge_id, p, o.x,
                                                                                o.y, s.k, s.heads);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::gat_gar

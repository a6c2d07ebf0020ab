#include "kernels/gcn_norm/rows/launch.hpp"

#include <algorithm>

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/gcn_norm/rows/kernel.cuh"

namespace gnntune::gcn_norm_rows {
namespace {

template <typename T>
void launch_typed(const State& s, const Operands& o, void* workspace, cudaStream_t stream) {
    const CsrFormat& g = *s.graph;
    if (g.n_rows == 0) return;
    const bool two = s.params.kernels == 2;
    const Arrays<T> arrays{g.row_ptr,
                           g.col_idx,
                           g.edge_id,
                           s.weighted ? elements_of<T>(o.edge_weight) : nullptr,
                           two ? static_cast<float*>(workspace) : nullptr,
                           elements_of<T>(o.y),
                           elements_of<T>(o.y_self),
                           g.n_rows,
                           g.m};
    if (two) {
        const int lanes = s.weighted ? s.params.lanes : 1;
        const auto blocks = static_cast<unsigned>(kernels::ceil_div(g.n_rows, kThreads / lanes));
        if (s.weighted) {
            sum_degrees_kernel<<<blocks, kThreads, 0, stream>>>(arrays, lanes);
        } else {
            count_degrees_kernel<<<blocks, kThreads, 0, stream>>>(arrays);
        }
        GNNTUNE_CUDA(cudaGetLastError());
        if (g.m == 0) return;
    }
    // The only kernel also writes one value per row.
    const std::int64_t units = two ? g.m : std::max<std::int64_t>(g.m, g.n_rows);
    const auto blocks = static_cast<unsigned>(edge_walk::grid_blocks(units, s.multiprocessors));
    weights_kernel<<<blocks, edge_walk::kThreadsPerBlock, 0, stream>>>(arrays);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace

void launch(const State& s, const Operands& o, void* workspace, StreamHandle stream) {
    kernels::with_storage(s.dtype, [&]<typename T>(std::type_identity<T>) {
        launch_typed<T>(s, o, workspace, static_cast<cudaStream_t>(stream));
    });
}

}  // namespace gnntune::gcn_norm_rows

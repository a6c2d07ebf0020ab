#include "kernels/spmm/max_rows/launch.hpp"

#include <algorithm>

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/host.hpp"
#include "kernels/spmm/max_rows/kernel.cuh"

namespace gnntune::spmm_max_rows {

void launch(const State& s, const Operands& o, StreamHandle stream) {
    const CsrFormat& g = *s.graph;
    if (g.n_rows == 0) return;
    const int wide = s.params.wide(s.k);
    const int rows = s.params.rows(s.k);
    const dim3 grid(static_cast<unsigned>(kernels::ceil_div(g.n_rows, rows)),
                    static_cast<unsigned>(std::min(kernels::kMaxGridY, kernels::ceil_div(s.k, wide))));
    max_rows_kernel<<<grid, dim3(static_cast<unsigned>(wide), static_cast<unsigned>(rows)), 0,
                      static_cast<cudaStream_t>(stream)>>>(
        g.row_ptr, g.col_idx, g.edge_id, s.weighted ? o.edge_weight : nullptr, o.x, o.y, o.argmax, g.n_rows, s.k);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::spmm_max_rows

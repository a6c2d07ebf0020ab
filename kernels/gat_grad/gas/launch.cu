#include "kernels/gat_grad/gas/launch.hpp"

#include "kernels/common/row_dots.cuh"
#include "kernels/gat_grad/gas/kernel.cuh"

namespace gnntune::gat_grad_gas {

using namespace kernels;

void launch(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const CooFormat& g = *s.coo;
    auto* mean = static_cast<float*>(workspace);
    const auto zero = [&](float* p, std::int64_t count) {
        if (count > 0) GNNTUNE_CUDA(cudaMemsetAsync(p, 0, static_cast<std::size_t>(count) * sizeof(float), stream));
    };
    zero(o.grad_x, std::int64_t{g.n_cols} * s.heads * s.k);
    zero(o.grad_score_row, std::int64_t{g.n_rows} * s.heads);
    zero(o.grad_score_col, std::int64_t{g.n_cols} * s.heads);
    if (g.m == 0) return;
    row_dots(o.grad_y, o.y_saved, mean, std::int64_t{g.n_rows} * s.heads, s.k, stream);
    const int lanes = std::min(32, next_power_of_two(s.k));
    const auto blocks = static_cast<unsigned>(ceil_div(g.m * s.heads, s.block_size / lanes));
    grad_kernel<<<blocks, static_cast<unsigned>(s.block_size), 0, stream>>>(
        edge_list(g, s.heads), gat_scores<float>(o, s.heads), o.x, o.grad_y, o.lse_saved, mean,
        {o.grad_x, o.grad_score_row, o.grad_score_col}, s.k, lanes);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::gat_grad_gas

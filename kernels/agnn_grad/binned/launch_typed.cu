// launch_typed(); instantiated for each storage type.
#include "kernels/agnn_grad/binned/kernel.cuh"
#include "kernels/agnn_grad/common/head_sums.cuh"

namespace gnntune::agnn_grad_binned {

template <typename T>
void launch_typed(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const Workspace w(s, workspace);
    const std::int32_t heads = s.problem.heads;
    GatherPass<T> rows{};
    rows.own[0] = elements_of<T>(o.x_row);
    rows.own[1] = elements_of<T>(o.grad_y);
    rows.gathered[0] = elements_of<T>(o.x);
    rows.sums[0] = elements_of<T>(o.grad_x_row);
    rows.partial[0] = w.rows;
    rows.block_sums = w.block_beta;
    const RowEdges<T> row_edges{
        s.csr->edge_id, elements_of<T>(o.y_saved), elements_of<T>(o.beta), o.lse_saved, w.weights, heads};
    launch_gather_pass(*s.csr, s.rows, s.params, s.problem, rows, row_edges, stream);
    GatherPass<T> cols{};
    cols.own[0] = elements_of<T>(o.x);
    cols.gathered[0] = elements_of<T>(o.x_row);
    cols.gathered[1] = elements_of<T>(o.grad_y);
    cols.sums[0] = elements_of<T>(o.grad_x);
    cols.partial[0] = w.cols;
    const ColumnEdges<T> col_edges{s.csc->edge_id, w.weights, heads};
    launch_gather_pass(*s.csc, s.cols, s.params.other(s.problem), s.problem, cols, col_edges, stream);
    few_head_sums(w.block_beta, s.rows.blocks, heads, w.partial_beta, elements_of<T>(o.grad_beta), stream);
}

template void launch_typed<float>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<Float16>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<BFloat16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::agnn_grad_binned

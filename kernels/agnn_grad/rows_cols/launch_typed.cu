// launch_typed() for every shape; instantiated for each storage type.
#include "kernels/agnn_grad/common/head_sums.cuh"
#include "kernels/agnn_grad/rows_cols/kernel.cuh"
#include "kernels/agnn_grad/rows_cols/launch.hpp"

namespace gnntune::agnn_grad_rows_cols {

template <typename T>
void launch_typed(const kernels::TwoPassPlan& p, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    kernels::WorkspaceCutter space(workspace);
    const Scratch t = cut(p, space);
    const Inputs<T> in{elements_of<T>(o.x),
                       elements_of<T>(o.x_row),
                       elements_of<T>(o.beta),
                       elements_of<T>(o.grad_y),
                       elements_of<T>(o.y_saved),
                       o.lse_saved,
                       t.row_info};
    const std::initializer_list<const void*> pointers{o.x, o.x_row, o.grad_y, o.y_saved, o.grad_x, o.grad_x_row};
    kernels::launch_pass(p.rows, RowPass<T>{in, {elements_of<T>(o.grad_x_row)}, t.row_beta}, pointers, t.results,
                         stream);
    kernels::launch_pass(p.columns, ColPass<T>{in, {elements_of<T>(o.grad_x)}, nullptr}, pointers, t.results, stream);
    kernels::head_sums(t.row_beta, p.rows.graph->n_rows, p.rows.heads, t.partial_beta, elements_of<T>(o.grad_beta),
                       stream);
}

template void launch_typed<float>(const kernels::TwoPassPlan&, const Operands&, void*, StreamHandle);
template void launch_typed<Float16>(const kernels::TwoPassPlan&, const Operands&, void*, StreamHandle);
template void launch_typed<BFloat16>(const kernels::TwoPassPlan&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::agnn_grad_rows_cols

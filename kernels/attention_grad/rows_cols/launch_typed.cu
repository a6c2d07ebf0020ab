// launch_typed() for every shape; instantiated for each storage type.
#include "kernels/attention_grad/rows_cols/kernel.cuh"
#include "kernels/attention_grad/rows_cols/launch.hpp"

namespace gnntune::attention_grad_rows_cols {

template <typename T>
void launch_typed(const kernels::TwoPassPlan& p, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    kernels::WorkspaceCutter space(workspace);
    const Scratch t = cut(p, space);
    const Inputs<T> in{elements_of<T>(o.x),
                       elements_of<T>(o.x_row),
                       elements_of<T>(o.key),
                       elements_of<T>(o.grad_y),
                       elements_of<T>(o.y_saved),
                       o.lse_saved,
                       t.inner,
                       logit_scale(o, p.rows.k)};
    const std::initializer_list<const void*> pointers{o.x,       o.x_row,  o.key,        o.grad_y,
                                                      o.y_saved, o.grad_x, o.grad_x_row, o.grad_key};
    const auto dropout = [&](const kernels::PassPlan& side) {
        return kernels::edge_dropout<true>(o, side.graph->edge_id);
    };
    const RowPass<T> rows{in, {elements_of<T>(o.grad_x_row)}, nullptr, dropout(p.rows)};
    const ColPass<T> columns{in, {elements_of<T>(o.grad_x), elements_of<T>(o.grad_key)}, nullptr, dropout(p.columns)};
    kernels::launch_pass(p.rows, rows, pointers, t.results, stream);
    kernels::launch_pass(p.columns, columns, pointers, t.results, stream);
}

template void launch_typed<float>(const kernels::TwoPassPlan&, const Operands&, void*, StreamHandle);
template void launch_typed<Float16>(const kernels::TwoPassPlan&, const Operands&, void*, StreamHandle);
template void launch_typed<BFloat16>(const kernels::TwoPassPlan&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::attention_grad_rows_cols

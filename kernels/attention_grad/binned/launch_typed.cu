// launch_typed(); instantiated for each storage type.
#include "kernels/attention_grad/binned/kernel.cuh"

namespace gnntune::attention_grad_binned {
namespace {

template <typename T, bool DROPOUT>
void launch_columns(const State& s, const Operands& o, const Workspace& w, cudaStream_t stream) {
    GatherPass<T> a{};
    a.own[0] = elements_of<T>(o.key);
    a.own[1] = elements_of<T>(o.x);
    a.gathered[0] = elements_of<T>(o.x_row);
    a.gathered[1] = elements_of<T>(o.grad_y);
    a.sums[0] = elements_of<T>(o.grad_key);
    a.sums[1] = elements_of<T>(o.grad_x);
    a.partial[0] = w.cols_key;
    a.partial[1] = w.cols_x;
    const ColumnEdges<T, DROPOUT> edges{
        {}, s.csc->edge_id, w.terms, w.weight, dropout_of(o), logit_scale(o, s.problem.k), s.problem.heads};
    launch_gather_pass(*s.csc, s.cols, s.params, s.problem, a, edges, stream);
}

}  // namespace

template <typename T>
void launch_typed(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const Workspace w(s, workspace);
    for_row_dots(elements_of<T>(o.grad_y), elements_of<T>(o.y_saved), std::int64_t{s.csr->n_rows} * s.problem.heads,
                 s.problem.k, StoreTerms{o.lse_saved, w.terms}, stream);
    if (o.dropout > 0.0F) {
        launch_columns<T, true>(s, o, w, stream);
    } else {
        launch_columns<T, false>(s, o, w, stream);
    }
    GatherPass<T> a{};
    a.gathered[0] = elements_of<T>(o.key);
    a.sums[0] = elements_of<T>(o.grad_x_row);
    a.partial[0] = w.rows;
    const RowEdges<T> edges{{}, s.csr->edge_id, w.weight, s.problem.heads};
    launch_gather_pass(*s.csr, s.rows, s.params.other(s.problem), s.problem, a, edges, stream);
}

template void launch_typed<float>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<Float16>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<BFloat16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::attention_grad_binned

// launch_typed() for every shape; instantiated for each storage type.
#include "kernels/spmm_grad/binned/kernel.cuh"
#include "kernels/spmm_grad/common/row_shares.cuh"

namespace gnntune::spmm_grad_binned {

template <typename T, Of OF>
void launch_reduced(const State& s, const Operands& o, void* workspace, StreamHandle stream) {
    ColumnPass<T> a{};
    a.x = s.weighted || s.self_loop ? elements_of<T>(o.x) : nullptr;
    a.dots = s.weighted;
    a.grad_y = elements_of<T>(o.grad_y);
    a.grad_x = elements_of<T>(o.grad_x);
    a.partial = static_cast<float*>(workspace);
    a.k = s.k;
    a.heads = s.heads;
    const SpmmEdges<T, OF> edges{s.csc->edge_id,
                                 s.csr ? s.csr->row_ptr : nullptr,
                                 s.csr ? s.edge_share.data() : nullptr,
                                 s.weighted ? elements_of<T>(o.edge_weight) : nullptr,
                                 s.weighted ? elements_of<T>(o.grad_edge_weight) : nullptr,
                                 o.argmax_saved,
                                 aligned_to_four(s.csc->edge_id),
                                 {s.self_loop ? elements_of<T>(o.self_weight) : nullptr},
                                 elements_of<T>(o.grad_self_weight),
                                 s.heads};
    launch_column_pass(*s.csc, s.cols, s.params, a, edges, static_cast<cudaStream_t>(stream));
}

template <typename T>
void launch_typed(const State& s, const Operands& o, void* workspace, StreamHandle stream) {
    if (s.maximum) {
        launch_reduced<T, Of::maxima>(s, o, workspace, stream);
    } else if (s.self_loop || s.heads > 1) {
        launch_reduced<T, Of::heads>(s, o, workspace, stream);
    } else {
        launch_reduced<T, Of::sums>(s, o, workspace, stream);
    }
}

void make_shares(State& s, StreamHandle stream) {
    s.edge_share = DeviceBuffer<float>(static_cast<std::size_t>(s.csc->m));
    enqueue_column_shares(*s.csr, *s.csc, s.self_loop, s.edge_share.data(), static_cast<cudaStream_t>(stream));
    GNNTUNE_CUDA(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
}

template void launch_typed<float>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<Float16>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<BFloat16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::spmm_grad_binned

// launch_typed() for every shape; instantiated for each storage type.
#include "kernels/spmm_grad/max_bits/kernel.cuh"

namespace gnntune::spmm_grad_max_bits {

namespace {

void launch_bits(const State& s, const std::int32_t* argmax, std::uint8_t* bits, cudaStream_t stream) {
    if (s.rows.blocks == 0 || s.csr->m == 0) return;
    const std::int32_t stride = bits_stride(s.k);
    BitsArguments a{};
    a.rows = view_of(s.rows, *s.csr);
    a.edge_id = s.csr->edge_id;
    a.argmax = argmax;
    a.bits = bits;
    a.m = s.csr->m;
    a.k = s.k;
    a.stride = static_cast<std::uint32_t>(stride);
    a.lanes = bits_shape(s.k).lanes;
    a.ids_aligned = aligned_to_four(s.csr->edge_id);
    auto* kernel = s.k % 4 == 0 ? &bits_kernel<true> : &bits_kernel<false>;
    const dim3 grid(s.rows.blocks, static_cast<unsigned>(ceil_div(stride, a.lanes)));
    kernel<<<grid, kBitsThreads, 0, stream>>>(a);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace

template <typename T>
void launch_typed(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const Workspace w(s, workspace);
    launch_bits(s, o.argmax_saved, w.bits, stream);
    ColumnPass<T> a{};
    a.x = s.weighted ? elements_of<T>(o.x) : nullptr;
    a.dots = s.weighted;
    a.grad_y = elements_of<T>(o.grad_y);
    a.grad_x = elements_of<T>(o.grad_x);
    a.partial = w.partial;
    a.k = s.k;
    a.heads = 1;
    SpmmEdges<T, Of::maxima_by_bits> edges{};
    edges.edge_id = s.csc->edge_id;
    edges.edge_weight = s.weighted ? elements_of<T>(o.edge_weight) : nullptr;
    edges.grad_edge_weight = s.weighted ? elements_of<T>(o.grad_edge_weight) : nullptr;
    edges.bits = w.bits;
    edges.bits_stride = static_cast<std::uint32_t>(bits_stride(s.k));
    edges.edge_ids_aligned = aligned_to_four(s.csc->edge_id);
    edges.heads = 1;
    launch_column_pass(*s.csc, s.cols, s.params, a, edges, stream);
}

template void launch_typed<float>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<Float16>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<BFloat16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::spmm_grad_max_bits

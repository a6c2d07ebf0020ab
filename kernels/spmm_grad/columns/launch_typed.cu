// launch_typed() for every shape; instantiated for each storage type.
#include "kernels/common/merge_rows.cuh"
#include "kernels/common/storage.hpp"
#include "kernels/common/tiles.hpp"
#include "kernels/spmm_grad/columns/kernel.cuh"
#include "kernels/spmm_grad/common/row_shares.cuh"

namespace gnntune::spmm_grad_columns {

namespace {

template <typename T, int ITEMS, Of OF>
void launch_shape(const State& s, const Arguments<T>& a, cudaStream_t stream) {
    constexpr int kVec = 16 / static_cast<int>(sizeof(T));
    const ColumnsParams& p = s.params;
    const dim3 grid(s.cols.blocks, static_cast<unsigned>(ceil_div(s.k, tile_width(p.lanes, ITEMS, kVec))));
    const int slots = s.cols.has_teams_of_warps() ? p.warps_per_block * p.lanes : 0;
    const auto shared = static_cast<std::size_t>(slots * lane_sums_slot(kVec, ITEMS)) * sizeof(float);
    columns_kernel<T, kVec, ITEMS, OF><<<grid, static_cast<unsigned>(p.shape().threads), shared, stream>>>(a);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T, int ITEMS>
void launch_items(const State& s, const Arguments<T>& a, cudaStream_t stream) {
    if (s.maximum) {
        launch_shape<T, ITEMS, Of::maxima>(s, a, stream);
    } else if (s.self_loop) {
        launch_shape<T, ITEMS, Of::loops>(s, a, stream);
    } else {
        launch_shape<T, ITEMS, Of::sums>(s, a, stream);
    }
}

}  // namespace

void make_shares(const CsrFormat& csr, State& s, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    s.edge_share = DeviceBuffer<float>(static_cast<std::size_t>(s.csc->m));
    enqueue_column_shares(csr, *s.csc, s.self_loop, s.edge_share.data(), stream);
    if (s.self_loop) {
        s.share = DeviceBuffer<float>(static_cast<std::size_t>(csr.n_rows));
        enqueue_row_shares(csr, true, s.share.data(), stream);
    }
    GNNTUNE_CUDA(cudaStreamSynchronize(stream));
}

template <typename T>
void launch_typed(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    if (s.cols.blocks == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    Arguments<T> a{};
    a.cols = view_of(s.cols, *s.csc);
    a.row_idx = s.csc->col_idx;
    a.edge_id = s.csc->edge_id;
    a.argmax = o.argmax_saved;
    a.edge_share = s.edge_share.data();
    a.share = s.share.data();
    a.self_weight = s.self_loop ? elements_of<T>(o.self_weight) : nullptr;
    a.x = s.self_loop ? elements_of<T>(o.x) : nullptr;
    a.grad_y = elements_of<T>(o.grad_y);
    a.grad_x = elements_of<T>(o.grad_x);
    a.grad_self_weight = elements_of<T>(o.grad_self_weight);
    a.partial = static_cast<float*>(workspace);
    a.m = s.csc->m;
    a.k = s.k;
    a.lanes = s.params.lanes;
    a.ids_aligned = aligned_to_four(a.row_idx) && (!s.maximum || aligned_to_four(a.edge_id));
    if (s.params.items == 2) {
        launch_items<T, 2>(s, a, stream);
    } else {
        launch_items<T, 1>(s, a, stream);
    }
    launch_merge_rows(*s.cols.pieces, {}, a.partial, a.grad_x, s.k, stream);
}

template void launch_typed<float>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<Float16>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<BFloat16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::spmm_grad_columns

#include "kernels/gcn_norm/binned/launch.hpp"

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/host.hpp"
#include "kernels/gcn_norm/binned/kernel.cuh"

namespace gnntune::gcn_norm_binned {
namespace {

std::size_t partial_bytes(const State& s) {
    return s.weighted ? static_cast<std::size_t>(s.rows.pieces->slots) * sizeof(double) : 0;
}

void launch_degrees(const State& s, const Arrays& a, cudaStream_t stream) {
    if (!s.weighted) {
        count_degrees_kernel<<<static_cast<unsigned>(kernels::ceil_div(a.n, kThreads)), kThreads, 0, stream>>>(a);
        GNNTUNE_CUDA(cudaGetLastError());
        return;
    }
    sum_degrees_kernel<<<s.rows.blocks, kThreads, 0, stream>>>(a);
    GNNTUNE_CUDA(cudaGetLastError());
    const auto split = static_cast<unsigned>(s.rows.pieces->split.size());
    if (split == 0) return;
    merge_degrees_kernel<<<split, kThreads, 0, stream>>>(a, s.rows.pieces->split.data());
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace

// A sum for each piece of a split row, then a factor for each vertex.
std::size_t workspace_bytes(const State& s) {
    if (s.params.kernels == 1) return 0;
    return partial_bytes(s) + static_cast<std::size_t>(s.csr->n_rows) * sizeof(float);
}

void launch(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    if (s.rows.blocks == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const CsrFormat& g = *s.csr;
    const bool stored = s.params.kernels == 2;
    Arrays a{};
    a.rows = kernels::view_of(s.rows, g);
    a.col_idx = g.col_idx;
    a.edge_id = g.edge_id;
    a.edge_weight = s.weighted ? o.edge_weight : nullptr;
    a.partial = static_cast<double*>(workspace);
    if (stored) a.inverse_root = reinterpret_cast<float*>(static_cast<unsigned char*>(workspace) + partial_bytes(s));
    a.y = o.y;
    a.y_self = o.y_self;
    a.n = g.n_rows;
    if (stored) {
        launch_degrees(s, a, stream);
        if (g.m == 0) return;
    }
    auto* kernel = &weights_kernel<false, false>;
    if (stored) kernel = s.weighted ? &weights_kernel<true, true> : &weights_kernel<false, true>;
    kernel<<<s.rows.blocks, kThreads, 0, stream>>>(a);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::gcn_norm_binned

#include "kernels/gcn_norm/binned/launch.hpp"

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/gcn_norm/binned/kernel.cuh"

namespace gnntune::gcn_norm_binned {
namespace {

std::size_t partial_bytes(const State& s) {
    return s.weighted ? static_cast<std::size_t>(s.rows.pieces->slots) * sizeof(double) : 0;
}

template <typename T>
void launch_degrees(const State& s, const Arrays<T>& a, cudaStream_t stream) {
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

template <typename T>
void launch_typed(const State& s, const Operands& o, void* workspace, cudaStream_t stream) {
    if (s.rows.blocks == 0) return;
    const CsrFormat& g = *s.csr;
    const bool stored = s.params.kernels == 2;
    Arrays<T> a{};
    a.rows = kernels::view_of(s.rows, g);
    a.degree_ptr = g.row_ptr;
    a.edge_id = g.edge_id;
    a.edge_weight = s.weighted ? elements_of<T>(o.edge_weight) : nullptr;
    a.partial = static_cast<double*>(workspace);
    if (stored) a.inverse_root = reinterpret_cast<float*>(static_cast<unsigned char*>(workspace) + partial_bytes(s));
    a.y = elements_of<T>(o.y);
    a.y_self = elements_of<T>(o.y_self);
    a.n = g.n_rows;
    if (stored) {
        launch_degrees(s, a, stream);
        if (g.m == 0) return;
    }
    a.rows = kernels::view_of(s.walk_rows, *s.walk);
    a.col_idx = s.walk->col_idx;
    a.edge_id = s.walk->edge_id;
    auto* kernel = &weights_kernel<T, false, false>;
    if (stored) kernel = s.weighted ? &weights_kernel<T, true, true> : &weights_kernel<T, false, true>;
    kernel<<<s.walk_rows.blocks, kThreads, 0, stream>>>(a);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace

// A sum for each piece of a split row, then a factor for each vertex.
std::size_t workspace_bytes(const State& s) {
    if (s.params.kernels == 1) return 0;
    return partial_bytes(s) + static_cast<std::size_t>(s.csr->n_rows) * sizeof(float);
}

void launch(const State& s, const Operands& o, void* workspace, StreamHandle stream) {
    kernels::with_storage(s.dtype, [&]<typename T>(std::type_identity<T>) {
        launch_typed<T>(s, o, workspace, static_cast<cudaStream_t>(stream));
    });
}

}  // namespace gnntune::gcn_norm_binned

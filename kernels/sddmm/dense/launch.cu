#include "kernels/sddmm/dense/launch.hpp"

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/dense.hpp"
#include "kernels/common/workspace.hpp"
#include "kernels/sddmm/dense/kernel.cuh"

namespace gnntune::sddmm_dense {

std::size_t workspace_bytes(const Plan& p) {
    const auto rows = static_cast<std::size_t>(p.coo->n_rows);
    const auto stride = static_cast<std::size_t>(kernels::dense_stride(p.coo->n_cols));
    return p.cublas_bytes + kernels::align_workspace(rows * stride * sizeof(float));
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    auto* space = static_cast<unsigned char*>(workspace);
    const CooFormat& g = *p.coo;
    const std::int64_t stride = kernels::dense_stride(g.n_cols);
    auto* all = reinterpret_cast<float*>(space + p.cublas_bytes);
    kernels::DenseProduct product;
    product.rows = g.n_rows;
    product.cols = g.n_cols;
    product.inner = p.k;
    product.a = o.x_row;
    product.a_stride = p.k;
    product.b = o.x;
    product.b_stride = p.k;
    product.b_transposed = true;
    product.c = all;
    product.c_stride = static_cast<std::int32_t>(stride);
    kernels::enqueue_product(product, space, p.cublas_bytes, stream_handle);
    const auto blocks = static_cast<unsigned>(kernels::ceil_div(g.m, kThreads));
    sample_edges<<<blocks, kThreads, 0, stream>>>(all, stride, g.row_idx, g.col_idx, g.edge_id,
                                                  p.weighted ? o.edge_weight : nullptr, kernels::EdgeEpilogue(o), g.m,
                                                  o.y);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::sddmm_dense

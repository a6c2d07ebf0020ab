#include "core/gpu/cuda_check.hpp"
#include "kernels/common/self_loop.cuh"
#include "kernels/common/storage.hpp"
#include "kernels/spmm_grad/common/row_shares.cuh"
#include "kernels/spmm_grad/unfused/kernel.cuh"
#include "kernels/spmm_grad/unfused/launch.hpp"

namespace gnntune::spmm_grad_unfused {

void make_shares(const CsrFormat& csr, const CooFormat& coo, bool self_loop, float* row_share, float* edge_share,
                 bool in_stream_order, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    kernels::enqueue_row_shares(csr, self_loop, row_share, stream);
    if (coo.m > 0) {
        edge_shares_kernel<<<kernels::blocks_for(coo.m, kShareThreads), kShareThreads, 0, stream>>>(
            coo.row_idx, coo.edge_id, row_share, coo.m, edge_share);
        GNNTUNE_CUDA(cudaGetLastError());
    }
    if (!in_stream_order) GNNTUNE_CUDA(cudaStreamSynchronize(stream));
}

void launch_products(const float* weight, const float* share, std::int64_t n, std::int32_t heads, float* out,
                     StreamHandle stream) {
    if (n == 0) return;
    const std::int64_t count = n * heads;
    products_kernel<<<kernels::blocks_for(count, kShareThreads), kShareThreads, 0, static_cast<cudaStream_t>(stream)>>>(
        weight, share, count, heads, out);
    GNNTUNE_CUDA(cudaGetLastError());
}

void launch_self_dots(std::int64_t n, std::int32_t heads, std::int32_t k, DType dtype, const float* row_share,
                      const Operands& o, StreamHandle stream) {
    kernels::with_storage(dtype, [&]<typename T>(std::type_identity<T>) {
        kernels::enqueue_self_loops<T>({.in = elements_of<T>(o.grad_y),
                                        .other = elements_of<T>(o.x),
                                        .dot = elements_of<T>(o.grad_self_weight),
                                        .dot_factor = row_share,
                                        .heads = heads,
                                        .n = n * heads,
                                        .k = k},
                                       static_cast<cudaStream_t>(stream));
    });
}

}  // namespace gnntune::spmm_grad_unfused

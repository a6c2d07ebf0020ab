#include "kernels/sddmm/cusparse/launch.hpp"

#include "core/gpu/device_buffer.hpp"
#include "kernels/common/cusparse.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/workspace.hpp"
#include "kernels/sddmm/common/edge_epilogue.hpp"

namespace gnntune::sddmm_cusparse {

struct Plan {
    std::shared_ptr<const CsrFormat> csr;
    std::int32_t k = 0;
    std::size_t buffer_bytes = 0;
};

using kernels::align_workspace;
using kernels::kOne;
using kernels::kPlain;
using kernels::kZero;

namespace {

// x as its own transpose: a row-major [n_cols, k] array is a column-major [k, n_cols] matrix.
kernels::DnMat transposed(const CsrFormat& g, std::int32_t k, const float* x) {
    cusparseDnMatDescr_t d = nullptr;
    GNNTUNE_CUSPARSE(cusparseCreateDnMat(&d, k, g.n_cols, k, const_cast<float*>(x), CUDA_R_32F, CUSPARSE_ORDER_COL));
    return kernels::DnMat(d);
}

kernels::SpMat describe(const CsrFormat& g, float* values) {
    cusparseSpMatDescr_t d = nullptr;
    GNNTUNE_CUSPARSE(cusparseCreateCsr(&d, g.n_rows, g.n_cols, g.m, const_cast<std::int32_t*>(g.row_ptr),
                                       const_cast<std::int32_t*>(g.col_idx), values, CUSPARSE_INDEX_32I,
                                       CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    return kernels::SpMat(d);
}

constexpr int kThreads = 256;

/// y[edge_id[e]] = epilogue(values[e]); without edge_id y[e], and the arrays may be one. One thread per edge.
__global__ void finish_edges(const float* values, const std::int32_t* __restrict__ edge_id, std::int64_t m,
                             kernels::EdgeEpilogue epilogue, float* y) {
    const std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
    if (e < m) y[edge_id ? edge_id[e] : e] = epilogue(values[e]);
}

}  // namespace

std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, std::int32_t k,
                                      StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    auto plan = std::make_shared<Plan>();
    kernels::require_aligned_ids({csr->row_ptr, csr->col_idx});
    plan->csr = std::move(csr);
    plan->k = k;
    DeviceBuffer<float> nowhere(1);  // sizes alone decide the buffer
    const kernels::SpMat out = describe(*plan->csr, nowhere.data());
    const kernels::DnMat a = kernels::row_major(plan->csr->n_rows, k, nowhere.data());
    const kernels::DnMat b = transposed(*plan->csr, k, nowhere.data());
    const kernels::CusparseLease handle(stream);
    GNNTUNE_CUSPARSE(cusparseSDDMM_bufferSize(handle.get(), kPlain, kPlain, &kOne, a.get(), b.get(), &kZero, out.get(),
                                              CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT, &plan->buffer_bytes));
    return plan;
}

std::size_t workspace_bytes(const Plan& p) {
    const std::size_t values = p.csr->edge_id ? align_workspace(static_cast<std::size_t>(p.csr->m) * sizeof(float)) : 0;
    return values + align_workspace(p.buffer_bytes);
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const CsrFormat& g = *p.csr;
    auto* free_space = static_cast<unsigned char*>(workspace);
    float* values = o.y;
    if (g.edge_id) {
        values = reinterpret_cast<float*>(free_space);
        free_space += align_workspace(static_cast<std::size_t>(g.m) * sizeof(float));
    }
    const kernels::SpMat out = describe(g, values);
    const kernels::DnMat a = kernels::row_major(g.n_rows, p.k, o.x_row);
    const kernels::DnMat b = transposed(g, p.k, o.x);
    const kernels::CusparseLease handle(stream);
    kernels::EdgeEpilogue epilogue(o);
    const float scale = epilogue.scale;
    epilogue.scale = kOne;
    GNNTUNE_CUSPARSE(cusparseSDDMM(handle.get(), kPlain, kPlain, &scale, a.get(), b.get(), &kZero, out.get(),
                                   CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT, free_space));
    if (g.edge_id || epilogue.activation != EdgeActivation::none) {
        const auto blocks = static_cast<unsigned>(kernels::ceil_div(g.m, kThreads));
        finish_edges<<<blocks, kThreads, 0, stream>>>(values, g.edge_id, g.m, epilogue, o.y);
        GNNTUNE_CUDA(cudaGetLastError());
    }
}

}  // namespace gnntune::sddmm_cusparse

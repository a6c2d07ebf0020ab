// Descriptors are made for each run: they are small host objects, and a plan may run on many streams at once.
// A preprocessed plan is the exception: cuSPARSE ties the preprocessed buffer to the matrix descriptor, so the plan
// keeps both and its runs take turns on the host.
#include "kernels/spmm/cusparse/launch.hpp"

#include "core/common/float16.hpp"
#include "core/gpu/device_buffer.hpp"
#include "kernels/common/cusparse.hpp"
#include "kernels/common/permute.cuh"
#include "kernels/common/workspace.hpp"

namespace gnntune::spmm_cusparse {

struct Plan {
    std::shared_ptr<const CsrFormat> csr;
    std::shared_ptr<const CooFormat> coo;
    CusparseParams params;
    std::int32_t k = 0;
    bool weighted = false;
    DType dtype = DType::f32;
    DeviceBuffer<unsigned char> ones;  // values of an unweighted graph, of dtype
    std::size_t buffer_bytes = 0;
    // Preprocessed plans only.
    kernels::SpMat matrix;
    DeviceBuffer<unsigned char> buffer;
    mutable std::mutex turn;

    std::int32_t n_rows() const { return csr ? csr->n_rows : coo->n_rows; }
    std::int32_t n_cols() const { return csr ? csr->n_cols : coo->n_cols; }
    std::int64_t m() const { return csr ? csr->m : coo->m; }
    const std::int32_t* edge_id() const { return csr ? csr->edge_id : coo->edge_id; }
    std::size_t value_bytes() const { return static_cast<std::size_t>(m()) * size_of(dtype); }
};

using kernels::align_workspace;
using kernels::kOne;
using kernels::kPlain;
using kernels::kZero;

namespace {

bool permutes(const Plan& p) {
    return p.weighted && p.edge_id();
}

kernels::SpMat describe(const Plan& p, const void* values) {
    cusparseSpMatDescr_t d = nullptr;
    auto* v = const_cast<void*>(values);
    const cudaDataType type = kernels::cusparse_type(p.dtype);
    if (p.csr) {
        GNNTUNE_CUSPARSE(cusparseCreateCsr(&d, p.csr->n_rows, p.csr->n_cols, p.csr->m,
                                           const_cast<std::int32_t*>(p.csr->row_ptr),
                                           const_cast<std::int32_t*>(p.csr->col_idx), v, CUSPARSE_INDEX_32I,
                                           CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
    } else {
        GNNTUNE_CUSPARSE(cusparseCreateCoo(
            &d, p.coo->n_rows, p.coo->n_cols, p.coo->m, const_cast<std::int32_t*>(p.coo->row_idx),
            const_cast<std::int32_t*>(p.coo->col_idx), v, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
    }
    return kernels::SpMat(d);
}

// One of the plan's storage type, written once for each edge.
template <typename T>
void fill_with_ones(const Plan& p, unsigned char* out, cudaStream_t stream) {
    kernels::fill_values<<<kernels::permute_blocks(p.m()), kernels::kPermuteThreads, 0, stream>>>(
        reinterpret_cast<T*>(out), p.m(), from_float<T>(1.0F));
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T>
void gather_weights(const Plan& p, const float* edge_weight, unsigned char* out, cudaStream_t stream) {
    kernels::gather_values<<<kernels::permute_blocks(p.m()), kernels::kPermuteThreads, 0, stream>>>(
        elements_of<T>(edge_weight), p.edge_id(), p.m(), reinterpret_cast<T*>(out));
    GNNTUNE_CUDA(cudaGetLastError());
}

cusparseSpMMAlg_t algorithm(const Plan& p) {
    return static_cast<cusparseSpMMAlg_t>(p.params.alg);
}

}  // namespace

std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, std::shared_ptr<const CooFormat> coo,
                                      const CusparseParams& params, std::int32_t k, bool weighted, DType dtype,
                                      StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    auto plan = std::make_shared<Plan>();
    if (csr) kernels::require_aligned_ids({csr->row_ptr, csr->col_idx});
    if (coo) kernels::require_aligned_ids({coo->row_idx, coo->col_idx});
    plan->csr = std::move(csr);
    plan->coo = std::move(coo);
    plan->params = params;
    plan->k = k;
    plan->weighted = weighted;
    plan->dtype = dtype;
    if (!weighted) {
        plan->ones = DeviceBuffer<unsigned char>(plan->value_bytes());
        if (dtype == DType::f32) fill_with_ones<float>(*plan, plan->ones.data(), stream);
        if (dtype == DType::f16) fill_with_ones<Float16>(*plan, plan->ones.data(), stream);
        if (dtype == DType::bf16) fill_with_ones<BFloat16>(*plan, plan->ones.data(), stream);
    }
    // The sizes alone decide the buffer; any non-null addresses do for the operands that are not here yet.
    DeviceBuffer<float> nowhere(1);
    const void* values = weighted ? static_cast<const void*>(nowhere.data()) : plan->ones.data();
    kernels::SpMat matrix = describe(*plan, values);
    const kernels::DnMat x = kernels::row_major(plan->n_cols(), k, nowhere.data(), dtype);
    const kernels::DnMat y = kernels::row_major(plan->n_rows(), k, nowhere.data(), dtype);
    const kernels::CusparseLease handle(stream);
    GNNTUNE_CUSPARSE(cusparseSpMM_bufferSize(handle.get(), kPlain, kPlain, &kOne, matrix.get(), x.get(), &kZero,
                                             y.get(), CUDA_R_32F, algorithm(*plan), &plan->buffer_bytes));
    if (params.preprocess != 0) {
        plan->buffer = DeviceBuffer<unsigned char>(std::max<std::size_t>(plan->buffer_bytes, 16));
        GNNTUNE_CUSPARSE(cusparseSpMM_preprocess(handle.get(), kPlain, kPlain, &kOne, matrix.get(), x.get(), &kZero,
                                                 y.get(), CUDA_R_32F, algorithm(*plan), plan->buffer.data()));
        plan->matrix = std::move(matrix);
    }
    GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    return plan;
}

std::size_t workspace_bytes(const Plan& p) {
    const std::size_t weights = permutes(p) ? align_workspace(p.value_bytes()) : 0;
    return weights + (p.params.preprocess != 0 ? 0 : align_workspace(p.buffer_bytes));
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    auto* free_space = static_cast<unsigned char*>(workspace);
    const void* values = p.weighted ? static_cast<const void*>(o.edge_weight) : p.ones.data();
    if (permutes(p)) {
        values = free_space;
        if (p.dtype == DType::f32) {
            gather_weights<float>(p, o.edge_weight, free_space, stream);
        } else {
            gather_weights<Float16>(p, o.edge_weight, free_space, stream);  // moves bits
        }
        free_space += align_workspace(p.value_bytes());
    }
    const kernels::DnMat x = kernels::row_major(p.n_cols(), p.k, o.x, p.dtype);
    const kernels::DnMat y = kernels::row_major(p.n_rows(), p.k, o.y, p.dtype);
    const kernels::CusparseLease handle(stream);
    if (p.params.preprocess != 0) {
        const std::lock_guard lock(p.turn);
        GNNTUNE_CUSPARSE(cusparseSpMatSetValues(p.matrix.get(), const_cast<void*>(values)));
        GNNTUNE_CUSPARSE(cusparseSpMM(handle.get(), kPlain, kPlain, &kOne, p.matrix.get(), x.get(), &kZero, y.get(),
                                      CUDA_R_32F, algorithm(p), const_cast<unsigned char*>(p.buffer.data())));
        return;
    }
    const kernels::SpMat matrix = describe(p, values);
    GNNTUNE_CUSPARSE(cusparseSpMM(handle.get(), kPlain, kPlain, &kOne, matrix.get(), x.get(), &kZero, y.get(),
                                  CUDA_R_32F, algorithm(p), free_space));
}

}  // namespace gnntune::spmm_cusparse

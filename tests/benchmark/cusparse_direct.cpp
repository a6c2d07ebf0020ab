#include "tests/benchmark/cusparse_direct.hpp"

#include <string>

#include "core/common/error.hpp"
#if GNNTUNE_WITH_CUDA
#include <cusparse.h>

#include "core/gpu/device_buffer.hpp"
#endif

namespace gnntune::bench {

#if GNNTUNE_WITH_CUDA
namespace {

void check(cusparseStatus_t status) {
    if (status != CUSPARSE_STATUS_SUCCESS) {
        throw Error(ErrorKind::runtime, std::string("cuSPARSE: ") + cusparseGetErrorString(status));
    }
}

}  // namespace

struct CusparseSpmm::Impl {
    cusparseHandle_t handle = nullptr;
    cusparseSpMatDescr_t a = nullptr;
    cusparseDnMatDescr_t x = nullptr;
    cusparseDnMatDescr_t y = nullptr;
    DeviceBuffer<unsigned char> buffer;
    float one = 1;
    float zero = 0;
};

CusparseSpmm::CusparseSpmm(const CsrView& csr, const float* x, float* y, std::int32_t k)
    : impl_(std::make_unique<Impl>()) {
    Impl& i = *impl_;
    check(cusparseCreate(&i.handle));
    check(cusparseCreateCsr(&i.a, csr.n_rows, csr.n_cols, csr.m, const_cast<std::int32_t*>(csr.row_ptr),
                            const_cast<std::int32_t*>(csr.col_idx), const_cast<float*>(csr.edge_weight),
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    check(cusparseCreateDnMat(&i.x, csr.n_cols, k, k, const_cast<float*>(x), CUDA_R_32F, CUSPARSE_ORDER_ROW));
    check(cusparseCreateDnMat(&i.y, csr.n_rows, k, k, y, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    std::size_t bytes = 0;
    check(cusparseSpMM_bufferSize(i.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &i.one,
                                  i.a, i.x, &i.zero, i.y, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
    i.buffer = DeviceBuffer<unsigned char>(bytes);
}

CusparseSpmm::~CusparseSpmm() {
    if (impl_->y) cusparseDestroyDnMat(impl_->y);
    if (impl_->x) cusparseDestroyDnMat(impl_->x);
    if (impl_->a) cusparseDestroySpMat(impl_->a);
    if (impl_->handle) cusparseDestroy(impl_->handle);
}

void CusparseSpmm::run() {
    Impl& i = *impl_;
    check(cusparseSpMM(i.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &i.one, i.a, i.x,
                       &i.zero, i.y, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, i.buffer.data()));
}
#else
struct CusparseSpmm::Impl {};

CusparseSpmm::CusparseSpmm(const CsrView&, const float*, float*, std::int32_t) {
    throw unsupported("cuSPARSE is not part of a build without CUDA");
}
CusparseSpmm::~CusparseSpmm() = default;
void CusparseSpmm::run() {}
#endif

}  // namespace gnntune::bench

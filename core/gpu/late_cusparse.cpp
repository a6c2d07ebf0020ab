// The functions of cuSPARSE that gnntune calls, each opened when it is first called. They have the names and prototypes
// of cusparse.h, which the compiler checks, and are hidden: neither an application nor cuSPARSE itself meets them.
#include <cusparse.h>

#include "core/gpu/late_library.hpp"

namespace gnntune {

LateLibrary& cusparse_library() {
    static LateLibrary library("libcusparse", CUSPARSE_VER_MAJOR);
    return library;
}

}  // namespace gnntune

#define GNNTUNE_LATE(result, name, parameters, arguments)                                                        \
    result CUSPARSEAPI name parameters {                                                                         \
        static const auto call = reinterpret_cast<decltype(&name)>(gnntune::cusparse_library().function(#name)); \
        return call arguments;                                                                                   \
    }

extern "C" {

GNNTUNE_LATE(cusparseStatus_t, cusparseCreate, (cusparseHandle_t * handle), (handle))
GNNTUNE_LATE(cusparseStatus_t, cusparseDestroy, (cusparseHandle_t handle), (handle))
GNNTUNE_LATE(cusparseStatus_t, cusparseSetStream, (cusparseHandle_t handle, cudaStream_t stream), (handle, stream))
GNNTUNE_LATE(cusparseStatus_t, cusparseGetProperty, (libraryPropertyType type, int* value), (type, value))
GNNTUNE_LATE(const char*, cusparseGetErrorString, (cusparseStatus_t status), (status))

GNNTUNE_LATE(cusparseStatus_t, cusparseCreateCsr,
             (cusparseSpMatDescr_t * matrix, int64_t rows, int64_t cols, int64_t nnz, void* row_ptr, void* col_idx,
              void* values, cusparseIndexType_t row_type, cusparseIndexType_t col_type, cusparseIndexBase_t base,
              cudaDataType type),
             (matrix, rows, cols, nnz, row_ptr, col_idx, values, row_type, col_type, base, type))
GNNTUNE_LATE(cusparseStatus_t, cusparseCreateCoo,
             (cusparseSpMatDescr_t * matrix, int64_t rows, int64_t cols, int64_t nnz, void* row_idx, void* col_idx,
              void* values, cusparseIndexType_t id_type, cusparseIndexBase_t base, cudaDataType type),
             (matrix, rows, cols, nnz, row_idx, col_idx, values, id_type, base, type))
GNNTUNE_LATE(cusparseStatus_t, cusparseCreateBlockedEll,
             (cusparseSpMatDescr_t * matrix, int64_t rows, int64_t cols, int64_t block_size, int64_t ell_cols,
              void* col_idx, void* values, cusparseIndexType_t id_type, cusparseIndexBase_t base, cudaDataType type),
             (matrix, rows, cols, block_size, ell_cols, col_idx, values, id_type, base, type))
GNNTUNE_LATE(cusparseStatus_t, cusparseSpMatSetValues, (cusparseSpMatDescr_t matrix, void* values), (matrix, values))
GNNTUNE_LATE(cusparseStatus_t, cusparseDestroySpMat, (cusparseConstSpMatDescr_t matrix), (matrix))
GNNTUNE_LATE(cusparseStatus_t, cusparseCreateDnMat,
             (cusparseDnMatDescr_t * matrix, int64_t rows, int64_t cols, int64_t stride, void* values,
              cudaDataType type, cusparseOrder_t order),
             (matrix, rows, cols, stride, values, type, order))
GNNTUNE_LATE(cusparseStatus_t, cusparseDestroyDnMat, (cusparseConstDnMatDescr_t matrix), (matrix))

#define GNNTUNE_SPMM_PARAMETERS                                                                             \
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void *alpha,         \
        cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta, cusparseDnMatDescr_t c, \
        cudaDataType type, cusparseSpMMAlg_t algorithm
#define GNNTUNE_SDDMM_PARAMETERS                                                                            \
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void *alpha,         \
        cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta, cusparseSpMatDescr_t c, \
        cudaDataType type, cusparseSDDMMAlg_t algorithm
#define GNNTUNE_PRODUCT_ARGUMENTS handle, op_a, op_b, alpha, a, b, beta, c, type, algorithm

GNNTUNE_LATE(cusparseStatus_t, cusparseSpMM_bufferSize, (GNNTUNE_SPMM_PARAMETERS, size_t* bytes),
             (GNNTUNE_PRODUCT_ARGUMENTS, bytes))
GNNTUNE_LATE(cusparseStatus_t, cusparseSpMM_preprocess, (GNNTUNE_SPMM_PARAMETERS, void* buffer),
             (GNNTUNE_PRODUCT_ARGUMENTS, buffer))
GNNTUNE_LATE(cusparseStatus_t, cusparseSpMM, (GNNTUNE_SPMM_PARAMETERS, void* buffer),
             (GNNTUNE_PRODUCT_ARGUMENTS, buffer))
GNNTUNE_LATE(cusparseStatus_t, cusparseSDDMM_bufferSize, (GNNTUNE_SDDMM_PARAMETERS, size_t* bytes),
             (GNNTUNE_PRODUCT_ARGUMENTS, bytes))
GNNTUNE_LATE(cusparseStatus_t, cusparseSDDMM, (GNNTUNE_SDDMM_PARAMETERS, void* buffer),
             (GNNTUNE_PRODUCT_ARGUMENTS, buffer))

#undef GNNTUNE_PRODUCT_ARGUMENTS
#undef GNNTUNE_SDDMM_PARAMETERS
#undef GNNTUNE_SPMM_PARAMETERS

}  // extern "C"

#undef GNNTUNE_LATE

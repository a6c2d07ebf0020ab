// cuSPARSE handles, descriptors and the checked macro.
#pragma once

#include <cusparse.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/common/error.hpp"
#include "core/gpu/cuda_check.hpp"
#include "core/registry/op.hpp"

/// Evaluates a cuSPARSE call and throws gnntune::Error with place, call and text if it fails.
#define GNNTUNE_CUSPARSE(call)                                                                                        \
    do {                                                                                                              \
        const cusparseStatus_t gnntune_cusparse_status = (call);                                                      \
        if (gnntune_cusparse_status != CUSPARSE_STATUS_SUCCESS) {                                                     \
            throw ::gnntune::Error(::gnntune::ErrorKind::runtime,                                                     \
                                   std::string(__FILE__) + ":" + std::to_string(__LINE__) +                           \
                                       ": " #call " failed with " + cusparseGetErrorString(gnntune_cusparse_status)); \
        }                                                                                                             \
    } while (0)

namespace gnntune::kernels {

/// A handle for the duration of one call. Handles carry a stream, so concurrent calls need one each; they are kept in a
/// pool, so that a run creates one only when more runs are in progress than ever before on this device.
class CusparseLease {
public:
    explicit CusparseLease(cudaStream_t stream) {
        GNNTUNE_CUDA(cudaGetDevice(&device_));
        {
            const std::lock_guard lock(mutex());
            auto& free = pool(device_);
            if (!free.empty()) {
                handle_ = free.back();
                free.pop_back();
            }
        }
        if (!handle_) create();
        GNNTUNE_CUSPARSE(cusparseSetStream(handle_, stream));
    }
    CusparseLease(const CusparseLease&) = delete;
    CusparseLease& operator=(const CusparseLease&) = delete;
    ~CusparseLease() {
        if (!handle_) return;
        const std::lock_guard lock(mutex());
        pool(device_).push_back(handle_);
    }
    cusparseHandle_t get() const { return handle_; }

private:
    // Allocates. A capture that this thread or another one has begun shall neither refuse that nor end for it.
    void create() {
        cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
        GNNTUNE_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
        const cusparseStatus_t status = cusparseCreate(&handle_);
        GNNTUNE_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
        GNNTUNE_CUSPARSE(status);
    }
    static std::mutex& mutex() {
        static std::mutex m;
        return m;
    }
    // Handles live until the process ends: destroying them in static destructors races the CUDA runtime's own end.
    static std::vector<cusparseHandle_t>& pool(int device) {
        static auto* pools = new std::vector<std::vector<cusparseHandle_t>>();
        if (pools->size() <= static_cast<std::size_t>(device)) pools->resize(static_cast<std::size_t>(device) + 1);
        return (*pools)[static_cast<std::size_t>(device)];
    }

    int device_ = 0;
    cusparseHandle_t handle_ = nullptr;
};

inline constexpr float kOne = 1.0F;
inline constexpr float kZero = 0.0F;
inline constexpr auto kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;

struct SpMatDeleter {
    using pointer = cusparseSpMatDescr_t;
    void operator()(cusparseSpMatDescr_t d) const { (void)cusparseDestroySpMat(d); }
};
struct DnMatDeleter {
    using pointer = cusparseDnMatDescr_t;
    void operator()(cusparseDnMatDescr_t d) const { (void)cusparseDestroyDnMat(d); }
};
using SpMat = std::unique_ptr<cusparseSpMatDescr_t, SpMatDeleter>;
using DnMat = std::unique_ptr<cusparseDnMatDescr_t, DnMatDeleter>;

/// Throws ErrorKind::unsupported unless the index arrays stand at multiples of 16 bytes: cuSPARSE reads some of them in
/// vectors, and a caller's own arrays may stand anywhere.
inline void require_aligned_ids(std::initializer_list<const std::int32_t*> arrays) {
    for (const std::int32_t* array : arrays) {
        if (reinterpret_cast<std::uintptr_t>(array) % 16 == 0) continue;
        throw unsupported(
            "cuSPARSE needs the graph's index arrays at multiples of 16 bytes, and one stands elsewhere: copy it to "
            "one, "
            "or let another variant run");
    }
}

inline cudaDataType cusparse_type(DType dtype) {
    switch (dtype) {
        case DType::f16:
            return CUDA_R_16F;
        case DType::bf16:
            return CUDA_R_16BF;
        case DType::f32:
            break;
    }
    return CUDA_R_32F;
}

/// Row-major matrix of elements of `dtype` without padding, device memory.
inline DnMat row_major(std::int64_t rows, std::int64_t cols, const void* values, DType dtype = DType::f32) {
    cusparseDnMatDescr_t d = nullptr;
    GNNTUNE_CUSPARSE(
        cusparseCreateDnMat(&d, rows, cols, cols, const_cast<void*>(values), cusparse_type(dtype), CUSPARSE_ORDER_ROW));
    return DnMat(d);
}

}  // namespace gnntune::kernels

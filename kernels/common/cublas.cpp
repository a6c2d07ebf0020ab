#include "kernels/common/cublas.hpp"

#include <cublas_v2.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "core/gpu/cuda_check.hpp"
#include "core/gpu/late_library.hpp"
#include "kernels/common/find_library.hpp"

namespace gnntune::kernels {
namespace {

LateLibrary& cublas_library() {
    static LateLibrary library("libcublas", CUBLAS_VER_MAJOR);
    return library;
}

// The few entry points used, under the names that cublas_v2.h gives them.
struct Library {
    cublasStatus_t (*create)(cublasHandle_t*) = nullptr;
    cublasStatus_t (*set_stream)(cublasHandle_t, cudaStream_t) = nullptr;
    cublasStatus_t (*set_workspace)(cublasHandle_t, void*, std::size_t) = nullptr;
    cublasStatus_t (*gemm)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                           const void*, cudaDataType, int, const void*, cudaDataType, int, const void*, void*,
                           cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t) = nullptr;
    const char* (*status_text)(cublasStatus_t) = nullptr;

    Library() {
        find("cublasCreate_v2", create);
        find("cublasSetStream_v2", set_stream);
        find("cublasSetWorkspace_v2", set_workspace);
        find("cublasGemmEx", gemm);
        find("cublasGetStatusString", status_text);
    }

private:
    template <typename F>
    static void find(const char* name, F& function) {
        function = reinterpret_cast<F>(cublas_library().function(name));
    }
};

const Library& library() {
    static const Library kLibrary;
    return kLibrary;
}

void check(cublasStatus_t status, const char* call) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    const ErrorKind kind = status == CUBLAS_STATUS_ALLOC_FAILED ? ErrorKind::out_of_memory : ErrorKind::runtime;
    throw Error(kind, std::string(call) + " failed with " + library().status_text(status));
}

struct DeviceHandle {
    std::mutex turn;  // for whoever uses the handle
    cublasHandle_t handle = nullptr;
};

// Handles live until the process ends: destroying them in static destructors races the CUDA runtime's own end.
DeviceHandle& current_device_handle() {
    static std::mutex mutex;
    static auto* handles = new std::map<int, DeviceHandle>();
    int device = 0;
    GNNTUNE_CUDA(cudaGetDevice(&device));
    const std::lock_guard lock(mutex);
    return (*handles)[device];
}

}  // namespace

Verdict find_cublas(Precision precision) {
    // It makes cuBLAS use TF32 where nobody asked for it; whether a pedantic product is spared is nowhere written.
    if (const char* forced = std::getenv("NVIDIA_TF32_OVERRIDE"); precision == Precision::fp32 && forced) {
        if (*forced != '\0' && std::string_view(forced) != "0") {
            return Verdict::no("NVIDIA_TF32_OVERRIDE=" + std::string(forced) +
                               " may take cuBLAS's products below fp32; unset it, or allow an error");
        }
    }
    return find_library(cublas_library());
}

void open_cublas() {
    DeviceHandle& d = current_device_handle();
    const std::lock_guard lock(d.turn);
    if (!d.handle) check(library().create(&d.handle), "cublasCreate");
}

// NVIDIA's recommendation, 32 MiB from Hopper on and 4 MiB before, where the results are many: what is kept there is
// parts of sums, so 32 of each result are enough. 1 MiB is far above what any product needs to run at all.
std::size_t cublas_workspace_bytes(std::int64_t results, std::int32_t compute_capability) {
    constexpr std::int64_t kMiB = 1 << 20;
    const std::int64_t most = (compute_capability >= 90 ? 32 : 4) * kMiB;
    if (results >= most / 128) return static_cast<std::size_t>(most);
    return static_cast<std::size_t>(std::min(most, (kMiB + results * 128) / 256 * 256));
}

// cuBLAS is column-major: a row-major array is the transpose of what it sees, so c^T = b^T a^T with operands swapped.
void enqueue_product(const DenseProduct& p, void* workspace, std::size_t workspace_bytes, StreamHandle stream) {
    const Library& cublas = library();
    const float one = 1.0F;
    const float zero = 0.0F;
    // Pedantic: fp32 in every phase, whatever the environment prefers.
    const cublasComputeType_t compute =
        p.precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F_PEDANTIC;
    DeviceHandle& d = current_device_handle();
    const std::lock_guard lock(d.turn);
    if (!d.handle) throw Error(ErrorKind::runtime, "a product was enqueued on a device without open_cublas()");
    // Setting the stream puts cuBLAS's own workspace back, so the run's comes after it.
    check(cublas.set_stream(d.handle, static_cast<cudaStream_t>(stream)), "cublasSetStream");
    check(cublas.set_workspace(d.handle, workspace, workspace_bytes), "cublasSetWorkspace");
    check(cublas.gemm(d.handle, p.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, p.cols, p.rows, p.inner, &one,
                      p.b, CUDA_R_32F, p.b_stride, p.a, CUDA_R_32F, p.a_stride, &zero, p.c, CUDA_R_32F, p.c_stride,
                      compute, CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
}

}  // namespace gnntune::kernels

#include "kernels/common/cublas.hpp"

#include <cublas_v2.h>
#include <cusparse.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "core/gpu/cuda_check.hpp"

namespace gnntune::kernels {
namespace {

std::string versioned(const char* library, int major) {
    return std::string(library) + ".so." + std::to_string(major);
}

// The folder that cuSPARSE was loaded from, with a slash; empty if unknown.
std::string cusparse_folder() {
    const std::string name = versioned("libcusparse", CUSPARSE_VER_MAJOR);
    void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_LOCAL);
    if (!library) return {};
    std::string folder;
    Dl_info info{};
    if (void* symbol = dlsym(library, "cusparseCreate"); symbol && dladdr(symbol, &info) != 0 && info.dli_fname) {
        const std::string_view path = info.dli_fname;
        folder = path.substr(0, path.rfind('/') + 1);
    }
    dlclose(library);
    return folder;
}

// What to give to dlopen: the library that is loaded already, the one beside cuSPARSE, or the one that the loader
// finds; empty if there is none. Only the last has to be loaded to know, and then stays.
std::string locate() {
    std::string name = versioned("libcublas", CUBLAS_VER_MAJOR);
    if (dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_LOCAL)) return name;
    if (const std::string folder = cusparse_folder(); !folder.empty()) {
        std::string path = folder + name;
        if (access(path.c_str(), R_OK) == 0) return path;
    }
    return dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL) ? name : std::string();
}

const std::string& location() {
    static const std::string kLocation = locate();
    return kLocation;
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
    std::string missing;  // why it cannot be used; empty: it can

    Library() {
        void* library = location().empty() ? nullptr : dlopen(location().c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            const char* error = dlerror();
            missing = error ? error : "not found";
            return;
        }
        find(library, "cublasCreate_v2", create);
        find(library, "cublasSetStream_v2", set_stream);
        find(library, "cublasSetWorkspace_v2", set_workspace);
        find(library, "cublasGemmEx", gemm);
        find(library, "cublasGetStatusString", status_text);
    }

private:
    template <typename F>
    void find(void* library, const char* name, F& function) {
        function = reinterpret_cast<F>(dlsym(library, name));
        if (!function) missing = std::string("no function ") + name;
    }
};

const Library& library() {
    static const Library kLibrary;
    if (!kLibrary.missing.empty()) {
        throw unsupported(versioned("libcublas", CUBLAS_VER_MAJOR) + " cannot be used: " + kLibrary.missing +
                          "; install cuBLAS of this CUDA, or take another variant");
    }
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
    if (!location().empty()) return Verdict::yes();
    return Verdict::no(versioned("libcublas", CUBLAS_VER_MAJOR) +
                       " was found neither beside cuSPARSE nor by the loader; install cuBLAS or set LD_LIBRARY_PATH");
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

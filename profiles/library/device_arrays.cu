// Each check streams through its array once, coalesced, one element per thread and step; a thread that sees a broken
// rule lowers the array's "first bad place" by one atomicMin. Sound arrays cause no atomics.
#include <algorithm>
#include <string>

#include "core/gpu/cuda_check.hpp"
#include "core/gpu/device_buffer.hpp"
#include "profiles/library/device_arrays.hpp"
#include "profiles/library/device_guard.hpp"

namespace gnntune::library {
namespace {

using Place = unsigned long long;  // what atomicMin takes
constexpr Place kNone = ~Place{0};
constexpr int kThreads = 256;
constexpr std::int64_t kMaxBlocks = 65535;

__device__ std::int64_t first_element() {
    return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::int64_t stride() {
    return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

__global__ void narrow_kernel(const std::int64_t* wide, std::int64_t size, std::int32_t* out, Place* bad) {
    for (std::int64_t i = first_element(); i < size; i += stride()) {
        const auto id = static_cast<std::int32_t>(wide[i]);
        out[i] = id;
        if (id != wide[i]) atomicMin(bad, static_cast<Place>(i));
    }
}

__global__ void ids_kernel(const std::int32_t* ids, std::int64_t size, std::int32_t limit, Place* bad) {
    for (std::int64_t i = first_element(); i < size; i += stride()) {
        if (ids[i] < 0 || ids[i] >= limit) atomicMin(bad, static_cast<Place>(i));
    }
}

__global__ void offsets_kernel(const std::int32_t* row_ptr, std::int64_t n_rows, Place* bad) {
    for (std::int64_t i = first_element(); i < n_rows; i += stride()) {
        if (row_ptr[i + 1] < row_ptr[i]) atomicMin(bad, static_cast<Place>(i));
    }
}

template <typename T>
T element(const T* data, std::int64_t place) {
    T value{};
    GNNTUNE_CUDA(cudaMemcpy(&value, data + place, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

/// Launches `kernel(arguments..., bad)` over `size` elements; the first bad place, or kNone.
template <typename... Parameters, typename... Arguments>
Place first_bad(void (*kernel)(Parameters...), std::int64_t size, Arguments... arguments) {
    if (size == 0) return kNone;
    DeviceBuffer<Place> bad = to_device(&kNone, 1);
    const auto blocks = static_cast<unsigned>(std::min((size + kThreads - 1) / kThreads, kMaxBlocks));
    kernel<<<blocks, kThreads>>>(arguments..., bad.data());
    GNNTUNE_CUDA(cudaGetLastError());
    return element(bad.data(), 0);
}

void require_ids(const std::string& what, const std::int32_t* ids, std::int64_t size, std::int32_t limit) {
    const Place bad = first_bad(ids_kernel, size, ids, size, limit);
    if (bad == kNone) return;
    throw input_error(what + "[" + std::to_string(bad) + "] is " +
                      std::to_string(element(ids, static_cast<std::int64_t>(bad))) + ", expected 0 to " +
                      std::to_string(limit - 1));
}

}  // namespace

bool has_code_for(const Device& device) {
    const DeviceGuard guard(device);
    cudaFuncAttributes attributes{};
    const cudaError_t status = cudaFuncGetAttributes(&attributes, ids_kernel);
    if (status == cudaSuccess) return true;
    (void)cudaGetLastError();
    if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction) return false;
    GNNTUNE_CUDA(status);
    return false;
}

void require_device_pointer(const char* name, const void* data, const Device& device) {
    if (!data) return;
    cudaPointerAttributes attributes{};
    GNNTUNE_CUDA(cudaPointerGetAttributes(&attributes, data));
    if (attributes.type == cudaMemoryTypeUnregistered) {
        throw invalid_argument(std::string(name) + " is no device memory; allocate it with CUDA or say GNNTUNE_HOST");
    }
    if (attributes.type == cudaMemoryTypeDevice && attributes.device != device.ordinal) {
        throw invalid_argument(std::string(name) + " is memory of CUDA device " + std::to_string(attributes.device) +
                               ", the context was opened on device " + std::to_string(device.ordinal));
    }
}

void narrow_on_device(const char* name, const std::int64_t* wide, std::int64_t size, std::int32_t* out) {
    const Place bad = first_bad(narrow_kernel, size, wide, size, out);
    if (bad == kNone) return;
    throw unsupported(std::string(name) + "[" + std::to_string(bad) + "] is " +
                      std::to_string(element(wide, static_cast<std::int64_t>(bad))) +
                      "; ids and offsets must fit int32");
}

void validate_on_device(const CsrView& csr) {
    const std::int32_t first = element(csr.row_ptr, 0);
    if (first != 0) throw input_error("CSR graph: row_ptr[0] is " + std::to_string(first) + ", expected 0");
    const Place fall = first_bad(offsets_kernel, csr.n_rows, csr.row_ptr, std::int64_t{csr.n_rows});
    if (fall != kNone) throw input_error("CSR graph: row_ptr falls at row " + std::to_string(fall));
    const std::int32_t last = element(csr.row_ptr, csr.n_rows);
    if (last != csr.m) {
        throw input_error("CSR graph: row_ptr ends at " + std::to_string(last) + ", expected the " +
                          std::to_string(csr.m) + " edges of col_idx");
    }
    require_ids("CSR graph: col_idx", csr.col_idx, csr.m, csr.n_cols);
}

void validate_on_device(const CooView& coo) {
    require_ids("COO graph: row_idx", coo.row_idx, coo.m, coo.n_rows);
    require_ids("COO graph: col_idx", coo.col_idx, coo.m, coo.n_cols);
}

}  // namespace gnntune::library

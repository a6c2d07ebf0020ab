#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <fstream>

#include "core/common/error.hpp"
#include "core/gpu/architectures.hpp"
#include "core/gpu/cuda_check.hpp"
#include "core/registry/device.hpp"

namespace gnntune {
namespace {

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// "580.159.04", which Linux' kernel module says; the version of CUDA that the driver supports where no module tells, as
// under Windows' Linux subsystem.
std::string driver_text() {
    std::string text;
    if (std::ifstream("/sys/module/nvidia/version") >> text) return text;
    int supported = 0;
    GNNTUNE_CUDA(cudaDriverGetVersion(&supported));
    return "CUDA " + version_text(supported);
}

// The cuSPARSE that is used, which a program may bring along: "cusparse 12.6.3". Empty if none can be.
std::string cusparse_text() {
    std::string text = "cusparse";
    char before = ' ';
    try {
        for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
            int value = 0;
            if (cusparseGetProperty(part, &value) != CUSPARSE_STATUS_SUCCESS) return {};
            text += before + std::to_string(value);
            before = '.';
        }
    } catch (const Error&) {
        return {};
    }
    return text;
}

// As nvidia-smi writes it: GPU-8-4-4-4-12.
std::string uuid_text(const cudaUUID_t& uuid) {
    std::string text = "GPU";
    for (int i = 0; i < 16; ++i) {
        if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        constexpr char kDigits[] = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

}  // namespace

int cuda_device_count() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    return count;
}

Device cuda_device(int ordinal) {
    const int count = cuda_device_count();
    if (ordinal < 0 || ordinal >= count) {
        throw Error(ErrorKind::no_device, "CUDA device " + std::to_string(ordinal) + " was asked for, " +
                                              std::to_string(count) +
                                              " are usable here; check nvidia-smi, or use --device cpu");
    }
    cudaDeviceProp properties{};
    int runtime = 0;
    GNNTUNE_CUDA(cudaGetDeviceProperties(&properties, ordinal));
    GNNTUNE_CUDA(cudaRuntimeGetVersion(&runtime));

    Device d;
    d.backend = Backend::cuda;
    d.ordinal = ordinal;
    d.compute_capability =
        gpu::architecture_for(properties.major * 10 + properties.minor, gpu::compiled_architectures());
    d.multiprocessors = properties.multiProcessorCount;
    d.l2_bytes = properties.l2CacheSize;
    d.shared_memory_per_block = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin);
    d.threads_per_multiprocessor = properties.maxThreadsPerMultiProcessor;
    d.uuid = uuid_text(properties.uuid);
    Environment& e = d.environment;
    e.backend = Backend::cuda;
    e.device_name = properties.name;
    e.compute_capability = std::to_string(properties.major) + "." + std::to_string(properties.minor);
    e.multiprocessors = properties.multiProcessorCount;
    e.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
    e.l2_bytes = properties.l2CacheSize;
    e.driver = driver_text();
    e.cuda_runtime = version_text(runtime);
    e.libraries = cusparse_text();
    return d;
}

}  // namespace gnntune

// One checked macro for the CUDA runtime: throws gnntune::Error with place, call, error name and text.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <string>

#include "core/common/error.hpp"

namespace gnntune::gpu {

[[noreturn]] inline void throw_cuda_error(cudaError_t error, const char* call, const char* file, int line) {
    const bool no_device = error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver;
    const ErrorKind kind = error == cudaErrorMemoryAllocation ? ErrorKind::out_of_memory
                           : no_device                        ? ErrorKind::no_device
                                                              : ErrorKind::runtime;
    throw Error(kind, std::string(file) + ":" + std::to_string(line) + ": " + call + " failed with " +
                          cudaGetErrorName(error) + " (" + cudaGetErrorString(error) + ")");
}

}  // namespace gnntune::gpu

/// Evaluates a CUDA runtime call and throws gnntune::Error if it fails.
#define GNNTUNE_CUDA(call)                                                                    \
    do {                                                                                      \
        const cudaError_t gnntune_cuda_status = (call);                                       \
        if (gnntune_cuda_status != cudaSuccess) {                                             \
            (void)cudaGetLastError();                                                         \
            ::gnntune::gpu::throw_cuda_error(gnntune_cuda_status, #call, __FILE__, __LINE__); \
        }                                                                                     \
    } while (0)

/// For destructors: reports on stderr and goes on.
#define GNNTUNE_CUDA_NOEXCEPT(call)                                                                             \
    do {                                                                                                        \
        const cudaError_t gnntune_cuda_status = (call);                                                         \
        if (gnntune_cuda_status != cudaSuccess && gnntune_cuda_status != cudaErrorCudartUnloading) {            \
            std::fprintf(stderr, "gnntune: %s failed with %s\n", #call, cudaGetErrorName(gnntune_cuda_status)); \
        }                                                                                                       \
    } while (0)

// Kernels whose launches overlap (programmatic dependent launch): the next one's blocks take their places as soon as all
// blocks of this one have, and wait for its end where they say so. What a kernel reads before it waits may be written by
// none of the chain; what it writes before it waits may be read by none. From compute capability 9.0.
#pragma once

#include "core/gpu/cuda_check.hpp"

namespace gnntune::kernels {

/// Lets the next kernel of the chain begin. Does nothing where it was not launched as one.
__device__ __forceinline__ void let_next_begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits until the kernel before has ended and what it wrote is seen. Does nothing where this one was not launched
/// behind it with launch_chained().
__device__ __forceinline__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Enqueues `kernel`; `chained`: it calls wait_for_previous(), and the launch before it in the stream is a kernel.
template <typename... Parameters, typename... Arguments>
void launch_chained(bool chained, void (*kernel)(Parameters...), unsigned blocks, unsigned threads, std::size_t shared,
                    cudaStream_t stream, const Arguments&... arguments) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = chained ? 1 : 0;
    GNNTUNE_CUDA(cudaLaunchKernelEx(&config, kernel, arguments...));
}

}  // namespace gnntune::kernels

// How much dynamic shared memory a block has: what a kernel gets unasked, and more.
#pragma once

#include "core/gpu/cuda_check.hpp"

namespace gnntune::kernels {

/// Bytes that every kernel gets unasked.
inline constexpr int kUnaskedSharedBytes = 48 * 1024;

/// Lets `kernel` use as much shared memory as a block of the current device can have. What a launch asks for counts,
/// not this limit, so plans that need less are no worse off. Belongs into prepare().
template <typename... Args>
void allow_all_shared_memory(void (*kernel)(Args...)) {
    int device = 0;
    int bytes = 0;
    GNNTUNE_CUDA(cudaGetDevice(&device));
    GNNTUNE_CUDA(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    GNNTUNE_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

}  // namespace gnntune::kernels

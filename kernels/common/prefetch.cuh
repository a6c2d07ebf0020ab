// Asking for what is loaded later.
#pragma once

namespace gnntune::kernels {

/// Asks for the line at `p` to be in L2 when it is loaded later. Nobody waits, and no register is taken.
__device__ __forceinline__ void prefetch(const void* p) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

}  // namespace gnntune::kernels

// Copies from global to shared memory that pass no register and do not stop the thread (cp.async, compute
// capability 8.0).
#pragma once

#include <cstdint>

namespace gnntune::kernels {

/// Starts a copy of BYTES (4, 8 or 16); both addresses are aligned to them. With `here` false it writes zeros and reads
/// nothing. Copies of 16 bytes go past L1, unless KEEP says that others will want them too.
template <int BYTES, bool KEEP = false>
__device__ __forceinline__ void copy_async(void* shared, const void* global, bool here) {
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "cp.async copies 4, 8 or 16 bytes");
    const auto target = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
    const int bytes = here ? BYTES : 0;
    if constexpr (BYTES == 16 && KEEP) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(global), "r"(bytes) : "memory");
    } else if constexpr (BYTES == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(global), "r"(bytes) : "memory");
    } else if constexpr (BYTES == 8) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(target), "l"(global), "r"(bytes) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(target), "l"(global), "r"(bytes) : "memory");
    }
}

/// Ends a group of this thread's copies.
__device__ __forceinline__ void commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most the PENDING newest groups of this thread are still under way.
template <int PENDING>
__device__ __forceinline__ void wait_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

}  // namespace gnntune::kernels

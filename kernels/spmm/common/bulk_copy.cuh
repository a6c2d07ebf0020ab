// Barriers in shared memory that count arrivals and bytes (mbarrier), and bulk copies that arrive on them (compute
// capability 9.0).
//
// A barrier is in phase 0 first; a phase ends when all arrivals and all announced bytes are there. wait_phase() with
// the phase's parity returns once it has ended, and at once for parity 1 of a new barrier.
#pragma once

#include <cstdint>

namespace gnntune::kernels {

__device__ __forceinline__ std::uint32_t shared_address(const void* shared) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}

/// By one thread, before publish_barriers().
__device__ __forceinline__ void start_barrier(std::uint64_t* barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

/// Makes this thread's writes to shared memory, barriers among them, known to bulk copies that start after the next
/// __syncthreads().
__device__ __forceinline__ void publish_barriers() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void arrive(std::uint64_t* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Arrives, and announces bytes that bulk copies will bring.
__device__ __forceinline__ void arrive_expecting(std::uint64_t* barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}

/// Arrives when the copies that this thread has started with copy_async() are done.
__device__ __forceinline__ void arrive_after_copies(std::uint64_t* barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}

__device__ __forceinline__ void wait_phase(std::uint64_t* barrier, unsigned parity) {
    const std::uint32_t address = shared_address(barrier);
    std::uint32_t done = 0;
    while (done == 0) {
        asm volatile(
            "{\n"
            ".reg .pred p;\n"
            "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
            "selp.b32 %0, 1, 0, p;\n"
            "}\n"
            : "=r"(done)
            : "r"(address), "r"(parity)
            : "memory");
    }
}

/// True in one lane of a whole warp. The compiler knows that it is one: bulk copies behind it need no loop over lanes.
__device__ __forceinline__ bool elect_lane() {
    std::uint32_t elected = 0;
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "elect.sync _|p, 0xffffffff;\n"
        "selp.b32 %0, 1, 0, p;\n"
        "}\n"
        : "=r"(elected));
    return elected != 0;
}

/// Starts a copy of `bytes`, a multiple of 16, between addresses that are aligned to 16; `barrier` counts them.
__device__ __forceinline__ void copy_bulk(void* shared, const void* global, unsigned bytes, std::uint64_t* barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(shared)),
                 "l"(global), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

}  // namespace gnntune::kernels

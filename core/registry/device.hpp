// What a variant may know about the processor it would run on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/registry/measurement.hpp"
#include "core/registry/op.hpp"

namespace gnntune {

class Errata;  // core/registry/errata.hpp

/// One processor. `environment` is its identity in the store; the rest are limits that variants check.
struct Device {
    Backend backend = Backend::cpu;
    std::int32_t ordinal = 0;                     ///< CUDA device index; 0 for the CPU
    std::int32_t compute_capability = 0;          ///< 90 for 9.0; of this build's code for it; 0 for the CPU
    std::int32_t multiprocessors = 0;             ///< SMs, or OpenMP threads
    std::int64_t l2_bytes = 0;                    ///< L2, or last-level cache
    std::int64_t shared_memory_per_block = 0;     ///< opt-in maximum; 0 for the CPU
    std::int32_t threads_per_multiprocessor = 0;  ///< that it holds at once; 0: not known, or the CPU
    std::string uuid;                             ///< "GPU-" and 32 digits with dashes; empty for the CPU
    Environment environment;
    std::shared_ptr<const Errata> errata;  ///< configs that must not run; null: none are known
};

/// The host's processors, seen through OpenMP.
Device cpu_device();

/// Whether this build has the variants for GPUs, usable GPU or not.
bool built_with_cuda();

/// Number of usable CUDA devices: 0 without a driver, without a GPU, or in a build without CUDA.
int cuda_device_count();

/// CUDA device `ordinal`. Throws ErrorKind::no_device in words if there is none.
Device cuda_device(int ordinal);

/// Shared memory of a block and threads of a multiprocessor as GPUs of a compute capability (90 for 9.0) have them, for a
/// GPU that is not here to be asked: the CUDA C++ programming guide, technical specifications per compute capability.
void set_usual_limits(Device& device, std::int32_t compute_capability);

/// The limits of a device of compute capability 9.0 that need not be here: for asking variants, not for running them.
Device absent_cuda_device();

}  // namespace gnntune

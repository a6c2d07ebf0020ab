// Which GPUs this build has code for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace gnntune::gpu {

/// Architectures that this build's kernels were compiled for, ascending: 80, 90 and 100 in a package.
std::span<const std::int32_t> compiled_architectures();

/// That whose code runs on a device of `capability`: the newest of `compiled` that is not newer. A kernel has only the
/// instructions of that one there, also where the driver made its code from PTX. `capability` where there is none:
/// nothing runs then, and launching says so.
inline std::int32_t architecture_for(std::int32_t capability, std::span<const std::int32_t> compiled) {
    const auto newer = std::upper_bound(compiled.begin(), compiled.end(), capability);
    return newer == compiled.begin() ? capability : *(newer - 1);
}

}  // namespace gnntune::gpu

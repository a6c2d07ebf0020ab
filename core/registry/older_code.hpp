// Where a build's kernels are of an older compute capability than the device: what needs the newer one is not in them.
#pragma once

#include <string>

#include "core/registry/device.hpp"

namespace gnntune {

/// "9.0" of 90.
inline std::string capability_text(std::int32_t capability) {
    return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

/// ", and this build's code for it is of 8.0: ...", to be said behind the device's own; empty where it is of that.
inline std::string older_code_of(const Device& device) {
    const std::string code = capability_text(device.compute_capability);
    const std::string& has = device.environment.compute_capability;
    if (device.backend != Backend::cuda || has.empty() || has == code) return {};
    return ", and this build's code for it is of " + code + ": build with CMAKE_CUDA_ARCHITECTURES for this GPU";
}

}  // namespace gnntune

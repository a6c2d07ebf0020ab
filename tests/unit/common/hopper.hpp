// A GPU that is described and need not be there: an H100 or H200, as far as host code asks.
#pragma once

#include "core/registry/device.hpp"

namespace gnntune::test {

inline Device hopper() {
    Device device;
    device.backend = Backend::cuda;
    device.compute_capability = 90;
    device.multiprocessors = 132;
    device.l2_bytes = 50 << 20;
    device.shared_memory_per_block = 227 << 10;
    return device;
}

}  // namespace gnntune::test

// What else goes on on a GPU, as NVML tells it: clocks, and processes of others. Nothing where there is no NVML, no GPU
// or no answer.
#pragma once

#include <string>
#include <vector>

#include "core/registry/device.hpp"

namespace gnntune::tuner {

/// The SM clock now.
struct ClockState {
    int sm_mhz = 0;       ///< 0: not known
    bool slowed = false;  ///< the hardware slows the clock down: too hot, too much current, or a brake from outside
};
ClockState clock_state(const Device& device);

/// A process with a context on a GPU.
struct GpuProcess {
    long pid = 0;
    std::string name;  ///< of its program; empty if it cannot be seen
};
/// Processes but this one that compute on the device. Ask before this process has a context: in a container NVML may
/// list it under a number that it does not have inside.
std::vector<GpuProcess> other_processes(const Device& device);

}  // namespace gnntune::tuner

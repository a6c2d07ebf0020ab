#include "tuner/measuring/gpu_state.hpp"

namespace gnntune::tuner {

// With CUDA they are in nvml.cpp.
#if !GNNTUNE_WITH_CUDA
ClockState clock_state(const Device&) {
    return {};
}
std::vector<GpuProcess> other_processes(const Device&) {
    return {};
}
#endif

}  // namespace gnntune::tuner

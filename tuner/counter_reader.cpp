#include "tuner/counter_reader.hpp"

#include "core/common/error.hpp"

namespace gnntune::tuner {

std::unique_ptr<CounterReader> counter_reader(const Device& device) {
    if (device.backend != Backend::cuda) {
        throw Error(ErrorKind::no_device, "hardware counters are read on a GPU, and the device is the CPU");
    }
#if GNNTUNE_WITH_COUNTERS
    return range_profiler(device);
#else
    throw unsupported("this build cannot read hardware counters: build with CUPTI of CUDA 12.6 or newer");
#endif
}

}  // namespace gnntune::tuner

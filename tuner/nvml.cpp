// SM clock through NVML, opened at run time: the library belongs to the driver and may be absent.
#include <dlfcn.h>

#include "core/gpu/cuda_check.hpp"
#include "tuner/stopwatch.hpp"

namespace gnntune::tuner {
namespace {

// The few entry points used, as NVML's documentation declares them.
class Nvml {
public:
    Nvml() {
        library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!library_) return;
        const auto init = find<int (*)()>("nvmlInit_v2");
        by_bus_id_ = find<int (*)(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
        clock_info_ = find<int (*)(void*, int, unsigned*)>("nvmlDeviceGetClockInfo");
        usable_ = init && by_bus_id_ && clock_info_ && init() == 0;
    }

    int sm_clock_mhz(int ordinal) const {
        if (!usable_) return 0;
        char bus_id[32];
        if (cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, ordinal) != cudaSuccess) return 0;
        void* device = nullptr;
        unsigned mhz = 0;
        constexpr int kSmClock = 1;  // NVML_CLOCK_SM
        if (by_bus_id_(bus_id, &device) != 0 || clock_info_(device, kSmClock, &mhz) != 0) return 0;
        return static_cast<int>(mhz);
    }

private:
    template <typename F>
    F find(const char* name) const {
        return reinterpret_cast<F>(dlsym(library_, name));
    }

    void* library_ = nullptr;
    int (*by_bus_id_)(const char*, void**) = nullptr;
    int (*clock_info_)(void*, int, unsigned*) = nullptr;
    bool usable_ = false;
};

}  // namespace

int sm_clock_mhz(const Device& device) {
    if (device.backend != Backend::cuda) return 0;
    static const Nvml kNvml;
    return kNvml.sm_clock_mhz(device.ordinal);
}

}  // namespace gnntune::tuner

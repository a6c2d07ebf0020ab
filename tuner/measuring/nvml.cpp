// NVML, opened at run time: the library belongs to the driver and may be absent.
#include <dlfcn.h>
#include <unistd.h>

#include <filesystem>

#include "core/gpu/cuda_check.hpp"
#include "tuner/measuring/gpu_state.hpp"

namespace gnntune::tuner {
namespace {

// The few entry points and types used, as NVML's documentation declares them.
using Handle = void*;
constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr int kSmClock = 1;
// Hardware slowdown, and slowdowns for heat (by software and by hardware) and by the power brake. Not the power cap: it
// is how a GPU under load works, and shows in the clock if it matters.
constexpr unsigned long long kSlowdowns = 0x08 | 0x20 | 0x40 | 0x80;
struct ProcessInfo {
    unsigned pid;
    unsigned long long used_memory;
    unsigned gpu_instance;
    unsigned compute_instance;
};

class Nvml {
public:
    Nvml() {
        library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!library_) return;
        const auto init = find<int (*)()>("nvmlInit_v2");
        by_bus_id_ = find<int (*)(const char*, Handle*)>("nvmlDeviceGetHandleByPciBusId_v2");
        clock_info_ = find<int (*)(Handle, int, unsigned*)>("nvmlDeviceGetClockInfo");
        reasons_ = find<int (*)(Handle, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons");
        processes_ = find<int (*)(Handle, unsigned*, ProcessInfo*)>("nvmlDeviceGetComputeRunningProcesses_v3");
        process_name_ = find<int (*)(unsigned, char*, unsigned)>("nvmlSystemGetProcessName");
        usable_ = init && by_bus_id_ && init() == kSuccess;
    }

    ClockState clock_state(int ordinal) const {
        ClockState state;
        const Handle device = handle(ordinal);
        if (!device) return state;
        unsigned mhz = 0;
        if (clock_info_ && clock_info_(device, kSmClock, &mhz) == kSuccess) state.sm_mhz = static_cast<int>(mhz);
        unsigned long long reasons = 0;
        if (reasons_ && reasons_(device, &reasons) == kSuccess) state.slowed = (reasons & kSlowdowns) != 0;
        return state;
    }

    std::vector<GpuProcess> other_processes(int ordinal) const {
        const Handle device = handle(ordinal);
        if (!device || !processes_) return {};
        // More may start between two calls, so there is room for some.
        std::vector<ProcessInfo> found(64);
        int status = kInsufficientSize;
        for (int attempt = 0; attempt < 3 && status == kInsufficientSize; ++attempt) {
            auto count = static_cast<unsigned>(found.size());
            status = processes_(device, &count, found.data());
            if (status == kSuccess) found.resize(count);
            if (status == kInsufficientSize) found.resize(count + 64U);
        }
        std::vector<GpuProcess> out;
        if (status != kSuccess) return out;
        for (const ProcessInfo& process : found) {
            if (static_cast<pid_t>(process.pid) == getpid()) continue;
            char path[1024] = {};
            const bool named =
                process_name_ && process_name_(process.pid, path, static_cast<unsigned>(sizeof path)) == kSuccess;
            out.push_back({static_cast<long>(process.pid),
                           named ? std::filesystem::path(path).filename().string() : std::string()});
        }
        return out;
    }

private:
    template <typename F>
    F find(const char* name) const {
        return reinterpret_cast<F>(dlsym(library_, name));
    }

    Handle handle(int ordinal) const {
        char bus_id[32];
        Handle device = nullptr;
        if (!usable_ || cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, ordinal) != cudaSuccess) return nullptr;
        return by_bus_id_(bus_id, &device) == kSuccess ? device : nullptr;
    }

    void* library_ = nullptr;
    int (*by_bus_id_)(const char*, Handle*) = nullptr;
    int (*clock_info_)(Handle, int, unsigned*) = nullptr;
    int (*reasons_)(Handle, unsigned long long*) = nullptr;
    int (*processes_)(Handle, unsigned*, ProcessInfo*) = nullptr;
    int (*process_name_)(unsigned, char*, unsigned) = nullptr;
    bool usable_ = false;
};

const Nvml& nvml() {
    static const Nvml kNvml;
    return kNvml;
}

}  // namespace

ClockState clock_state(const Device& device) {
    return device.backend == Backend::cuda ? nvml().clock_state(device.ordinal) : ClockState{};
}

std::vector<GpuProcess> other_processes(const Device& device) {
    return device.backend == Backend::cuda ? nvml().other_processes(device.ordinal) : std::vector<GpuProcess>{};
}

}  // namespace gnntune::tuner

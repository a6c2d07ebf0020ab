#include <omp.h>
#include <unistd.h>

#include <fstream>

#include "core/common/error.hpp"
#include "core/registry/device.hpp"

namespace gnntune {
namespace {

std::string cpu_model_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.rfind("model name", 0) == 0) {
            const std::size_t colon = line.find(':');
            if (colon != std::string::npos && colon + 2 < line.size()) return line.substr(colon + 2);
        }
    }
    return "CPU";
}

std::int64_t last_level_cache_bytes() {
    const long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (l3 > 0) return l3;
    const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return l2 > 0 ? l2 : 8L << 20;
}

std::string instruction_set() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) return "x86-64 avx512";
    if (__builtin_cpu_supports("avx2")) return "x86-64 avx2";
    return "x86-64";
#elif defined(__aarch64__)
    return "aarch64";
#else
    return "generic";
#endif
}

}  // namespace

Device cpu_device() {
    Device d;
    d.backend = Backend::cpu;
    d.multiprocessors = omp_get_max_threads();
    d.l2_bytes = last_level_cache_bytes();
    d.environment.backend = Backend::cpu;
    d.environment.device_name = cpu_model_name();
    d.environment.compute_capability = instruction_set();
    d.environment.multiprocessors = d.multiprocessors;
    d.environment.memory_bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
    d.environment.l2_bytes = d.l2_bytes;
    return d;
}

bool built_with_cuda() {
    return GNNTUNE_WITH_CUDA != 0;
}

void set_usual_limits(Device& device, std::int32_t compute_capability) {
    struct Limits {
        std::int32_t from;
        std::int64_t shared_kib;
        std::int32_t threads;
    };
    constexpr Limits kLimits[] = {{120, 99, 1536}, {110, 227, 1536}, {90, 227, 2048}, {88, 99, 1536},
                                  {87, 163, 1536}, {86, 99, 1536},   {80, 163, 2048}, {75, 64, 1024}};
    for (const Limits& limits : kLimits) {
        if (compute_capability < limits.from) continue;
        device.shared_memory_per_block = limits.shared_kib << 10;
        device.threads_per_multiprocessor = limits.threads;
        return;
    }
}

Device absent_cuda_device() {
    Device d;
    d.backend = Backend::cuda;
    d.compute_capability = 90;
    d.multiprocessors = 132;
    d.l2_bytes = std::int64_t{50} << 20;
    set_usual_limits(d, d.compute_capability);
    d.environment.backend = Backend::cuda;
    d.environment.compute_capability = "9.0";
    return d;
}

#if !GNNTUNE_WITH_CUDA
int cuda_device_count() {
    return 0;
}

Device cuda_device(int) {
    throw Error(ErrorKind::no_device,
                "this build has no CUDA backend; install nvcc and build again, or use --device cpu");
}
#endif

}  // namespace gnntune

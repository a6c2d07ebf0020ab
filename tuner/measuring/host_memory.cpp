#include "tuner/measuring/host_memory.hpp"

#include <cstdio>
#include <fstream>
#include <string>

#include "core/common/error.hpp"
#include "core/ops/arrays.hpp"
#include "core/registry/device.hpp"

namespace gnntune::tuner {
namespace {

constexpr std::uint64_t kOracleBytes = sizeof(double) + sizeof(float);  // value and scale of an element

std::string gib(std::uint64_t bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / (1ull << 30));
    return text;
}

}  // namespace

std::uint64_t host_bytes(const Query& query) {
    std::uint64_t bytes = 0;
    for (const ArraySpec& spec : arrays_of(query)) {
        const auto elements = static_cast<std::uint64_t>(spec.size());
        // Inputs are kept as fp32 for the oracles, and as they are stored where that differs.
        const std::uint64_t narrow = spec.element_bytes() < sizeof(float) ? spec.bytes() : 0;
        bytes += spec.is_input() ? elements * sizeof(float) + narrow : elements * kOracleBytes;
        if (query.device->backend == Backend::cpu) bytes += spec.bytes();
    }
    return bytes;
}

std::optional<std::uint64_t> available_host_bytes() {
    std::ifstream file("/proc/meminfo");
    std::string word;
    for (std::uint64_t kib = 0; file >> word;) {
        if (word == "MemAvailable:" && file >> kib) return kib * 1024;
    }
    return std::nullopt;
}

void require_host_memory(const Query& query) {
    const std::uint64_t needed = host_bytes(query);
    if (needed < (1ull << 30)) return;  // not worth asking
    const auto available = available_host_bytes();
    if (!available || needed <= *available) return;
    throw Error(ErrorKind::out_of_memory, "operands and oracle need " + gib(needed) + " of host memory at least, and " +
                                              gib(*available) + " are available");
}

}  // namespace gnntune::tuner

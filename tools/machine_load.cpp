#include "tools/machine_load.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace gnntune::tools {

// On a busy machine a thread that spins at an OpenMP barrier waits for the others by whole time slices, and every
// median with it.
std::optional<std::string> load_warning(const Device& device, std::string_view way_out) {
    double load = 0;
    if (device.backend != Backend::cpu || getloadavg(&load, 1) != 1) return std::nullopt;
    if (load < 0.5 * device.multiprocessors) return std::nullopt;
    return fmt::format(
        "the load average is {:.1f} on {} threads: times on the CPU may be far off, by time slices of several "
        "milliseconds; stop other work and {}, or set OMP_WAIT_POLICY=passive",
        load, device.multiprocessors, way_out);
}

}  // namespace gnntune::tools

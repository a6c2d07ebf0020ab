#include "tools/common/machine_load.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace gnntune::tools {

// On a busy machine threads wait for a processor by whole time slices. Such calls do not count, and are made again.
std::optional<std::string> load_warning(const Device& device, std::string_view way_out) {
    double load = 0;
    if (device.backend != Backend::cpu || getloadavg(&load, 1) != 1) return std::nullopt;
    if (load < 0.5 * device.multiprocessors) return std::nullopt;
    return fmt::format(
        "the load average is {:.1f} on {} threads: calls that have to wait for a processor do not count, so that "
        "measuring takes longer and some configs cannot be timed; stop other work and {}",
        load, device.multiprocessors, way_out);
}

}  // namespace gnntune::tools

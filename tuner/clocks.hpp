// The clocks that there are, and a stopwatch for each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tuner/measuring/stopwatch.hpp"

namespace gnntune::tuner {

/// CUPTI activity records. Throws ErrorKind::unsupported in words if CUPTI is not part of the build or refuses.
std::unique_ptr<Stopwatch> span_stopwatch(const Device& device, StreamHandle stream);

/// Where CUPTI is; empty if it is not part of the build or not installed.
std::string cupti_location();

/// The clocks that `wanted` leaves of those the device has, best first (span, events; host for the CPU), and a sentence
/// about each that was wanted and cannot be had.
struct Clocks {
    std::vector<Clock> clocks;
    std::vector<std::string> warnings;
};
Clocks usable_clocks(const Device& device, const std::vector<Clock>& wanted);
std::unique_ptr<Stopwatch> make_stopwatch(Clock clock, const Device& device, StreamHandle stream);

}  // namespace gnntune::tuner

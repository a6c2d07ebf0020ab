// What counters say about a time: how near it comes to what the device can do, and what holds it back
// (docs/measuring.md, "Counters").
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/model/roofline.hpp"
#include "core/registry/counters.hpp"

namespace gnntune::tuner {

/// Shares of what the whole device can do in the time of a config, percent. Nothing where a counter or a rate is
/// missing.
struct Limits {
    std::optional<double> dram;     ///< bytes over the copy rate
    std::optional<double> l2;       ///< bytes between L2 and SMs over the highest gather rate
    std::optional<double> l1;       ///< data stage of L1 and shared memory
    std::optional<double> issue;    ///< instructions issued
    std::optional<double> tensor;   ///< tensor cores busy
    std::optional<double> atomics;  ///< atomic units of L2 busy
    std::optional<double> warps;    ///< warps in flight
};

Limits limits_of(const Counters& counters, double time_us, const DeviceConstants& constants);

/// The limit that is nearest, if it is at least kBoundPercent: dram, l2, l1, issue, tensor or atomics. Else occupancy
/// where fewer than kWarpsPercent of the warps are in flight, and latency where more are. Empty if that cannot be told,
/// because dram, l2 or warps is not known.
std::string_view bound_of(const Limits& limits);
inline constexpr double kBoundPercent = 60;
inline constexpr double kWarpsPercent = 50;

/// "moved 1.9x the compulsory bytes, 71 % of them from L2": what passed between L2 and the SMs over what any exact
/// config has to move, and the share that DRAM did not have to move. Empty where a counter is missing.
std::string movement_text(const Counters& counters, const Work& work);

}  // namespace gnntune::tuner

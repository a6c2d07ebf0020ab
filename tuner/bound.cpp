#include "tuner/bound.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gnntune::tuner {
namespace {

/// 100 a / b
std::optional<double> percent(std::optional<double> a, double b) {
    if (!a || b <= 0) return std::nullopt;
    return 100 * *a / b;
}

}  // namespace

Limits limits_of(const Counters& c, double time_us, const DeviceConstants& constants) {
    double gather_gbps = 0;
    for (const GatherRate& r : constants.gather) gather_gbps = std::max(gather_gbps, r.gbps);
    Limits limits;
    limits.dram = percent(c.dram_bytes(), constants.copy_gbps * time_us * 1e3);
    limits.l2 = percent(c.l2_bytes(), gather_gbps * time_us * 1e3);
    limits.atomics = percent(c.atomic_unit_us, time_us);
    // Rates of SMs hold for the cycles in which they have work; of the others nothing can be said but that they passed.
    if (const auto active = percent(c.sm_active_us, time_us)) {
        const double share = std::min(1.0, *active / 100);
        const auto over_time = [share](std::optional<double> rate) {
            return rate ? std::optional(*rate * share) : std::nullopt;
        };
        limits.l1 = over_time(c.l1_pipe_percent);
        limits.issue = over_time(c.issue_percent);
        limits.tensor = over_time(c.tensor_pipe_percent);
        limits.warps = over_time(c.occupancy_percent);
    }
    return limits;
}

std::string_view bound_of(const Limits& limits) {
    std::string_view nearest;
    double most = -1;
    const auto look = [&](std::string_view word, std::optional<double> share) {
        if (!share || *share <= most) return;
        most = *share;
        nearest = word;
    };
    look("dram", limits.dram);
    look("l2", limits.l2);
    look("atomics", limits.atomics);
    look("l1", limits.l1);
    look("tensor", limits.tensor);
    look("issue", limits.issue);
    if (most >= kBoundPercent) return nearest;
    // What is not known may bind too.
    if (!limits.dram || !limits.l2 || !limits.warps) return "";
    return *limits.warps < kWarpsPercent ? "occupancy" : "latency";
}

std::string movement_text(const Counters& counters, const Work& work) {
    const auto l2 = counters.l2_bytes();
    const auto dram = counters.dram_bytes();
    const double compulsory = work.a_bytes + work.gather_min_bytes + work.out_bytes;
    if (!l2 || !dram || *l2 <= 0 || compulsory <= 0) return "";
    return fmt::format("moved {:.1f}x the compulsory bytes, {:.0f} % of them from L2", *l2 / compulsory,
                       std::max(0.0, 100 * (1 - *dram / *l2)));
}

}  // namespace gnntune::tuner

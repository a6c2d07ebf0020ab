#include "tuner/measuring/burst_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gnntune::tuner {

bool BurstFilter::throttled(const Burst& burst) const {
    return burst.clock.slowed || (burst.clock.sm_mhz > 0 && burst.clock.sm_mhz < (1 - clock_drop_) * highest_mhz_);
}

void BurstFilter::add(std::vector<double> times, ClockState clock) {
    bursts_.push_back({std::move(times), clock});
    highest_mhz_ = std::max(highest_mhz_, clock.sm_mhz);
    // All of them: a clock that rises throws a shadow on the bursts before it.
    for (Burst& burst : bursts_) {
        if (burst.discarded || discarded_ >= most_discarded_ || !throttled(burst)) continue;
        burst.discarded = true;
        ++discarded_;
    }
}

std::vector<double> BurstFilter::samples() const {
    std::vector<double> out;
    for (const Burst& burst : bursts_) {
        if (!burst.discarded) out.insert(out.end(), burst.times.begin(), burst.times.end());
    }
    return out;
}

int BurstFilter::clock_mhz() const {
    std::vector<int> clocks;
    for (const Burst& burst : bursts_) {
        if (!burst.discarded) clocks.push_back(burst.clock.sm_mhz);
    }
    if (clocks.empty()) return 0;
    const auto middle = clocks.begin() + static_cast<std::ptrdiff_t>(clocks.size() / 2);
    std::nth_element(clocks.begin(), middle, clocks.end());
    return *middle;
}

std::string BurstFilter::remark() const {
    int kept = 0;
    int lowest_mhz = highest_mhz_;
    for (const Burst& burst : bursts_) {
        if (burst.discarded || !throttled(burst)) continue;
        ++kept;
        if (burst.clock.sm_mhz > 0) lowest_mhz = std::min(lowest_mhz, burst.clock.sm_mhz);
    }
    if (kept == 0) return {};
    std::string text = fmt::format("{} of {} bursts at a throttled clock", kept, counting());
    if (highest_mhz_ > 0) text += fmt::format(", down to {} of {} MHz", lowest_mhz, highest_mhz_);
    return text;
}

}  // namespace gnntune::tuner

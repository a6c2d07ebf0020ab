// Which bursts of a config count: those taken while the SM clock was down are measured again.
#pragma once

#include <string>
#include <vector>

#include "tuner/measuring/gpu_state.hpp"

namespace gnntune::tuner {

/// The bursts of one config. A burst is throttled if the hardware slowed the clock down (ClockState::slowed) or the
/// clock beside it was more than `clock_drop` under the highest that was seen beside any burst of the config, before it
/// or after. Throttled bursts are discarded, so that the caller takes others instead, up to `most_discarded`: what is
/// throttled beyond that counts, and remark() says so. Where clocks cannot be read nothing is discarded.
class BurstFilter {
public:
    explicit BurstFilter(double clock_drop = 0.05, int most_discarded = 8)
        : clock_drop_(clock_drop), most_discarded_(most_discarded) {}

    /// A burst with its times, and the clock read right after it.
    void add(std::vector<double> times, ClockState clock);

    /// Times of the bursts that count, in the order taken.
    std::vector<double> samples() const;
    /// Number of bursts that count.
    int counting() const { return static_cast<int>(bursts_.size()) - discarded_; }
    int discarded() const { return discarded_; }
    /// Median clock of the bursts that count, MHz; 0 if it is not known.
    int clock_mhz() const;
    /// "2 of 8 bursts at a throttled clock, down to 1200 of 1980 MHz" of those that count; empty if none is throttled.
    std::string remark() const;

private:
    struct Burst {
        std::vector<double> times;
        ClockState clock;
        bool discarded = false;
    };
    bool throttled(const Burst& burst) const;

    double clock_drop_;
    int most_discarded_;
    int highest_mhz_ = 0;
    int discarded_ = 0;
    std::vector<Burst> bursts_;
};

}  // namespace gnntune::tuner

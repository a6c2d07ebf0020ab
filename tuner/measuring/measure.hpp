// Timing several configs of one problem against each other, interleaved, until the medians are known well enough.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tuner/measuring/frontier.hpp"
#include "tuner/measuring/gpu_state.hpp"
#include "tuner/measuring/statistics.hpp"
#include "tuner/measuring/stopwatch.hpp"
#include "tuner/measuring/workload.hpp"

namespace gnntune::tuner {

struct MeasureOptions {
    int burst = 5;         ///< timed calls in a row, after one untimed call
    int min_samples = 20;  ///< before a confidence interval is believed
    int max_samples = 100;
    double steady_error = 0.1;    ///< a wider interval hides a burst that was disturbed: samples go on, ...
    int unsteady_factor = 4;      ///< ... up to so many times max_samples
    double target_error = 0.005;  ///< half width of the confidence interval of the median over the median
    double stop_factor =
        1.25;  ///< a config this much slower than the best that may stand in for it gets no more than min_samples
    double abandon_factor =
        3.0;  ///< a config whose fastest call of the first two bursts is this much slower than the best is given up
    double clock_drop = 0.05;  ///< a burst whose clock is this much under the config's highest is discarded, ...
    int max_discarded = 8;     ///< ... up to so many for each config (tuner/measuring/burst_filter.hpp)
    /// A config that is stopped counts as it stands if it has so many samples (kStoppedEarly). 0: it does not count.
    int enough_when_stopped = 0;
    /// The first contender gets enough_when_stopped samples however late it is: only `quit` ends it before.
    bool first_in_any_case = false;
    /// Calls that lost the processor to other programs (Stopwatch::lost) are made again until these have been so many
    /// and taken so long. A config that has not min_samples then is disturbed: its time cannot be had.
    int most_lost_calls = 25;
    double most_lost_us = 1e6;
    /// A call that takes longer than this has no untimed one before it, and is a burst of its own: what lies in caches
    /// makes no difference, and one who stops need not wait for five.
    double long_call_us = 1e5;
};

/// A config on its way through checking and timing.
struct Contender {
    Config config;
    bool keep = false;  ///< a baseline: never given up, so that ratios to it exist
    Measurement measurement;
};

/// What happens during measure(): all optional.
struct MeasureHooks {
    std::function<void(const Measurement&)> finished;  ///< a measurement is complete, in the order of completion
    std::function<bool()> stop;                        ///< asked between bursts; true ends the measuring
    std::function<bool()> quit;                        ///< the same, also for the first contender
    std::function<ClockState()> clock;                 ///< asked after each burst instead of the device
};

/// Plans, checks and times `contenders` (prepare_us is that of the plans' own data: what formats cost is known apart)
/// on `workload` under one clock and policy; `frontier` carries the best medians over several calls for the same problem
/// (empty at first). Every contender that was reached ends with a measurement of a final status: ok, wrong, failed
/// (Measurement::disturbed() among them), abandoned, or refused where it cannot be captured for Policy::graph. Returns
/// false if a hook ended it early; contenders without a finished measurement then keep samples = 0 and were not reported
/// (but see MeasureOptions::enough_when_stopped).
bool measure(ProblemWorkload& workload, std::vector<Contender>& contenders, Stopwatch& stopwatch, Policy policy,
             const MeasureOptions& options, const MeasureHooks& hooks, Frontier& frontier);

/// A measurement of status `refused` for a variant that does not apply, with its reason.
Measurement refused(const Variant& variant, const std::string& reason, Policy policy, Clock clock);

}  // namespace gnntune::tuner

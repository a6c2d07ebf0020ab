// Order statistics of a sample of times. Medians and quartiles, never minima or means: times have a floor and a tail.
// Only what is done once and seldom has a least time, since medians of it would cost too much.
#pragma once

#include <functional>
#include <vector>

namespace gnntune::tuner {

struct Summary {
    double median = 0;
    double q1 = 0;
    double q3 = 0;
    double min = 0;
    double ci_low = 0;  ///< 95 % confidence interval of the median
    double ci_high = 0;
    std::size_t samples = 0;

    /// Half the width of the confidence interval over the median; infinite without samples.
    double relative_error() const;
};

/// Summary of `samples` (any order, any number). The interval is distribution-free: the order statistics at ranks
/// n/2 -+ 0.98 sqrt(n) (binomial with p = 1/2, normal approximation), the extremes where n is too small for it.
Summary summarise(std::vector<double> samples);

/// Microseconds that something takes which is done once, such as a format's build: `once_more` does it and says how long
/// it took. The result is the least: code that the first time loads and whatever else the machine does only add. It is
/// done again until the two least agree within a quarter or `unnoticed_us`, at most kMostTimes times; once only where
/// that took no more than `unnoticed_us`, or a second and more.
double least_us(double unnoticed_us, const std::function<double()>& once_more);

inline constexpr int kMostTimes = 6;

}  // namespace gnntune::tuner

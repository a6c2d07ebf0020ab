// Order statistics of a sample of times. Medians and quartiles, never minima or means: times have a floor and a tail.
#pragma once

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

}  // namespace gnntune::tuner

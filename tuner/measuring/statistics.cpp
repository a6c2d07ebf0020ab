#include "tuner/measuring/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gnntune::tuner {
namespace {

// Linear interpolation between closest ranks of a sorted sample.
double quantile(const std::vector<double>& sorted, double q) {
    const double at = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const auto above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

double Summary::relative_error() const {
    if (samples == 0 || median <= 0) return std::numeric_limits<double>::infinity();
    return (ci_high - ci_low) / 2.0 / median;
}

Summary summarise(std::vector<double> samples) {
    Summary s;
    s.samples = samples.size();
    if (samples.empty()) return s;
    std::sort(samples.begin(), samples.end());
    s.median = quantile(samples, 0.5);
    s.q1 = quantile(samples, 0.25);
    s.q3 = quantile(samples, 0.75);
    s.min = samples.front();
    const double n = static_cast<double>(samples.size());
    const double half = 0.98 * std::sqrt(n);  // 1.96 standard deviations of a binomial, sqrt(n) / 2
    const auto low = static_cast<std::ptrdiff_t>(std::floor(n / 2.0 - half));
    const auto high = static_cast<std::ptrdiff_t>(std::ceil(n / 2.0 + half));
    s.ci_low = samples[static_cast<std::size_t>(std::max<std::ptrdiff_t>(low, 0))];
    s.ci_high = samples[static_cast<std::size_t>(
        std::min<std::ptrdiff_t>(high, static_cast<std::ptrdiff_t>(samples.size()) - 1))];
    return s;
}

double least_us(double unnoticed_us, const std::function<double()>& once_more) {
    constexpr double kAgree = 1.25;
    constexpr double kLong = 1e6;  // us, beside which a hiccup is little
    double least = once_more();
    double second = std::numeric_limits<double>::infinity();
    const auto settled = [&] {
        return least <= unnoticed_us || least >= kLong || second <= std::max(kAgree * least, least + unnoticed_us);
    };
    for (int done = 1; done < kMostTimes && !settled(); ++done) {
        const double us = once_more();
        second = std::max(least, std::min(second, us));
        least = std::min(least, us);
    }
    return least;
}

}  // namespace gnntune::tuner

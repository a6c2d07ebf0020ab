#include "tools/report/scale.hpp"

#include <algorithm>
#include <cmath>

namespace gnntune::tools::report {

namespace {

/// A number from which widths and ratios of an axis can still be computed, whatever came out of a database.
double held(double value) {
    constexpr double kMost = 1e150;
    return std::isnan(value) ? 0 : std::clamp(value, -kMost, kMost);
}

}  // namespace

Scale Scale::linear(double low, double high, double from, double to) {
    low = held(low);
    high = held(high);
    // So far apart that a step from one tick to the next is not lost in rounding.
    const double least = std::max(std::abs(low), std::abs(high)) * 1e-9;
    if (!(high - low > least)) high = low + std::max(1.0, least);
    return {false, low, high, from, to};
}

Scale Scale::logarithmic(double low, double high, double from, double to) {
    low = held(low);
    high = held(high);
    if (!(low > 1e-150)) low = 1e-12;
    if (!(high > low * 1.001)) {
        high = low * 1.5;
        low /= 1.5;
    }
    return {true, low, high, from, to};
}

double Scale::operator()(double value) const {
    value = std::clamp(std::isnan(value) ? low_ : value, low_, high_);
    const double share = log_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
    return from_ + share * (to_ - from_);
}

std::vector<double> Scale::ticks(int most) const {
    std::vector<double> out;
    if (!log_) {
        const double rough = (high_ - low_) / std::max(1, most);
        const double power = std::pow(10.0, std::floor(std::log10(rough)));
        double step = 10 * power;
        for (const double unit : {1.0, 2.0, 5.0}) {
            if (unit * power >= rough * 0.999) {
                step = unit * power;
                break;
            }
        }
        for (double i = std::ceil(low_ / step - 1e-9); i * step <= high_ + 1e-9 * step; ++i) out.push_back(i * step);
        return out;
    }
    // The densest of these that is not too dense.
    static const std::vector<std::vector<double>> kUnits{
        {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}, {1, 1.5, 2, 3, 4, 5, 7}, {1, 2, 5}, {1, 3}, {1}};
    for (const auto& units : kUnits) {
        out.clear();
        for (double e = std::floor(std::log10(low_)); e <= std::log10(high_); ++e) {
            for (const double unit : units) {
                const double tick = unit * std::pow(10.0, e);
                if (tick >= low_ * 0.999 && tick <= high_ * 1.001) out.push_back(tick);
            }
        }
        if (static_cast<int>(out.size()) <= most) return out;
    }
    std::vector<double> fewer;
    const auto wanted = static_cast<std::size_t>(std::max(1, most));
    const std::size_t stride = (out.size() + wanted - 1) / wanted;
    for (std::size_t i = 0; i < out.size(); i += stride) fewer.push_back(out[i]);
    return fewer;
}

std::vector<double> Scale::powers_of_two(int most) const {
    std::vector<double> out;
    for (int stride = 1;; ++stride) {
        out.clear();
        const int first = static_cast<int>(std::ceil(std::log2(low_) - 1e-9));
        const int last = static_cast<int>(std::floor(std::log2(high_) + 1e-9));
        for (int e = first; e <= last; ++e) {
            if (((e % stride) + stride) % stride == 0) out.push_back(std::exp2(e));
        }
        if (static_cast<int>(out.size()) <= std::max(2, most)) return out;
    }
}

void x_axis(Svg& svg, const Scale& x, const std::vector<double>& ticks, double top, double bottom,
            const std::vector<std::string>& labels) {
    for (std::size_t i = 0; i < ticks.size(); ++i) {
        svg.line(x(ticks[i]), top, x(ticks[i]), bottom, "grid");
        svg.text(x(ticks[i]), bottom + 15, labels[i], "tick", Anchor::middle);
    }
    svg.line(std::min(x.from(), x.to()), bottom, std::max(x.from(), x.to()), bottom, "axis");
}

void y_axis(Svg& svg, const Scale& y, const std::vector<double>& ticks, double left, double right,
            const std::vector<std::string>& labels) {
    for (std::size_t i = 0; i < ticks.size(); ++i) {
        svg.line(left, y(ticks[i]), right, y(ticks[i]), "grid");
        svg.text(left - 7, y(ticks[i]) + 3.5, labels[i], "tick", Anchor::end);
    }
}

}  // namespace gnntune::tools::report

// From numbers to places: linear and logarithmic axes with their ticks.
#pragma once

#include <string>
#include <vector>

#include "tools/report/svg.hpp"

namespace gnntune::tools::report {

/// From numbers in [low, high] to places from `from` to `to`, which may run backwards. Numbers outside are held to the ends.
class Scale {
public:
    static Scale linear(double low, double high, double from, double to);
    /// Both ends above 0, and not equal: they are moved apart where they are.
    static Scale logarithmic(double low, double high, double from, double to);

    double operator()(double value) const;
    double low() const { return low_; }
    double high() const { return high_; }
    double from() const { return from_; }
    double to() const { return to_; }

    /// Round numbers within the ends, about `most` of them and at least two where there are two.
    std::vector<double> ticks(int most) const;
    /// Powers of two within the ends, so far apart that there are no more than `most`.
    std::vector<double> powers_of_two(int most) const;

private:
    Scale(bool log, double low, double high, double from, double to)
        : log_(log), low_(low), high_(high), from_(from), to_(to) {}
    bool log_;
    double low_;
    double high_;
    double from_;
    double to_;
};

/// Grid lines and labels below a plot whose area is from `top` to `bottom`.
void x_axis(Svg& svg, const Scale& x, const std::vector<double>& ticks, double top, double bottom,
            const std::vector<std::string>& labels);
/// The same at the left of an area from `left` to `right`.
void y_axis(Svg& svg, const Scale& y, const std::vector<double>& ticks, double left, double right,
            const std::vector<std::string>& labels);

/// Each of `values` in words.
template <class F>
std::vector<std::string> labels_of(const std::vector<double>& values, F&& words) {
    std::vector<std::string> out;
    for (const double value : values) out.push_back(words(value));
    return out;
}

}  // namespace gnntune::tools::report

// Which colour and which shape a variant has in all figures of a report.
#pragma once

#include <string>
#include <vector>

#include "tools/report/data.hpp"
#include "tools/report/svg.hpp"

namespace gnntune::tools::report {

class Palette {
public:
    /// The variants of an op that win most come first. Libraries are grey, whatever they win.
    explicit Palette(const Report& report);

    /// Class of its marks: "c0" to "c7", "lib", "other" for those that are left when the colours are used up.
    std::string color(const std::string& variant) const;
    int shape(const std::string& variant) const;
    /// A config whose answer is not exact is drawn hollow.
    std::string color(const Row& row) const;

    struct Look {
        std::string variant;
        std::string color;
        int shape = 0;
    };
    const std::vector<Look>& looks() const { return looks_; }

private:
    const Look* find(const std::string& variant) const;
    std::vector<Look> looks_;
};

/// The id without its op: "binned".
std::string short_name(const std::string& variant);

/// A line of a legend: mark and words, in the width that there is. Returns the height that it took.
struct LegendEntry {
    std::string color;
    int shape = 0;
    std::string text;
};
double legend(Svg& svg, const std::vector<LegendEntry>& entries, double x, double y, double width);

}  // namespace gnntune::tools::report

// Marks of a figure as SVG text. Colours, widths and fonts are classes (figure.css); here are places only.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gnntune::tools::report {

enum class Anchor { start, middle, end };

/// The inside of an <svg>. Texts and titles are escaped here; classes are written as they are. A title is what one reads
/// where the pointer stands.
class Svg {
public:
    void rect(double x, double y, double width, double height, std::string_view classes, std::string_view title = {});
    void line(double x1, double y1, double x2, double y2, std::string_view classes);
    void polyline(const std::vector<std::pair<double, double>>& points, std::string_view classes,
                  std::string_view title = {});
    void text(double x, double y, std::string_view text, std::string_view classes = {}, Anchor anchor = Anchor::start);
    /// A path's data, already made.
    void path(std::string_view data, std::string_view classes, std::string_view title = {});
    /// Attributes are written as they are.
    void begin_group(std::string_view attributes);
    void end_group();
    void append(const Svg& other, double x, double y);

    const std::string& text() const { return out_; }

private:
    void close(std::string_view name, std::string_view title);
    std::string out_;
};

/// One mark of a shape around a point, as a piece of a path. Shapes tell variants apart where colours do not.
std::string mark(int shape, double x, double y, double radius);
inline constexpr int kShapes = 6;

/// About how wide text is drawn, in the font's size of `size`.
double text_width(std::string_view text, double size);

}  // namespace gnntune::tools::report

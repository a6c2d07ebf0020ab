#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "tools/report/figure.hpp"
#include "tools/report/page.hpp"
#include "tools/report/svg.hpp"
#include "tools/report/text.hpp"

namespace gnntune::tools::report {
namespace {

/// Words in lines that are about so wide.
std::vector<std::string> lines_of(const std::string& text, double size, double width) {
    std::vector<std::string> lines;
    std::istringstream words(text);
    std::string line;
    for (std::string word; words >> word;) {
        if (!line.empty() && text_width(line + " " + word, size) > width) {
            lines.push_back(line);
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
    }
    if (!line.empty()) lines.push_back(line);
    return lines;
}

}  // namespace

std::string svg_file(const Figure& figure) {
    constexpr double kMargin = 24;
    constexpr double kTitle = 46;
    constexpr double kLine = 16;
    const double inside = std::max(figure.width, 560.0);
    const auto notes = lines_of(figure.note, 11.5, inside);
    const double width = inside + 2 * kMargin;
    const double height = kTitle + figure.height + 18 + kLine * static_cast<double>(notes.size()) + kMargin;
    Svg svg;
    svg.rect(0, 0, width, height, "paper");
    svg.text(kMargin, 28, shortened(figure.title, 110), "title");
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
        "role=\"img\">\n<title>{2}</title>\n"
        "<desc>{3}</desc>\n<style>\n{4}</style>\n{5}<g transform=\"translate({6} {7})\">\n{8}</g>\n",
        px(width), px(height), escaped(figure.title), escaped(figure.alt), figure_css(), svg.text(), px(kMargin),
        px(kTitle), figure.svg);
    Svg below;
    for (std::size_t i = 0; i < notes.size(); ++i) {
        below.text(kMargin, kTitle + figure.height + 22 + kLine * static_cast<double>(i), notes[i], "caption");
    }
    return out + below.text() + "</svg>\n";
}

}  // namespace gnntune::tools::report

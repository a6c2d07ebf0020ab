#include "tools/report/svg.hpp"

#include <fmt/format.h>

#include "tools/report/text.hpp"

namespace gnntune::tools::report {
namespace {

std::string class_of(std::string_view classes) {
    return classes.empty() ? std::string() : fmt::format(" class=\"{}\"", classes);
}

}  // namespace

void Svg::close(std::string_view name, std::string_view title) {
    if (title.empty()) {
        out_ += "/>";
    } else {
        out_ += fmt::format("><title>{}</title></{}>", escaped(title), name);
    }
    out_ += '\n';
}

void Svg::rect(double x, double y, double width, double height, std::string_view classes, std::string_view title) {
    out_ += fmt::format("<rect{} x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", class_of(classes), px(x), px(y),
                        px(width), px(height));
    close("rect", title);
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view classes) {
    out_ += fmt::format("<path{} d=\"M{} {}L{} {}\"/>\n", class_of(classes), px(x1), px(y1), px(x2), px(y2));
}

void Svg::polyline(const std::vector<std::pair<double, double>>& points, std::string_view classes,
                   std::string_view title) {
    std::string data;
    for (const auto& [x, y] : points) data += fmt::format("{}{} {}", data.empty() ? "M" : "L", px(x), px(y));
    path(data, classes, title);
}

void Svg::text(double x, double y, std::string_view text, std::string_view classes, Anchor anchor) {
    const char* where = anchor == Anchor::middle ? " text-anchor=\"middle\""
                        : anchor == Anchor::end  ? " text-anchor=\"end\""
                                                 : "";
    out_ +=
        fmt::format("<text{} x=\"{}\" y=\"{}\"{}>{}</text>\n", class_of(classes), px(x), px(y), where, escaped(text));
}

void Svg::path(std::string_view data, std::string_view classes, std::string_view title) {
    if (data.empty()) return;
    out_ += fmt::format("<path{} d=\"{}\"", class_of(classes), data);
    close("path", title);
}

void Svg::begin_group(std::string_view attributes) {
    out_ += fmt::format("<g{}{}>\n", attributes.empty() ? "" : " ", attributes);
}

void Svg::end_group() {
    out_ += "</g>\n";
}

void Svg::append(const Svg& other, double x, double y) {
    out_ += fmt::format("<g transform=\"translate({} {})\">\n{}</g>\n", px(x), px(y), other.out_);
}

std::string mark(int shape, double x, double y, double r) {
    const auto at = [](double a, double b) { return px(a) + " " + px(b); };
    switch (shape % kShapes) {
        case 1:  // square
            return "M" + at(x - 0.85 * r, y - 0.85 * r) + "h" + px(1.7 * r) + "v" + px(1.7 * r) + "h" + px(-1.7 * r) +
                   "z";
        case 2:  // triangle
            return "M" + at(x, y - 1.15 * r) + "l" + at(1.1 * r, 1.9 * r) + "h" + px(-2.2 * r) + "z";
        case 3:  // diamond
            return "M" + at(x, y - 1.25 * r) + "l" + at(1.25 * r, 1.25 * r) + "l" + at(-1.25 * r, 1.25 * r) + "l" +
                   at(-1.25 * r, -1.25 * r) + "z";
        case 4:  // triangle that stands on its head
            return "M" + at(x, y + 1.15 * r) + "l" + at(1.1 * r, -1.9 * r) + "h" + px(-2.2 * r) + "z";
        case 5: {  // cross
            const double a = 0.42 * r;
            const double b = 0.75 * r;
            return "M" + at(x - a, y - a - b) + "h" + px(2 * a) + "v" + px(b) + "h" + px(b) + "v" + px(2 * a) + "h" +
                   px(-b) + "v" + px(b) + "h" + px(-2 * a) + "v" + px(-b) + "h" + px(-b) + "v" + px(-2 * a) + "h" +
                   px(b) + "z";
        }
        default:  // circle
            return "M" + at(x - r, y) + "a" + px(r) + " " + px(r) + " 0 1 0 " + px(2 * r) + " 0a" + px(r) + " " +
                   px(r) + " 0 1 0 " + px(-2 * r) + " 0";
    }
}

double text_width(std::string_view text, double size) {
    double width = 0;
    for (const char c : text) {
        const auto u = static_cast<unsigned char>(c);
        if ((u & 0xc0) == 0x80) continue;
        if (u >= 0xe3) {
            width += 1.0;  // mostly wide scripts
        } else if (std::string_view("iljI.,:;|'! ").find(c) != std::string_view::npos) {
            width += 0.32;
        } else if (std::string_view("mwMW%").find(c) != std::string_view::npos) {
            width += 0.9;
        } else {
            width += 0.58;
        }
    }
    return width * size;
}

}  // namespace gnntune::tools::report

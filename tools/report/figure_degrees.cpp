// What happens on this graph? Its degrees.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/report/figures.hpp"
#include "tools/report/scale.hpp"
#include "tools/report/text.hpp"

namespace gnntune::tools::report {
namespace {

/// Numbers of rows (or columns) by powers of two of the degree; the first is that of degree 0.
std::vector<double> by_degree(const std::vector<std::pair<std::int32_t, std::int64_t>>& degrees) {
    std::vector<double> bins;
    for (const auto& [degree, n] : degrees) {
        const auto bin = degree == 0 ? std::size_t{0} : static_cast<std::size_t>(std::floor(std::log2(degree))) + 1;
        if (bins.size() <= bin) bins.resize(bin + 1);
        bins[bin] += static_cast<double>(n);
    }
    return bins;
}

std::string class_name(std::size_t bin) {
    if (bin == 0) return "0";
    const auto first = std::int64_t{1} << (bin - 1);
    return first == 1 ? "1" : count(static_cast<double>(first));
}

}  // namespace

Figure degree_figure(const GraphFacts& graph, std::string id) {
    Figure figure;
    figure.id = std::move(id);
    figure.title = "Degrees of " + shortened(graph.record.name, 60);
    Sheet& sheet = figure.table;
    sheet.columns = {{"degree_from", "degree from", "", 0}, {"rows", "rows", "", 0}, {"columns", "columns", "", 0}};
    if (!graph.features) {
        figure.alt = "The database lacks the degrees of this graph; `gnntune tune` on its file fills them in.";
        return figure;
    }
    const auto rows = by_degree(graph.features->counts.row_degrees);
    const auto columns = by_degree(graph.features->counts.col_degrees);
    const std::size_t bins = std::max(rows.size(), columns.size());
    if (bins == 0) {
        figure.alt = "The graph has no rows.";
        return figure;
    }
    const auto at = [](const std::vector<double>& values, std::size_t i) {
        return i < values.size() ? values[i] : 0.0;
    };
    double most = 1;
    for (std::size_t i = 0; i < bins; ++i) {
        most = std::max({most, at(rows, i), at(columns, i)});
        sheet.rows.push_back({std::int64_t{i == 0 ? 0 : std::int64_t{1} << (i - 1)},
                              static_cast<std::int64_t>(at(rows, i)), static_cast<std::int64_t>(at(columns, i))});
    }
    constexpr double kLeft = 52;
    constexpr double kRight = 612;
    constexpr double kTop = 16;
    constexpr double kBottom = 186;
    Svg svg;
    const Scale y = Scale::logarithmic(0.7, most * 1.4, kBottom, kTop);
    const auto ticks = y.ticks(6);
    y_axis(svg, y, ticks, kLeft, kRight, labels_of(ticks, tick_count));
    const double width = (kRight - kLeft) / static_cast<double>(bins);
    std::string outline;
    for (std::size_t i = 0; i < bins; ++i) {
        const double x = kLeft + width * static_cast<double>(i);
        const std::string degrees = i == 0   ? "degree 0"
                                    : i == 1 ? "degree 1"
                                             : fmt::format("degrees {} to {}", whole(std::int64_t{1} << (i - 1)),
                                                           whole((std::int64_t{1} << i) - 1));
        if (at(rows, i) > 0) {
            svg.rect(x + 1.5, y(at(rows, i)), width - 3, kBottom - y(at(rows, i)), "fill c0 light",
                     fmt::format("{}: {} rows, {} columns", degrees, whole(static_cast<std::int64_t>(at(rows, i))),
                                 whole(static_cast<std::int64_t>(at(columns, i)))));
        }
        if (at(columns, i) > 0) {
            outline += fmt::format("M{} {}h{}", px(x + 1.5), px(y(at(columns, i))), px(width - 3));
        }
        if (bins <= 20 || i % 2 == 0) svg.text(x + width / 2, kBottom + 15, class_name(i), "tick", Anchor::middle);
    }
    svg.path(outline, "line c3");
    svg.line(kLeft, kBottom, kRight, kBottom, "axis");
    svg.text((kLeft + kRight) / 2, kBottom + 34, "degree, from this to below the next", "axis-name", Anchor::middle);
    svg.text(kLeft + 6, kTop - 4, "rows (bars) and columns (lines)", "axis-name");
    figure.svg = svg.text();
    figure.width = 620;
    figure.height = kBottom + 42;
    figure.alt =
        fmt::format("Rows and columns by degree, on logarithmic axes: mean {}, median {}, largest {}.",
                    number(graph.features->degree_mean), graph.features->degree_p50, graph.features->degree_max);
    figure.note = fmt::format("n = {} rows, {} columns, {} edges. A property of the graph: no device, no clock.",
                              whole(graph.record.n_rows), whole(graph.record.n_cols), whole(graph.record.m));
    return figure;
}

}  // namespace gnntune::tools::report

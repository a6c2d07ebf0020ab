// How close to the limit?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tools/report/figures.hpp"
#include "tools/report/scale.hpp"
#include "tools/report/text.hpp"

namespace gnntune::tools::report {
namespace {

constexpr double kLimitHeight = 430;
constexpr double kLimitTop = 44;
constexpr double kLimitBottom = 382;
constexpr double kMostShare = 2;
constexpr double kLargeEdges = 300e3;  // docs/measuring.md: means are over larger graphs only

struct Dot {
    const Case* c = nullptr;
    bool gathers = true;  // which of both limits is the higher one
    double table_bytes = 0;
    double gbps = 0;  // of the bytes of that limit
    std::optional<double> share;
    bool large = false;
};

std::vector<Dot> dots_of(const Report& report, const Setting& setting) {
    std::vector<Dot> dots;
    for (const Case& c : setting.cases) {
        const auto rate = c.rate();
        if (!rate) continue;
        Dot dot;
        dot.c = &c;
        dot.gathers = rate->gathers;
        dot.table_bytes = std::max(1024.0, c.roofline->work.gather_min_bytes);
        dot.gbps = rate->gbps;
        if (setting.constants.copy_gbps > 0) dot.share = c.roofline_share();
        dot.large = static_cast<double>(report.graphs[c.graph].record.m) > kLargeEdges;
        dots.push_back(dot);
    }
    return dots;
}

std::string title_of(const Report& report, const Dot& dot) {
    const Row& row = *dot.c->winner();
    return fmt::format("{}, k = {}: {}, {}, {} GB/s of what it has to {}{}",
                       shortened(report.graphs[dot.c->graph].record.name, 60), dot.c->problem.k, row.config,
                       time(row.measured.median_us), number(dot.gbps), dot.gathers ? "gather" : "move",
                       dot.share ? fmt::format(", {} of the roofline", percent(*dot.share)) : "");
}

void rates(Svg& svg, const Setting& setting, const std::vector<Dot>& dots, const Palette& palette, const Report& report,
           double right) {
    const double left = 56;
    double low_x = dots.front().table_bytes;
    double high_x = low_x;
    double low_y = dots.front().gbps;
    double high_y = low_y;
    std::set<double> rows;
    for (const Dot& d : dots) {
        low_x = std::min(low_x, d.table_bytes);
        high_x = std::max(high_x, d.table_bytes);
        low_y = std::min(low_y, d.gbps);
        high_y = std::max(high_y, d.gbps);
        rows.insert(d.c->roofline->work.row_bytes);
    }
    const DeviceConstants& rate = setting.constants;
    if (rate.copy_gbps > 0) {
        high_y = std::max({high_y, rate.copy_gbps, gather_gbps(rate, low_x, *rows.rbegin())});
        low_y = std::min(low_y, rate.copy_gbps);
    }
    const Scale x = Scale::logarithmic(low_x / 1.4, high_x * 1.4, left, right);
    const Scale y = Scale::logarithmic(low_y / 1.3, high_y * 1.35, kLimitBottom, kLimitTop);
    const auto x_ticks = x.powers_of_two(9);
    x_axis(svg, x, x_ticks, kLimitTop, kLimitBottom, labels_of(x_ticks, bytes));
    const auto y_ticks = y.ticks(9);
    y_axis(svg, y, y_ticks, left, right, labels_of(y_ticks, tick));
    svg.text((left + right) / 2, kLimitBottom + 36, "size of the table that rows are gathered from", "axis-name",
             Anchor::middle);
    svg.text(left - 44, kLimitTop - 14, "GB/s", "axis-name");
    const auto l2 = static_cast<double>(setting.environment.l2_bytes);
    if (l2 > x.low() && l2 < x.high()) {
        svg.line(x(l2), kLimitTop, x(l2), kLimitBottom, "threshold");
        const char* cache = setting.environment.backend == Backend::cuda ? "L2" : "last-level cache";
        svg.text(x(l2) + 5, kLimitBottom - 8, fmt::format("{} {}", cache, bytes(l2)), "soft");
    }
    if (rate.copy_gbps > 0) {
        svg.line(left, y(rate.copy_gbps), right, y(rate.copy_gbps), "limit");
        svg.text(left + 8, y(rate.copy_gbps) - 6, fmt::format("copy {} GB/s", number(rate.copy_gbps)), "limit-name");
        std::vector<double> shown{*rows.rbegin()};
        if (*rows.begin() < *rows.rbegin()) shown.push_back(*rows.begin());
        for (std::size_t i = 0; i < shown.size(); ++i) {
            std::vector<std::pair<double, double>> points;
            constexpr int kSteps = 60;
            for (int s = 0; s <= kSteps; ++s) {
                const double at = x.low() * std::pow(x.high() / x.low(), s / static_cast<double>(kSteps));
                const double gbps = gather_gbps(rate, at, shown[i]);
                if (gbps > 0) points.emplace_back(x(at), y(gbps));
            }
            if (points.empty()) continue;
            svg.polyline(points, i == 0 ? "limit" : "limit dashed");
            const double label_y = i == 0 ? points.front().second - 6 : points.back().second + 15;
            svg.text(i == 0 ? left + 8 : right - 6, label_y, fmt::format("gather rows of {}", bytes(shown[i])),
                     "limit-name", i == 0 ? Anchor::start : Anchor::end);
        }
    }
    for (const Dot& d : dots) {
        const Row& row = *d.c->winner();
        svg.path(mark(palette.shape(row.measured.config.variant), x(d.table_bytes), y(d.gbps), 4.2),
                 fmt::format("mark {}{}", palette.color(row.measured.config.variant), d.gathers ? "" : " hollow"),
                 title_of(report, d));
    }
}

void shares(Svg& svg, const Report& report, const Setting& setting, const std::vector<Dot>& dots,
            const Palette& palette, double left) {
    const double right = kFigureWidth - 8;
    double high = 1.0;
    for (const Dot& d : dots) high = std::max(high, d.share.value_or(0));
    const Scale y = Scale::linear(0, std::min(high * 1.06, kMostShare), kLimitBottom, kLimitTop);
    const auto ticks = y.ticks(6);
    y_axis(svg, y, ticks, left, right, labels_of(ticks, percent));
    svg.text(left - 40, kLimitTop - 30, "of the roofline, and geometric means", "axis-name");
    svg.line(left, kLimitBottom, right, kLimitBottom, "axis");
    svg.line(left, y(1), right, y(1), "limit");
    const double column = (right - left) / static_cast<double>(std::max<std::size_t>(1, setting.widths.size()));
    for (std::size_t j = 0; j < setting.widths.size(); ++j) {
        const double middle = left + column * (static_cast<double>(j) + 0.5);
        svg.text(middle, kLimitBottom + 15, fmt::format("k = {}", setting.widths[j]), "tick", Anchor::middle);
        std::vector<double> large;
        int i = 0;
        for (const Dot& d : dots) {
            if (d.c->problem.k != setting.widths[j] || !d.share) continue;
            const double aside = (std::fmod(0.5 + 0.618034 * i++, 1.0) - 0.5) * column * 0.5;
            const Row& row = *d.c->winner();
            svg.path(mark(palette.shape(row.measured.config.variant), middle + aside, y(*d.share), d.large ? 3.8 : 3.0),
                     fmt::format("mark {}{}", palette.color(row.measured.config.variant), d.large ? "" : " faded"),
                     title_of(report, d));
            if (d.large) large.push_back(std::min(1.0, *d.share));
        }
        if (const auto mean = geomean(large)) {
            svg.line(middle - column * 0.36, y(*mean), middle + column * 0.36, y(*mean), "mean");
            svg.text(middle, kLimitTop - 10, percent(*mean), "mean-name", Anchor::middle);
        }
    }
    svg.text((left + right) / 2, kLimitBottom + 36, "width of the features", "axis-name", Anchor::middle);
}

}  // namespace

Figure limit_figure(const Report& report, const Setting& setting, const Palette& palette, std::string id) {
    Figure figure;
    figure.id = std::move(id);
    const auto dots = dots_of(report, setting);
    const bool lines = setting.constants.copy_gbps > 0;
    figure.title = "Rates of " + setting.what() + (lines ? " beside those of the device" : "");
    Sheet& sheet = figure.table;
    sheet.columns = {{"graph", "graph", ""},
                     {"k", "k", "", 0},
                     {"config", "config", ""},
                     {"table_bytes", "table", "B", 0},
                     {"limited_by", "limit", ""},
                     {"gbps", "rate", "GB/s", 0},
                     {"time_us", "time", "µs", 2},
                     {"roofline_us", "roofline", "µs", 2},
                     {"roofline_percent", "of it", "%", 1}};
    std::vector<double> large;
    for (const Dot& d : dots) {
        const Row& row = *d.c->winner();
        sheet.rows.push_back({report.graphs[d.c->graph].record.name, std::int64_t{d.c->problem.k}, row.config,
                              d.c->roofline->work.gather_min_bytes, std::string(d.gathers ? "gather" : "copy"), d.gbps,
                              row.measured.median_us, lines ? Cell(d.c->roofline->us()) : Cell(),
                              d.share ? Cell(100 * *d.share) : Cell()});
        if (d.large && d.share) large.push_back(std::min(1.0, *d.share));
    }
    if (dots.empty()) {
        figure.alt =
            "There is nothing to draw: the database lacks the features of the graphs, or nothing exact was timed.";
        return figure;
    }
    Svg svg;
    rates(svg, setting, dots, palette, report, lines ? 590 : kFigureWidth - 8);
    if (lines) shares(svg, report, setting, dots, palette, 660);
    std::map<std::string, int> wins;
    for (const Dot& d : dots) ++wins[d.c->winner()->measured.config.variant];
    std::vector<std::pair<int, std::string>> order;
    for (const auto& [variant, number] : wins) order.emplace_back(-number, variant);
    std::sort(order.begin(), order.end());
    std::vector<LegendEntry> entries;
    for (const auto& [number, v] : order) entries.push_back({palette.color(v), palette.shape(v), short_name(v)});
    const double more = legend(svg, entries, 56, kLimitHeight + 14, kFigureWidth - 60);
    figure.svg = svg.text();
    figure.width = kFigureWidth;
    figure.height = kLimitHeight + 14 + more;
    const auto mean = geomean(large);
    figure.alt = fmt::format(
        "A dot for each of {}: its rate against the size of the gathered table.{}", some(dots.size(), "problem"),
        mean ? fmt::format(" On graphs of over 300,000 edges they reach {} of the roofline in geometric mean.",
                           percent(*mean))
             : "");
    figure.note = fmt::format(
        "n = {}. {}. {}", some(dots.size(), "problem"), about(report, setting),
        lines
            ? "A dot is as far below its line as the time is from the roofline: filled ones are limited by gathering, "
              "hollow ones by copying. On the right faint dots are graphs of up to 300,000 edges, where launches "
              "count; bars, and the "
              "numbers above, are geometric means of the others, a share over 100 % counting as 100 %. Reuse in the "
              "caches can beat "
              "the roofline; what is over 200 % is drawn at the top."
            : "The rate counts every gathered row once for each edge.");
    return figure;
}

}  // namespace gnntune::tools::report

// When does building pay?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tools/report/figures.hpp"
#include "tools/report/scale.hpp"
#include "tools/report/text.hpp"

namespace gnntune::tools::report {
namespace {

constexpr double kCalls = 1e6;  // where the axis ends

/// The first whole number of calls from which a range holds.
double first_call(const CallsRange& range) {
    return std::max(1.0, std::ceil(range.from_calls));
}

double per_call(const Measurement& m, double calls) {
    return m.median_us + m.prepare_us / calls;
}

/// The case that changes its mind most often, of these the one with the latest change.
const Case* most_changes(const Setting& setting) {
    const Case* found = nullptr;
    const auto key = [](const Case& c) {
        return std::pair(c.calls.size(), c.calls.empty() ? 0.0 : std::min(c.calls.back().from_calls, kCalls));
    };
    for (const Case& c : setting.cases) {
        if (!c.calls.empty() && (!found || key(*found) < key(c))) found = &c;
    }
    return found;
}

/// The width whose ranges are drawn: that in the middle.
std::int32_t middle_width(const Setting& setting) {
    return setting.widths[setting.widths.size() / 2];
}

const std::vector<double>& decades() {
    static const std::vector<double> kAll{1, 10, 100, 1e3, 1e4, 1e5, 1e6};
    return kAll;
}

}  // namespace

Figure cost_figure(const Report& report, const Setting& setting, const Palette& palette, std::string id) {
    Figure figure;
    figure.id = std::move(id);
    figure.title = "What a call costs with its share of building: " + setting.what();
    Sheet& sheet = figure.table;
    sheet.columns = {{"config", "config", ""},
                     {"build_us", "building", "µs", 1},
                     {"time_us", "a call", "µs", 2},
                     {"from_calls", "cheapest from", "calls", 0}};
    const Case* c = most_changes(setting);
    if (!c) {
        figure.alt = "Nothing exact was timed, so there is nothing to compare.";
        return figure;
    }
    const std::string where =
        fmt::format("{}, k = {}", shortened(report.graphs[c->graph].record.name, 60), c->problem.k);
    figure.title += fmt::format(" on {}", where);
    // The cheapest for some number of calls, and the library as it comes to hold them against.
    struct Line {
        std::size_t row = 0;
        std::optional<double> from;
    };
    std::vector<Line> lines;
    for (const CallsRange& r : c->calls) lines.push_back({r.candidate, first_call(r)});
    if (c->default_library &&
        std::none_of(lines.begin(), lines.end(), [&](const Line& l) { return l.row == *c->default_library; })) {
        lines.push_back({*c->default_library, std::nullopt});
    }
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    for (const Line& line : lines) {
        const Measurement& m = c->rows[line.row].measured;
        low = std::min(low, per_call(m, kCalls));
        high = std::max(high, per_call(m, 1));
        sheet.rows.push_back(
            {c->rows[line.row].config, m.prepare_us, m.median_us, line.from ? Cell(*line.from) : Cell()});
    }
    constexpr double kLeft = 60;
    constexpr double kRight = 700;
    constexpr double kTop = 20;
    constexpr double kBottom = 300;
    const Scale x = Scale::logarithmic(1, kCalls, kLeft, kRight);
    const Scale y = Scale::logarithmic(low / 1.15, high * 1.1, kBottom, kTop);
    Svg svg;
    x_axis(svg, x, decades(), kTop, kBottom, labels_of(decades(), tick_count));
    const auto ticks = y.ticks(9);
    y_axis(svg, y, ticks, kLeft, kRight, labels_of(ticks, tick_time));
    svg.text((kLeft + kRight) / 2, kBottom + 34, "calls on this graph", "axis-name", Anchor::middle);
    std::vector<std::pair<double, std::size_t>> ends;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const Row& row = c->rows[lines[i].row];
        std::vector<std::pair<double, double>> points;
        for (int s = 0; s <= 60; ++s) {
            const double calls = std::pow(kCalls, s / 60.0);
            points.emplace_back(x(calls), y(per_call(row.measured, calls)));
        }
        svg.polyline(
            points,
            fmt::format("curve {}{}", palette.color(row.measured.config.variant), lines[i].from ? "" : " dashed"),
            fmt::format("{}: building {}, a call {}", row.config, time(row.measured.prepare_us),
                        time(row.measured.median_us)));
        ends.emplace_back(points.back().second, i);
    }
    double last_label = -1e9;
    for (const Line& line : lines) {
        if (!line.from || *line.from <= 1 || *line.from > kCalls) continue;
        const double at = per_call(c->rows[line.row].measured, *line.from);
        svg.path(mark(0, x(*line.from), y(at), 4), "crossing",
                 fmt::format("from {} calls on {} is the cheapest", whole(static_cast<std::int64_t>(*line.from)),
                             c->rows[line.row].config));
        // Neighbours would stand in each other's way.
        const bool below = x(*line.from) - last_label < 64;
        svg.text(x(*line.from), y(at) + (below ? 20 : -11), "from " + whole(static_cast<std::int64_t>(*line.from)),
                 "mean-name", Anchor::middle);
        last_label = below ? -1e9 : x(*line.from);
    }
    // Names stand at the right end of their lines, apart from each other and above the axis.
    constexpr double kApart = 29;
    std::sort(ends.begin(), ends.end());
    double place = -1e9;
    for (auto& [end, i] : ends) place = end = std::max(end, place + kApart);
    place = kBottom - 16 + kApart;
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) place = end->first = std::min(end->first, place - kApart);
    for (const auto& [at, i] : ends) {
        const Row& row = c->rows[lines[i].row];
        svg.path(mark(palette.shape(row.measured.config.variant), kRight + 16, at, 4),
                 "mark " + palette.color(row.measured.config.variant));
        svg.text(kRight + 28, at + 4, shortened(short_name(row.measured.config.variant), 22), "strong");
        svg.text(kRight + 28, at + 17,
                 fmt::format("{} + {} a call", time(row.measured.prepare_us), time(row.measured.median_us)), "soft");
    }
    figure.svg = svg.text();
    figure.width = kFigureWidth;
    figure.height = kBottom + 44;
    figure.alt =
        fmt::format("Cost of a call by the number of calls on {}. {}", where,
                    c->calls.size() > 1 ? fmt::format("The cheapest config changes {} times.", c->calls.size() - 1)
                                        : "One config is the cheapest for any number of calls.");
    figure.note = fmt::format(
        "n = {}: {}. {}. Building is from the caller's CSR arrays; both axes are logarithmic.",
        some(lines.size(), "config"),
        "those that are the cheapest for some number of calls, and the library's default (dashed)", setting.where());
    return figure;
}

Figure calls_figure(const Report& report, const Setting& setting, const Palette& palette, std::string id) {
    Figure figure;
    figure.id = std::move(id);
    const std::int32_t k = middle_width(setting);
    figure.title = fmt::format("The cheapest of {} for so many calls, k = {}", setting.what(), k);
    Sheet& sheet = figure.table;
    sheet.columns = {{"graph", "graph", ""},
                     {"k", "k", "", 0},
                     {"from_calls", "from", "calls", 0},
                     {"config", "cheapest", ""},
                     {"build_us", "building", "µs", 1},
                     {"time_us", "a call", "µs", 2}};
    std::vector<const Case*> shown;
    std::size_t changing = 0;
    std::size_t n = 0;
    for (const Case& c : setting.cases) {
        for (const CallsRange& r : c.calls) {
            const Row& row = c.rows[r.candidate];
            sheet.rows.push_back({report.graphs[c.graph].record.name, std::int64_t{c.problem.k}, first_call(r),
                                  row.config, row.measured.prepare_us, row.measured.median_us});
        }
        n += c.calls.empty() ? 0 : 1;
        changing += c.calls.size() > 1 ? 1 : 0;
        if (c.problem.k == k && !c.calls.empty()) shown.push_back(&c);
    }
    if (shown.empty()) {
        figure.alt = "Nothing exact was timed, so there is nothing to compare.";
        return figure;
    }
    std::stable_sort(shown.begin(), shown.end(), [&](const Case* a, const Case* b) {
        return report.graphs[a->graph].record.m > report.graphs[b->graph].record.m;
    });
    constexpr double kLeft = 190;
    const double height = shown.size() > 60 ? 13 : 22;
    Svg svg;
    std::map<std::string, int> drawn;
    for (const Case* c : shown) {
        for (const CallsRange& r : c->calls) {
            if (first_call(r) < kCalls) ++drawn[c->rows[r.candidate].measured.config.variant];
        }
    }
    std::vector<std::pair<int, std::string>> order;
    for (const auto& [variant, ranges] : drawn) order.emplace_back(-ranges, variant);
    std::sort(order.begin(), order.end());
    std::vector<LegendEntry> entries;
    for (const auto& [ranges, variant] : order)
        entries.push_back({palette.color(variant) + " cell", 1, short_name(variant)});
    const double top = legend(svg, entries, 0, 14, kFigureWidth) + 28;
    const double bottom = top + height * static_cast<double>(shown.size());
    const Scale x = Scale::logarithmic(1, kCalls, kLeft, kFigureWidth - 14);
    double y = top;
    for (const Case* c : shown) {
        const std::string& name = report.graphs[c->graph].record.name;
        svg.begin_group(fmt::format("class=\"row\" data-graph=\"{}\"", escaped(shortened(name, 200))));
        svg.text(kLeft - 12, y + height / 2 + 3, shortened(name, 25), height > 15 ? "label" : "soft", Anchor::end);
        for (std::size_t i = 0; i < c->calls.size(); ++i) {
            const double from = first_call(c->calls[i]);
            if (from >= kCalls) break;
            const double to = i + 1 < c->calls.size() ? first_call(c->calls[i + 1]) : kCalls;
            const Row& row = c->rows[c->calls[i].candidate];
            const double left = x(from);
            const double width = x(to) - left;
            if (width <= 0) continue;
            svg.rect(left, y + 1, std::max(0.5, width - 1), height - 2,
                     "cell " + palette.color(row.measured.config.variant),
                     fmt::format("{}, from {} calls: {}, building {}, a call {}", shortened(name, 60),
                                 whole(static_cast<std::int64_t>(from)), row.config, time(row.measured.prepare_us),
                                 time(row.measured.median_us)));
            const std::string word = short_name(row.measured.config.variant);
            if (height > 15 && text_width(word, 11) < width - 8) {
                svg.text(left + 6, y + height / 2 + 3.5, word, "in");
            }
        }
        svg.end_group();
        y += height;
    }
    for (const double calls : decades()) {
        svg.text(x(calls), top - 8, tick_count(calls), "tick", Anchor::middle);
        svg.line(x(calls), bottom, x(calls), bottom + 4, "axis");
    }
    svg.text(kLeft - 12, top - 8, "calls", "axis-name", Anchor::end);
    figure.svg = svg.text();
    figure.width = kFigureWidth;
    figure.height = bottom + 10;
    figure.alt = fmt::format(
        "A bar for each of {}: who is the cheapest from one call to a million, building counted. In {} of {} the "
        "cheapest depends on the number of calls.",
        some(shown.size(), "graph"), changing, some(n, "problem"));
    figure.note = fmt::format(
        "n = {} drawn, {} in the table. {}. Building is from the caller's CSR arrays; the axis is logarithmic.",
        some(shown.size(), "problem"), whole(static_cast<std::int64_t>(n)), setting.where());
    return figure;
}

}  // namespace gnntune::tools::report

// What happens on this graph?
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

/// Panels side by side, as many in a line as fit.
struct Panels {
    std::size_t columns = 1;
    double width = 0;
    double height = 0;
    Panels(std::size_t n, double panel_height) : height(panel_height) {
        columns = std::clamp<std::size_t>(n, 1, 5);
        width = n == 1 ? 620 : kFigureWidth / static_cast<double>(columns);
    }
    double x(std::size_t i) const { return width * static_cast<double>(i % columns); }
    double y(std::size_t i) const { return height * static_cast<double>(i / columns); }
    double bottom(std::size_t n) const { return height * static_cast<double>((n + columns - 1) / columns); }
};

std::vector<const Case*> cases_of(const Setting& setting, std::size_t graph) {
    std::vector<const Case*> out;
    for (const Case& c : setting.cases) {
        if (c.graph == graph) out.push_back(&c);
    }
    return out;
}

std::size_t timed_of(const Case& c) {
    return static_cast<std::size_t>(std::count_if(c.rows.begin(), c.rows.end(), [](const Row& r) { return r.timed(); }));
}

std::vector<LegendEntry> legend_of(const std::vector<const Case*>& cases, const Palette& palette) {
    std::map<std::string, std::pair<double, bool>> best;  // over the fastest; not exact
    for (const Case* c : cases) {
        for (const Row& row : c->rows) {
            if (!row.timed()) continue;
            auto [at, is_new] = best.try_emplace(row.measured.config.variant, 1e300, false);
            at->second.first = std::min(at->second.first, row.measured.median_us / c->rows.front().measured.median_us);
            at->second.second = at->second.second || row.answer != Answer::exact;
        }
    }
    std::vector<std::pair<std::string, std::pair<double, bool>>> order(best.begin(), best.end());
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    std::vector<LegendEntry> entries;
    for (const auto& [variant, about] : order) {
        entries.push_back({palette.color(variant) + (about.second ? " hollow" : ""), palette.shape(variant),
                           short_name(variant) + (about.second ? " ≈" : "")});
    }
    return entries;
}

/// All marks of one look in one path: thousands of dots stay small.
class Marks {
public:
    void add(const std::string& classes, const std::string& data) { paths_[classes] += data; }
    void draw(Svg& svg) const {
        for (const auto& [classes, data] : paths_) svg.path(data, classes);
    }

private:
    std::map<std::string, std::string> paths_;
};

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
    const auto at = [](const std::vector<double>& values, std::size_t i) { return i < values.size() ? values[i] : 0.0; };
    double most = 1;
    for (std::size_t i = 0; i < bins; ++i) {
        most = std::max({most, at(rows, i), at(columns, i)});
        sheet.rows.push_back({std::int64_t{i == 0 ? 0 : std::int64_t{1} << (i - 1)}, static_cast<std::int64_t>(at(rows, i)),
                              static_cast<std::int64_t>(at(columns, i))});
    }
    constexpr double kLeft = 52;
    constexpr double kRight = 612;
    constexpr double kTop = 16;
    constexpr double kBottom = 186;
    Svg svg;
    const Scale y = Scale::logarithmic(0.7, most * 1.4, kBottom, kTop);
    const auto ticks = y.ticks(6);
    y_axis(svg, y, ticks, kLeft, kRight, labels_of(ticks, count));
    const double width = (kRight - kLeft) / static_cast<double>(bins);
    std::string outline;
    for (std::size_t i = 0; i < bins; ++i) {
        const double x = kLeft + width * static_cast<double>(i);
        const std::string degrees = i == 0 ? "degree 0"
                                    : i == 1 ? "degree 1"
                                             : fmt::format("degrees {} to {}", whole(std::int64_t{1} << (i - 1)), whole((std::int64_t{1} << i) - 1));
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
    figure.alt = fmt::format("Rows and columns by degree, on logarithmic axes: mean {}, median {}, largest {}.",
                             number(graph.features->degree_mean), graph.features->degree_p50, graph.features->degree_max);
    figure.note = fmt::format("n = {} rows, {} columns, {} edges. A property of the graph: no device, no clock.",
                              whole(graph.record.n_rows), whole(graph.record.n_cols), whole(graph.record.m));
    return figure;
}

Figure configs_figure(const Report& report, const Setting& setting, std::size_t graph, const Palette& palette,
                      std::string id) {
    Figure figure;
    figure.id = std::move(id);
    figure.title = fmt::format("Every config of {} on {}, fastest first", setting.what(),
                               shortened(report.graphs[graph].record.name, 60));
    const auto cases = cases_of(setting, graph);
    // One table for all panels: a row for each config, a column for each width.
    Sheet& sheet = figure.table;
    sheet.columns = {{"config", "config", ""}, {"answer", "answer", ""}};
    std::map<std::string, std::size_t> row_of;
    std::vector<std::pair<double, std::string>> order;
    std::map<std::string, double> first;
    std::map<std::string, Answer> answers;
    for (const Case* c : cases) {
        sheet.columns.push_back({fmt::format("k{}_us", c->problem.k), fmt::format("k = {}", c->problem.k), "µs", 2});
        for (const Row& row : c->rows) {
            if (!row.timed()) continue;
            answers[row.config] = row.answer;
            const double relative = row.measured.median_us / c->rows.front().measured.median_us;
            auto [at, is_new] = first.try_emplace(row.config, relative);
            if (!is_new) at->second = std::min(at->second, relative);
        }
    }
    for (const auto& [config, relative] : first) order.emplace_back(relative, config);
    std::sort(order.begin(), order.end());
    for (const auto& [relative, config] : order) {
        row_of[config] = sheet.rows.size();
        std::vector<Cell> cells{config, std::string(to_text(answers[config]))};
        cells.resize(sheet.columns.size());
        sheet.rows.push_back(std::move(cells));
    }
    for (std::size_t i = 0; i < cases.size(); ++i) {
        for (const Row& row : cases[i]->rows) {
            if (row.timed()) sheet.rows[row_of[row.config]][i + 2] = row.measured.median_us;
        }
    }
    if (order.empty()) {
        figure.alt = "Nothing was timed.";
        return figure;
    }
    double slowest = 1.3;
    std::size_t n = 0;
    for (const Case* c : cases) {
        n += timed_of(*c);
        for (const Row& row : c->rows) {
            if (row.timed()) slowest = std::max(slowest, row.measured.median_us / c->rows.front().measured.median_us);
        }
    }
    slowest = std::min(slowest, 60.0);
    Svg svg;
    const double top = legend(svg, legend_of(cases, palette), 40, 14, kFigureWidth - 50) + 6;
    const Panels panels(cases.size(), 232);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case& c = *cases[i];
        const double left = panels.x(i) + 40;
        const double right = panels.x(i) + panels.width - 8;
        const double ceiling = top + panels.y(i) + 40;
        const double floor = top + panels.y(i) + 204;
        const std::size_t timed = timed_of(c);
        if (timed == 0) {
            svg.text(left, ceiling - 22, fmt::format("k = {}", c.problem.k), "strong");
            svg.text(left, ceiling - 7, "nothing was timed", "soft");
            continue;
        }
        const double best = c.rows.front().measured.median_us;
        const Scale y = Scale::logarithmic(0.93, slowest * 1.08, floor, ceiling);
        const auto ticks = y.ticks(6);
        y_axis(svg, y, ticks, left, right, labels_of(ticks, factor));
        const double step = (right - left) / static_cast<double>(timed);
        Marks intervals;
        Marks dots;
        std::string rows;
        std::string chosen;
        for (std::size_t r = 0; r < timed; ++r) {
            const Row& row = c.rows[r];
            const double x = left + step * (static_cast<double>(r) + 0.5);
            const double at = y(row.measured.median_us / best);
            const double low = y(row.measured.ci_low_us / best);
            const double high = y(row.measured.ci_high_us / best);
            const std::string color = palette.color(row);
            if (low - high > 1.5) intervals.add("interval", fmt::format("M{} {}V{}", px(x), px(low), px(high)));
            dots.add("mark " + color + (row.ok() ? "" : " faded"), mark(palette.shape(row.measured.config.variant), x, at, row.ok() ? 3.1 : 2.3));
            if (c.won() && *c.won() == r) chosen = mark(0, x, at, 6.2);
            rows += (rows.empty() ? "" : " ") + std::to_string(row_of[row.config]);
        }
        svg.begin_group(fmt::format("class=\"panel\" data-rows=\"{}\" data-column=\"{}\" data-left=\"{}\" data-step=\"{}\"", rows,
                                    i + 2, px(left), fmt::format("{:.3f}", step)));
        svg.rect(left, ceiling - 8, right - left, floor - ceiling + 12, "hit");
        intervals.draw(svg);
        dots.draw(svg);
        svg.path(chosen, "ring");
        svg.end_group();
        svg.text(left, ceiling - 24, fmt::format("k = {}", c.problem.k), "strong");
        const Row* winner = c.winner();
        svg.text(right, ceiling - 24, time(winner ? winner->measured.median_us : best), "label", Anchor::end);
        svg.text(left, ceiling - 10,
                 shortened(winner ? short_name(winner->measured.config.variant) : "none may be chosen",
                           static_cast<std::size_t>(panels.width / 8)),
                 "soft");
    }
    const double bottom = top + panels.bottom(cases.size());
    svg.text(40, bottom - 4, "times the fastest; configs from left to right, the fastest first", "axis-name");
    figure.svg = svg.text();
    figure.width = kFigureWidth;
    figure.height = bottom + 8;
    const Case& widest = *cases.back();
    figure.alt = fmt::format("Dots for {} of {}, a panel for each width.{}", some(n, "timed config"), some(cases.size(), "problem"),
                             widest.winner() ? fmt::format(" At k = {} {} is chosen, with {}.", widest.problem.k,
                                                           widest.winner()->config, time(widest.winner()->measured.median_us))
                                             : "");
    figure.note = fmt::format(
        "n = {}. {}. Medians with 95 % intervals where they are wider than the mark; a ring is around what won; hollow marks (≈) "
        "give another answer by design, faint ones were given up early, with few samples.",
        some(n, "timed config"), setting.where());
    return figure;
}

Figure errors_figure(const Report& report, const Setting& setting, std::size_t graph, const Palette& palette,
                     std::string id) {
    Figure figure;
    figure.id = std::move(id);
    figure.title = fmt::format("Error against time of {} on {}", setting.what(), shortened(report.graphs[graph].record.name, 60));
    Sheet& sheet = figure.table;
    sheet.columns = {{"k", "k", "", 0},       {"config", "config", ""},   {"answer", "answer", ""},
                     {"time_us", "time", "µs", 2}, {"max_error", "largest error", "", 9}};
    std::vector<const Case*> cases;
    for (const Case* c : cases_of(setting, graph)) {
        if (std::any_of(c->rows.begin(), c->rows.end(), [](const Row& r) { return r.ok() && r.answer != Answer::exact; })) {
            cases.push_back(c);
        }
    }
    if (cases.empty()) {
        figure.alt = "No config of reduced precision and none that samples was timed on this graph.";
        return figure;
    }
    double low = 1e300;
    double high = 0;
    double slowest = 1.3;
    std::size_t n = 0;
    for (const Case* c : cases) {
        for (const Row& row : c->rows) {
            if (!row.ok() || !(row.measured.max_error > 0)) continue;
            ++n;
            if (std::isfinite(row.measured.max_error)) {
                low = std::min(low, row.measured.max_error);
                high = std::max(high, row.measured.max_error);
            }
            slowest = std::max(slowest, row.measured.median_us / c->rows.front().measured.median_us);
        }
    }
    if (high <= 0) low = 1e-8, high = 1;
    Svg svg;
    const double top = legend(svg, legend_of(cases, palette), 40, 14, kFigureWidth - 50) + 6;
    const Panels panels(cases.size(), 224);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case& c = *cases[i];
        const double left = panels.x(i) + 40;
        const double right = panels.x(i) + panels.width - 10;
        const double ceiling = top + panels.y(i) + 26;
        const double floor = top + panels.y(i) + 178;
        const double best = c.rows.front().measured.median_us;
        const Scale x = Scale::logarithmic(low / 2, high * 2, left, right);
        const Scale y = Scale::logarithmic(0.9, std::min(slowest, 20.0) * 1.1, floor, ceiling);
        const auto x_ticks = x.ticks(panels.width > 300 ? 8 : 4);
        x_axis(svg, x, x_ticks, ceiling, floor, labels_of(x_ticks, [](double v) { return fmt::format("{:.0e}", v); }));
        const auto y_ticks = y.ticks(5);
        y_axis(svg, y, y_ticks, left, right, labels_of(y_ticks, factor));
        Marks dots;
        for (const Row& row : c.rows) {
            if (!row.ok() || !(row.measured.max_error > 0)) continue;
            dots.add("mark " + palette.color(row), mark(palette.shape(row.measured.config.variant), x(row.measured.max_error),
                                                        y(row.measured.median_us / best), 2.8));
        }
        // The staircase: allow more error, and get to here.
        std::string stairs;
        for (const ErrorPoint& p : c.errors) {
            const Row& row = c.rows[p.candidate];
            const std::string at_x = px(x(row.measured.max_error));
            const std::string at_y = px(y(row.measured.median_us / best));
            stairs += stairs.empty() ? fmt::format("M{} {}", at_x, at_y) : fmt::format("H{}V{}", at_x, at_y);
            sheet.rows.push_back({std::int64_t{c.problem.k}, row.config, std::string(to_text(row.answer)), row.measured.median_us,
                                  row.measured.max_error});
        }
        if (!stairs.empty()) stairs += fmt::format("H{}", px(right));
        svg.path(stairs, "frontier");
        dots.draw(svg);
        for (const ErrorPoint& p : c.errors) {
            const Row& row = c.rows[p.candidate];
            svg.path(mark(0, x(row.measured.max_error), y(row.measured.median_us / best), 6), "ring",
                     fmt::format("{}: {}, error {:.2g}", row.config, time(row.measured.median_us), row.measured.max_error));
        }
        svg.text(left, ceiling - 10, fmt::format("k = {}", c.problem.k), "strong");
    }
    const double bottom = top + panels.bottom(cases.size());
    svg.text(40, bottom - 4, "times the fastest, against the largest error (of the sum of terms)", "axis-name");
    figure.svg = svg.text();
    figure.width = kFigureWidth;
    figure.height = bottom + 8;
    figure.alt = fmt::format("Times of {} against their error. The line shows what is chosen as more error is allowed.",
                             some(n, "config"));
    figure.note = fmt::format("n = {}. {}. The error is the largest |y − exact| over the sum of |terms| of an element. Hollow marks "
                              "are not exact by design; rings are on the frontier, which the table has.",
                              some(n, "config"), setting.where());
    return figure;
}

}  // namespace gnntune::tools::report

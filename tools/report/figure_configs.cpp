// What happens on this graph? Its configs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "tools/report/figures.hpp"
#include "tools/report/scale.hpp"
#include "tools/report/text.hpp"

namespace gnntune::tools::report {
namespace {

/// "1e-7"
std::string power(double value) {
    const int exponent = static_cast<int>(std::floor(std::log10(value) + 1e-9));
    const std::string digit = tick(value / std::pow(10.0, exponent));
    return exponent >= -1 && exponent <= 2 ? tick(value) : fmt::format("{}e{}", digit, exponent);
}

/// Panels side by side, as many in a line as fit, behind what stands at the left of each line.
struct Panels {
    std::size_t columns = 1;
    double left = 0;
    double width = 0;
    double height = 0;
    Panels(std::size_t n, double labels, double panel_height) : left(labels), height(panel_height) {
        columns = std::clamp<std::size_t>(n, 1, 5);
        width = n == 1 ? 520 : (kFigureWidth - labels) / static_cast<double>(columns);
    }
    double x(std::size_t i) const { return left + width * static_cast<double>(i % columns); }
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
    return static_cast<std::size_t>(
        std::count_if(c.rows.begin(), c.rows.end(), [](const Row& r) { return r.timed(); }));
}

struct TimedVariant {
    std::string id;
    /// Of its configs, over the fastest of the problem; geometric mean over the problems.
    double best = std::numeric_limits<double>::infinity();
    bool inexact = false;  ///< some config's answer is not exact
};

/// Those that were timed, the fastest first.
std::vector<TimedVariant> variants_of(const std::vector<const Case*>& cases) {
    std::map<std::string, std::vector<double>> best;
    std::set<std::string> inexact;
    for (const Case* c : cases) {
        std::map<std::string, double> here;
        for (const Row& row : c->rows) {
            if (!row.timed()) continue;
            const double relative = row.measured.median_us / c->rows.front().measured.median_us;
            here.try_emplace(row.measured.config.variant, relative);  // rows come fastest first, early ends behind
            if (row.answer != Answer::exact) inexact.insert(row.measured.config.variant);
        }
        for (const auto& [variant, relative] : here) best[variant].push_back(relative);
    }
    std::vector<TimedVariant> out;
    for (const auto& [variant, values] : best) out.push_back({variant, *geomean(values), inexact.contains(variant)});
    std::stable_sort(out.begin(), out.end(),
                     [](const TimedVariant& a, const TimedVariant& b) { return a.best < b.best; });
    return out;
}

std::vector<LegendEntry> legend_of(const std::vector<const Case*>& cases, const Palette& palette) {
    std::vector<LegendEntry> entries;
    for (const TimedVariant& v : variants_of(cases)) {
        entries.push_back({palette.color(v.id) + (v.inexact ? " hollow" : ""), palette.shape(v.id),
                           short_name(v.id) + (v.inexact ? " ≈" : "")});
    }
    return entries;
}

/// Dots of configs, all of one look in one path: thousands of them stay small.
class Dots {
public:
    void add(const std::string& color, const Row& row, double x, double y, double low, double high) {
        const std::string look = row.ok() ? "" : " faded";
        const std::string dot = fmt::format("M{} {}h0", px(x), px(y));
        paths_["dots " + color + look] += dot;
        if (row.answer != Answer::exact) holes_["holes" + look] += dot;
        if (row.ok() && high - low > 6) intervals_ += fmt::format("M{} {}H{}", px(low), px(y), px(high));
    }
    void draw(Svg& svg) const {
        svg.path(intervals_, "interval");
        for (const auto& [classes, data] : paths_) svg.path(data, classes);
        for (const auto& [classes, data] : holes_) svg.path(data, classes);
    }

private:
    std::map<std::string, std::string> paths_;
    std::map<std::string, std::string> holes_;
    std::string intervals_;
};

/// The same with shapes.
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

Figure configs_figure(const Report& report, const Setting& setting, std::size_t graph, const Palette& palette,
                      std::string id) {
    Figure figure;
    figure.id = std::move(id);
    figure.title =
        fmt::format("Every config of {} on {}", setting.what(), shortened(report.graphs[graph].record.name, 60));
    const auto cases = cases_of(setting, graph);
    // One table for all panels: a row for each config, a column for each width.
    Sheet& sheet = figure.table;
    sheet.columns = {{"config", "config", ""}, {"answer", "answer", ""}};
    std::map<std::string, std::size_t> row_of;
    std::vector<std::pair<double, std::string>> order;
    std::map<std::string, double> first;
    std::map<std::string, std::string> answers;
    for (const Case* c : cases) {
        sheet.columns.push_back({fmt::format("k{}_us", c->problem.k), fmt::format("k = {}", c->problem.k), "µs", 2});
        for (const Row& row : c->rows) {
            if (!row.timed()) continue;
            answers[row.config] = row.words();
            const double relative = row.measured.median_us / c->rows.front().measured.median_us;
            auto [at, is_new] = first.try_emplace(row.config, relative);
            if (!is_new) at->second = std::min(at->second, relative);
        }
    }
    for (const auto& [config, relative] : first) order.emplace_back(relative, config);
    std::sort(order.begin(), order.end());
    for (const auto& [relative, config] : order) {
        row_of[config] = sheet.rows.size();
        std::vector<Cell> cells{config, answers[config]};
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
    slowest = std::min(slowest, 40.0);
    const auto variants = variants_of(cases);
    constexpr double kLine = 21;
    constexpr double kHead = 44;
    const double tall = kHead + kLine * static_cast<double>(variants.size()) + 34;
    const Panels panels(cases.size(), 142, tall);
    std::string names;
    for (const TimedVariant& v : variants) names += (names.empty() ? "" : " ") + v.id;
    Svg svg;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case& c = *cases[i];
        const double left = panels.x(i) + 6;
        const double right = panels.x(i) + panels.width - 14;
        const double top = panels.y(i) + kHead;
        const double bottom = top + kLine * static_cast<double>(variants.size());
        if (i % panels.columns == 0) {
            for (std::size_t v = 0; v < variants.size(); ++v) {
                const double middle = top + kLine * (static_cast<double>(v) + 0.5);
                svg.text(panels.left - 12, middle + 4,
                         shortened(short_name(variants[v].id), 17) + (variants[v].inexact ? " ≈" : ""), "label",
                         Anchor::end);
                svg.line(panels.left - 8, middle, kFigureWidth, middle, "row-line");
            }
        }
        svg.text(left, top - 26, fmt::format("k = {}", c.problem.k), "strong");
        const std::size_t timed = timed_of(c);
        if (timed == 0) {
            svg.text(left, top - 10, "nothing was timed", "soft");
            continue;
        }
        const double best = c.rows.front().measured.median_us;
        const Row* winner = c.winner();
        svg.text(left, top - 11,
                 winner ? time(winner->measured.median_us) + ", " + short_name(winner->measured.config.variant)
                        : "none may be chosen",
                 "soft");
        const Scale x = Scale::logarithmic(0.94, slowest * 1.06, left, right);
        const auto ticks = x.ticks(panels.width > 300 ? 8 : 4);
        x_axis(svg, x, ticks, top, bottom, labels_of(ticks, tick_factor));
        std::string rows;
        Dots dots;
        std::string ring;
        std::map<std::string, std::array<double, 3>> lanes;  // where each ends
        for (std::size_t r = 0; r < timed; ++r) {
            const Row& row = c.rows[r];
            const auto v = std::find_if(variants.begin(), variants.end(),
                                        [&](const TimedVariant& t) { return t.id == row.measured.config.variant; });
            const double middle = top + kLine * (static_cast<double>(v - variants.begin()) + 0.5);
            const double at = x(row.measured.median_us / best);
            auto [lane, is_new] = lanes.try_emplace(v->id + (row.ok() ? "" : " early"), std::array{-1e9, -1e9, -1e9});
            std::size_t free = 0;
            while (free + 1 < lane->second.size() && at - lane->second[free] < 4.6) ++free;
            if (at - lane->second[free] < 4.6) free = 0;
            lane->second[free] = at;
            static constexpr double kAside[] = {0, -5, 5};
            const double y = middle + kAside[free];
            dots.add(palette.color(v->id), row, at, y, x(row.measured.ci_low_us / best),
                     x(row.measured.ci_high_us / best));
            if (c.won() && *c.won() == r) ring = mark(0, at, y, 5.6);
            rows += (rows.empty() ? "" : " ") + std::to_string(row_of[row.config]);
        }
        svg.begin_group(fmt::format(
            "class=\"panel\" data-rows=\"{}\" data-column=\"{}\" data-best=\"{:.4f}\" data-x=\"{} {} {:.4f} {:.4f}\" "
            "data-y=\"{} {}\" data-variants=\"{}\"",
            rows, i + 2, best, px(left), px(right), x.low(), x.high(), px(top), px(kLine), escaped(names)));
        svg.rect(left, top, right - left, bottom - top, "hit");
        dots.draw(svg);
        svg.path(ring, "ring");
        svg.end_group();
    }
    const double bottom = panels.bottom(cases.size());
    svg.text(panels.left + 6, bottom + 2, "times the fastest of all", "axis-name");
    figure.svg = svg.text();
    figure.width = kFigureWidth;
    figure.height = bottom + 10;
    const Case& widest = *cases.back();
    figure.alt =
        fmt::format("A dot for each of {} of {}, a line for each variant, a panel for each width.{}",
                    some(n, "timed config"), some(cases.size(), "problem"),
                    widest.winner() ? fmt::format(" At k = {} {} wins, with {}.", widest.problem.k,
                                                  widest.winner()->config, time(widest.winner()->measured.median_us))
                                    : "");
    figure.note = fmt::format(
        "n = {}. {}. Dots are medians, lines 95 % intervals; a ring: what won; hollow (≈): another answer by design; "
        "faint: given up "
        "early, with few samples.",
        some(n, "timed config"), setting.where());
    return figure;
}

Figure errors_figure(const Report& report, const Setting& setting, std::size_t graph, const Palette& palette,
                     std::string id) {
    Figure figure;
    figure.id = std::move(id);
    figure.title =
        fmt::format("Error against time of {} on {}", setting.what(), shortened(report.graphs[graph].record.name, 60));
    Sheet& sheet = figure.table;
    sheet.columns = {{"k", "k", "", 0},
                     {"config", "config", ""},
                     {"answer", "answer", ""},
                     {"time_us", "time", "µs", 2},
                     {"max_error", "largest error", "", 9}};
    std::vector<const Case*> cases;
    for (const Case* c : cases_of(setting, graph)) {
        if (std::any_of(c->rows.begin(), c->rows.end(),
                        [](const Row& r) { return r.ok() && r.answer != Answer::exact; })) {
            cases.push_back(c);
        }
    }
    if (cases.empty()) {
        figure.alt = "No config of reduced precision and none that samples was timed on this graph.";
        return figure;
    }
    double low = std::numeric_limits<double>::infinity();
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
    const Panels panels(cases.size(), 0, 216);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case& c = *cases[i];
        const double left = panels.x(i) + 40;
        const double right = panels.x(i) + panels.width - 10;
        const double ceiling = top + panels.y(i) + 26;
        const double floor = top + panels.y(i) + 178;
        const double best = c.rows.front().measured.median_us;
        const Scale x = Scale::logarithmic(low / 2, high * 2, left, right);
        const Scale y = Scale::logarithmic(0.72, std::min(slowest, 20.0) * 1.1, floor, ceiling);
        const auto x_ticks = x.ticks(panels.width > 300 ? 8 : 4);
        x_axis(svg, x, x_ticks, ceiling, floor, labels_of(x_ticks, power));
        const auto y_ticks = y.ticks(5);
        y_axis(svg, y, y_ticks, left, right, labels_of(y_ticks, tick_factor));
        Marks dots;
        for (const Row& row : c.rows) {
            if (!row.ok() || !(row.measured.max_error > 0)) continue;
            dots.add("mark " + palette.color(row),
                     mark(palette.shape(row.measured.config.variant), x(row.measured.max_error),
                          y(row.measured.median_us / best), 2.8));
        }
        // The staircase: allow more error, and get to here.
        std::string stairs;
        for (const ErrorPoint& p : c.errors) {
            const Row& row = c.rows[p.candidate];
            const std::string at_x = px(x(row.measured.max_error));
            const std::string at_y = px(y(row.measured.median_us / best));
            stairs += stairs.empty() ? fmt::format("M{} {}", at_x, at_y) : fmt::format("H{}V{}", at_x, at_y);
            sheet.rows.push_back({std::int64_t{c.problem.k}, row.config, std::string(to_text(row.answer)),
                                  row.measured.median_us, row.measured.max_error});
        }
        if (!stairs.empty()) stairs += fmt::format("H{}", px(right));
        svg.path(stairs, "frontier");
        dots.draw(svg);
        double label = -1e9;
        for (const ErrorPoint& p : c.errors) {
            const Row& row = c.rows[p.candidate];
            svg.path(
                mark(0, x(row.measured.max_error), y(row.measured.median_us / best), 6), "ring",
                fmt::format("{}: {}, error {:.2g}", row.config, time(row.measured.median_us), row.measured.max_error));
            const bool late = x(row.measured.max_error) > (left + right) / 2;
            double label_y = y(row.measured.median_us / best) - 9;
            if (std::abs(label_y - label) < 26) label_y += 26;
            label = label_y;
            svg.text(x(row.measured.max_error) + (late ? 6 : -4), label_y,
                     shortened(short_name(row.measured.config.variant), 14), "mean-name",
                     late ? Anchor::end : Anchor::start);
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
    figure.note = fmt::format(
        "n = {}. {}. The error is the largest |y − exact| over the sum of |terms| of an element. Hollow marks "
        "(≈) are not exact by design; rings are on the frontier, which the table has.",
        some(n, "config"), setting.where());
    return figure;
}

}  // namespace gnntune::tools::report

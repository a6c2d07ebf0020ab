// What won?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tools/report/figures.hpp"
#include "tools/report/svg.hpp"
#include "tools/report/text.hpp"

namespace gnntune::tools::report {
namespace {

constexpr double kWonNames = 190;
constexpr std::size_t kManyGraphs = 60;

std::string title_of(const Report& report, const Setting& setting, const Case& c) {
    std::string text = fmt::format("{}, k = {}: ", shortened(report.graphs[c.graph].record.name, 60), c.problem.k);
    const Row* row = c.winner();
    if (!row) {
        text += "no config was timed";
        return text + (c.rows.empty() || c.rows.front().measured.reason.empty()
                           ? ""
                           : "; " + c.rows.front().config + ": " + shortened(c.rows.front().measured.reason, 120));
    }
    const Measurement& m = row->measured;
    text += fmt::format("{} takes {} (95 % interval {} to {})", row->config, time(m.median_us), number(m.ci_low_us),
                        time(m.ci_high_us));
    if (row->answer != Answer::exact) text += fmt::format("; {}, error {:.2g}", to_text(row->answer), m.max_error);
    if (row->held_back) text += "; must not run (errata)";
    if (const auto gain = c.scores.over_library_default()) {
        text += fmt::format("; {} as fast as {}", factor(*gain), c.rows[*c.default_library].config);
    }
    if (const auto gain = c.scores.over_library_best()) {
        text += fmt::format("; {} as fast as the library's best, {}", factor(*gain), c.rows[*c.best_library].config);
    }
    if (const auto share = c.roofline_share(); share && setting.constants.copy_gbps > 0) {
        text += fmt::format("; {} of the roofline", percent(*share));
    }
    return text;
}

Sheet sheet_of(const Report& report, const Setting& setting) {
    Sheet sheet;
    sheet.columns = {{"graph", "graph", ""},
                     {"m", "edges", "", 0},
                     {"k", "k", "", 0},
                     {"config", "config", ""},
                     {"answer", "answer", ""},
                     {"time_us", "time", "µs", 2},
                     {"ci_us", "±", "µs", 2},
                     {"fastest", "fastest exact, where another", ""},
                     {"fastest_us", "time", "µs", 2},
                     {"over_library_default", "over the library's default", "×", 2},
                     {"over_library_best", "over its best", "×", 2},
                     {"roofline_percent", "roofline", "%", 0},
                     {"configs", "configs timed", "", 0}};
    for (const Case& c : setting.cases) {
        const auto cell = [](const std::optional<double>& value) { return value ? Cell(*value) : Cell(); };
        std::vector<Cell> row{report.graphs[c.graph].record.name, report.graphs[c.graph].record.m,
                              std::int64_t{c.problem.k}};
        if (const Row* winner = c.winner()) {
            const Measurement& m = winner->measured;
            const bool other = c.fastest && *c.fastest != *c.won();
            row.insert(row.end(), {winner->config, winner->words(), m.median_us, (m.ci_high_us - m.ci_low_us) / 2,
                                   other ? Cell(c.rows[*c.fastest].config) : Cell(),
                                   other ? Cell(c.rows[*c.fastest].measured.median_us) : Cell()});
        } else {
            row.insert(row.end(), 6, Cell());
        }
        const auto share = setting.constants.copy_gbps > 0 ? c.roofline_share() : std::nullopt;
        row.push_back(cell(c.scores.over_library_default()));
        row.push_back(cell(c.scores.over_library_best()));
        row.push_back(share ? Cell(100 * *share) : Cell());
        row.push_back(static_cast<std::int64_t>(
            std::count_if(c.rows.begin(), c.rows.end(), [](const Row& r) { return r.timed(); })));
        sheet.rows.push_back(std::move(row));
    }
    return sheet;
}

/// Graphs of the setting, those with most edges first.
std::vector<std::size_t> graphs_of(const Report& report, const Setting& setting) {
    std::vector<std::size_t> graphs;
    for (const Case& c : setting.cases) {
        if (graphs.empty() || graphs.back() != c.graph) graphs.push_back(c.graph);
    }
    std::stable_sort(graphs.begin(), graphs.end(), [&](std::size_t a, std::size_t b) {
        return report.graphs[a].record.m > report.graphs[b].record.m;
    });
    return graphs;
}

}  // namespace

Figure won_figure(const Report& report, const Setting& setting, const Palette& palette, std::string id) {
    Figure figure;
    figure.id = std::move(id);
    figure.title = "The fastest of " + setting.what() + ", by graph and width";
    figure.table = sheet_of(report, setting);
    const auto graphs = graphs_of(report, setting);
    std::map<std::string, std::size_t> wins;
    bool any_gain = false;
    bool any_approximate = false;
    for (const Case& c : setting.cases) {
        if (const Row* row = c.winner()) {
            ++wins[row->measured.config.variant];
            any_approximate = any_approximate || row->answer != Answer::exact;
        }
        any_gain = any_gain || c.scores.over_library_default();
    }
    std::vector<std::pair<std::string, std::size_t>> order(wins.begin(), wins.end());
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });

    Svg svg;
    std::vector<LegendEntry> entries;
    for (const auto& [variant, n] : order) {
        entries.push_back({palette.color(variant) + " cell", 1, fmt::format("{} {}", short_name(variant), n)});
    }
    const double top = legend(svg, entries, 0, 14, kFigureWidth) + 26;
    const bool small = graphs.size() > kManyGraphs;
    const double height = small ? 17 : 33;
    const double gap = small ? 1 : 2;
    const double column = std::clamp(
        (kFigureWidth - kWonNames) / static_cast<double>(std::max<std::size_t>(1, setting.widths.size())), 60.0, 154.0);
    for (std::size_t j = 0; j < setting.widths.size(); ++j) {
        svg.text(kWonNames + column * (static_cast<double>(j) + 0.5), top - 8, fmt::format("k = {}", setting.widths[j]),
                 "head", Anchor::middle);
    }
    double y = top;
    for (const std::size_t g : graphs) {
        const GraphRecord& record = report.graphs[g].record;
        svg.begin_group(fmt::format("class=\"row\" data-graph=\"{}\"", escaped(shortened(record.name, 200))));
        const std::string name = shortened(record.name, small ? 22 : 25);
        svg.text(kWonNames - 12, y + (small ? 12 : 14), name, "label", Anchor::end);
        if (!small) {
            svg.text(kWonNames - 12, y + 27, fmt::format("{} edges", count(static_cast<double>(record.m))), "soft",
                     Anchor::end);
        }
        for (std::size_t j = 0; j < setting.widths.size(); ++j) {
            const Case* c = setting.find(g, setting.widths[j]);
            if (!c) continue;
            const double x = kWonNames + column * static_cast<double>(j);
            const Row* row = c->winner();
            const std::string classes = row ? "cell " + palette.color(row->measured.config.variant) : "cell none";
            svg.rect(x, y, column - gap, height - gap, classes, title_of(report, setting, *c));
            const double middle = x + (column - gap) / 2;
            if (!row) {
                svg.text(middle, y + height / 2 + 4, "–", "in", Anchor::middle);
                continue;
            }
            const auto gain = c->scores.over_library_default();
            const std::string variant =
                (row->answer == Answer::exact ? "" : "≈ ") + short_name(row->measured.config.variant);
            if (small) {
                svg.text(middle, y + 12, shortened(variant, 14) + (gain ? " " + factor(*gain) : ""), "in",
                         Anchor::middle);
            } else {
                svg.text(middle, y + 13, shortened(variant, static_cast<std::size_t>(column / 7)), "in strong",
                         Anchor::middle);
                svg.text(middle, y + 26,
                         time(row->measured.median_us) + (gain && column > 90 ? " · " + factor(*gain) : ""), "in",
                         Anchor::middle);
            }
        }
        svg.end_group();
        y += height;
    }
    figure.svg = svg.text();
    figure.width = kFigureWidth;
    figure.height = y + 4;
    figure.alt = order.empty() ? "Nothing was timed."
                               : fmt::format("A matrix of {} by {}. {} wins {} of {}.", some(graphs.size(), "graph"),
                                             some(setting.widths.size(), "width"), order.front().first,
                                             order.front().second, some(setting.cases.size(), "problem"));
    figure.note = fmt::format(
        "n = {} ({}, {}). {}. Each cell: the variant, the median time of one call{}.{}",
        some(setting.cases.size(), "problem"), some(graphs.size(), "graph"), some(setting.widths.size(), "width"),
        about(report, setting),
        any_gain ? fmt::format(", and how many times as long {}'s default takes", setting.its_library()) : "",
        any_approximate ? " ≈: the answer is not exact, as was allowed." : "");
    return figure;
}

std::string about(const Report& report, const Setting& setting) {
    std::string text = setting.where();
    if (!report.score_database.empty()) return text + "; decided by one run, ratios timed in another";
    return text;
}

std::optional<double> geomean(const std::vector<double>& values) {
    if (values.empty()) return std::nullopt;
    double logs = 0;
    for (const double v : values) logs += std::log(v);
    return std::exp(logs / static_cast<double>(values.size()));
}

}  // namespace gnntune::tools::report

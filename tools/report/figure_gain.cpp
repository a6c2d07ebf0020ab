// What did choosing gain?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tools/report/figures.hpp"
#include "tools/report/scale.hpp"
#include "tools/report/text.hpp"

namespace gnntune::tools::report {
namespace {

constexpr double kGainLabels = 236;
constexpr double kGainStack = 104;  // most height of a stack of dots
constexpr double kGainRow = 150;

struct Comparison {
    std::string title;
    std::string key;
    std::optional<double> (Scores::*over)() const;
};

const std::vector<Comparison>& comparisons() {
    static const std::vector<Comparison> kAll{
        {"over the library's default", "over_library_default", &Scores::over_library_default},
        {"over the library's best algorithm", "over_library_best", &Scores::over_library_best},
        {"over what runs untuned", "over_untuned", &Scores::over_untuned}};
    return kAll;
}

struct Gain {
    const Case* c = nullptr;
    double ratio = 0;
};

std::string name_of(const Report& report, const Gain& gain, std::size_t most) {
    return fmt::format("{}, k = {}", shortened(report.graphs[gain.c->graph].record.name, most), gain.c->problem.k);
}

// Dots of equal ratio, to the width of one, stand on each other.
void histogram(Svg& svg, const Report& report, const Scale& x, const std::vector<Gain>& gains, double base) {
    constexpr double kPitch = 8.4;
    std::map<int, std::vector<const Gain*>> bins;
    for (const Gain& g : gains) bins[static_cast<int>(std::floor((x(g.ratio) - x.from()) / kPitch))].push_back(&g);
    std::size_t most = 1;
    for (const auto& [bin, members] : bins) most = std::max(most, members.size());
    const double pitch = std::min(kPitch, kGainStack / static_cast<double>(most));
    if (pitch < 2.5) {  // too many for a dot each
        for (const auto& [bin, members] : bins) {
            const double height = pitch * static_cast<double>(members.size());
            svg.rect(x.from() + kPitch * bin + 0.5, base - height, kPitch - 1, height,
                     members.front()->ratio < 0.995 ? "fill c3" : "fill c0",
                     fmt::format("{} between {} and {}", some(members.size(), "problem"),
                                 factor(members.front()->ratio), factor(members.back()->ratio)));
        }
        return;
    }
    for (const auto& [bin, members] : bins) {
        for (std::size_t i = 0; i < members.size(); ++i) {
            const Gain& g = *members[i];
            svg.path(mark(0, x.from() + kPitch * (bin + 0.5), base - pitch * (static_cast<double>(i) + 0.5),
                          std::min(3.7, pitch * 0.46)),
                     g.ratio < 0.995 ? "fill c3" : "fill c0", name_of(report, g, 60) + ": " + factor(g.ratio));
        }
    }
}

}  // namespace

Figure gain_figure(const Report& report, const Setting& setting, std::string id) {
    Figure figure;
    figure.id = std::move(id);
    figure.title = "How many times as fast as the alternatives: " + setting.what();
    Sheet& sheet = figure.table;
    sheet.columns = {{"graph", "graph", ""}, {"k", "k", "", 0}, {"config", "config", ""}, {"won_us", "time", "µs", 2}};
    double low = 0.9;
    double high = 1.2;
    std::vector<std::pair<const Comparison*, std::vector<Gain>>> rows;
    for (const Comparison& comparison : comparisons()) {
        std::vector<Gain> gains;
        for (const Case& c : setting.cases) {
            if (const auto ratio = (c.scores.*comparison.over)()) gains.push_back({&c, *ratio});
        }
        if (gains.empty()) continue;
        std::stable_sort(gains.begin(), gains.end(), [](const Gain& a, const Gain& b) { return a.ratio < b.ratio; });
        low = std::min(low, gains.front().ratio * 0.95);
        high = std::max(high, gains.back().ratio * 1.08);
        rows.emplace_back(&comparison, std::move(gains));
        sheet.columns.push_back({comparison.key, comparison.title, "×", 2});
    }
    for (const Case& c : setting.cases) {
        const Row* row = c.winner();
        if (!row || rows.empty()) continue;
        std::vector<Cell> cells{report.graphs[c.graph].record.name, std::int64_t{c.problem.k}, row->config,
                                c.scores.won_us ? Cell(*c.scores.won_us) : Cell()};
        for (const auto& [comparison, gains] : rows) {
            const auto ratio = (c.scores.*comparison->over)();
            cells.push_back(ratio ? Cell(*ratio) : Cell());
        }
        sheet.rows.push_back(std::move(cells));
    }
    if (rows.empty()) {
        figure.alt =
            "Nothing that the choices could be held against was measured: no library, and not what runs untuned.";
        return figure;
    }
    Svg svg;
    const Scale x = Scale::logarithmic(low, high, kGainLabels, kFigureWidth - 16);
    const double bottom = kGainRow * static_cast<double>(rows.size()) + 6;
    const auto ticks = x.ticks(11);
    x_axis(svg, x, ticks, 4, bottom, labels_of(ticks, tick_factor));
    svg.line(x(1), 4, x(1), bottom, "threshold");
    svg.text((x.from() + x.to()) / 2, bottom + 36, "how many times as fast as the alternative", "axis-name",
             Anchor::middle);
    std::string alt;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto& [comparison, gains] = rows[i];
        const double base = kGainRow * static_cast<double>(i + 1);
        std::vector<double> ratios;
        for (const Gain& g : gains) ratios.push_back(g.ratio);
        const double mean = *geomean(ratios);
        const auto slower = static_cast<std::size_t>(
            std::count_if(gains.begin(), gains.end(), [](const Gain& g) { return g.ratio < 0.995; }));
        svg.line(x.from(), base, x.to(), base, "axis");
        svg.text(0, base - 84, comparison->title, "strong");
        svg.text(0, base - 66,
                 fmt::format("{}, {} slower", some(gains.size(), "problem"),
                             slower ? whole(static_cast<std::int64_t>(slower)) : "none"),
                 "soft");
        svg.text(0, base - 46, fmt::format("worst {}", factor(gains.front().ratio)), "label");
        svg.text(0, base - 30, name_of(report, gains.front(), 24), "soft");
        histogram(svg, report, x, gains, base);
        svg.line(x(mean), base - kGainStack - 14, x(mean), base, "mean");
        const bool right = x(mean) < kFigureWidth - 180;
        svg.text(x(mean) + (right ? 6 : -6), base - kGainStack - 6, factor(mean) + " in geometric mean", "mean-name",
                 right ? Anchor::start : Anchor::end);
        alt += fmt::format("{}{}: {} in geometric mean over {}, worst {} on {}.", alt.empty() ? "" : " ",
                           comparison->title, factor(mean), some(gains.size(), "problem"), factor(gains.front().ratio),
                           name_of(report, gains.front(), 40));
    }
    figure.alt = alt;
    figure.alt[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(figure.alt[0])));
    figure.svg = svg.text();
    figure.width = kFigureWidth;
    figure.height = bottom + 46;
    figure.note =
        fmt::format("n = {}. {}. {}", some(setting.cases.size(), "problem"), about(report, setting),
                    report.score_database.empty()
                        ? "Each dot is a problem. The choices are scored by the times that made them, which flatters "
                          "them a little; --score takes another run."
                        : "Each dot is a problem.");
    return figure;
}

}  // namespace gnntune::tools::report

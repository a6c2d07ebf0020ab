// Where did it come from?
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tools/report/figures.hpp"
#include "tools/report/scale.hpp"
#include "tools/report/text.hpp"

namespace gnntune::tools::report {
namespace {

struct Outcome {
    MeasurementStatus status;
    const char* words;
    const char* color;
};
constexpr std::array kOutcomes{
    Outcome{MeasurementStatus::ok, "timed", "seq0"}, Outcome{MeasurementStatus::abandoned, "given up early", "lib"},
    Outcome{MeasurementStatus::refused, "refused", "seq3"}, Outcome{MeasurementStatus::failed, "failed", "seq4"},
    Outcome{MeasurementStatus::wrong, "wrong", "c3"}};

std::int64_t count_of(const Outcomes& o, MeasurementStatus status) {
    const auto found = o.counts.find(status);
    return found == o.counts.end() ? 0 : found->second;
}

std::int64_t total_of(const Outcomes& o) {
    std::int64_t n = 0;
    for (const auto& [status, count] : o.counts) n += count;
    return n;
}

std::string devices_of(const Report& report) {
    std::string text;
    for (const store::EnvironmentRow& e : report.environments) {
        if (text.find(shown_device(e.environment)) != std::string::npos) continue;
        text += (text.empty() ? "" : ", ") + shown_device(e.environment);
    }
    return text.empty() ? "no device" : text;
}

std::string clocks_of(const Report& report) {
    std::string text;
    for (const Setting& s : report.settings) {
        const std::string name(to_text(s.clock));
        if (text.find(name) == std::string::npos) text += (text.empty() ? "" : ", ") + name;
    }
    return text.empty() ? "none" : text;
}

}  // namespace

Figure outcome_figure(const Report& report, std::string id) {
    Figure figure;
    figure.id = std::move(id);
    figure.title = "What became of every attempt";
    Sheet& sheet = figure.table;
    sheet.columns = {{"variant", "variant", ""}, {"version", "newest version", "", 0}, {"outdated", "this build", ""}};
    for (const Outcome& o : kOutcomes) sheet.columns.push_back({std::string(to_text(o.status)), o.words, "", 0});
    std::vector<Outcomes> rows = report.outcomes;
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Outcomes& a, const Outcomes& b) { return total_of(a) > total_of(b); });
    std::int64_t most = 0;
    for (const Outcomes& row : rows) {
        most = std::max(most, total_of(row));
        std::vector<Cell> cells{row.variant, std::int64_t{row.version},
                                std::string(row.outdated ? "has another version" : "")};
        for (const Outcome& o : kOutcomes) cells.emplace_back(count_of(row, o.status));
        sheet.rows.push_back(std::move(cells));
    }
    if (most == 0) {
        figure.alt = "Nothing was attempted.";
        return figure;
    }
    Svg svg;
    std::vector<LegendEntry> entries;
    for (const Outcome& o : kOutcomes) {
        if (std::any_of(rows.begin(), rows.end(), [&](const Outcomes& row) { return count_of(row, o.status) > 0; })) {
            entries.push_back({std::string(o.color) + " cell", 1, o.words});
        }
    }
    constexpr double kLeft = 190;
    constexpr double kBar = 22;
    const double top = legend(svg, entries, 0, 14, kFigureWidth) + 8;
    const double bottom = top + kBar * static_cast<double>(rows.size());
    const Scale x = Scale::linear(0, static_cast<double>(most) * 1.02, kLeft, kFigureWidth - 90);
    const auto ticks = x.ticks(6);
    x_axis(svg, x, ticks, top, bottom, labels_of(ticks, tick_count));
    double y = top;
    for (const Outcomes& row : rows) {
        svg.text(kLeft - 12, y + 15, shortened(row.variant, 25), "label", Anchor::end);
        double at = 0;
        for (const Outcome& o : kOutcomes) {
            const auto n = static_cast<double>(count_of(row, o.status));
            if (n == 0) continue;
            svg.rect(x(at), y + 3, std::max(0.8, x(at + n) - x(at) - 0.5), kBar - 6, std::string("cell ") + o.color,
                     fmt::format("{}: {} {}", row.variant, whole(static_cast<std::int64_t>(n)), o.words));
            at += n;
        }
        svg.text(x(at) + 7, y + 15, whole(total_of(row)), "soft");
        y += kBar;
    }
    figure.svg = svg.text();
    figure.width = kFigureWidth;
    figure.height = bottom + 26;
    std::array<std::int64_t, kOutcomes.size()> sums{};
    for (const Outcomes& row : rows) {
        for (std::size_t i = 0; i < kOutcomes.size(); ++i) sums[i] += count_of(row, kOutcomes[i].status);
    }
    figure.alt = "A bar for each variant.";
    for (std::size_t i = 0; i < kOutcomes.size(); ++i) {
        if (sums[i] > 0) figure.alt += fmt::format(" {} {}.", whole(sums[i]), kOutcomes[i].words);
    }
    figure.note = fmt::format("n = {} rows of the database. {}; clock {}.", whole(report.measurements),
                              devices_of(report), clocks_of(report));
    return figure;
}

Figure clock_figure(const Report& report, std::string id) {
    Figure figure;
    figure.id = std::move(id);
    figure.title = "SM clock beside the samples";
    Sheet& sheet = figure.table;
    sheet.columns = {
        {"environment", "environment", "", 0}, {"mhz", "SM clock", "MHz", 0}, {"rows", "measurements", "", 0}};
    std::map<std::int32_t, std::int64_t> all;
    std::int64_t n = 0;
    for (const ClockFacts& c : report.clocks) {
        for (const auto& [mhz, count] : c.mhz) {
            sheet.rows.push_back({c.environment_id, std::int64_t{mhz}, count});
            all[mhz] += count;
            n += count;
        }
    }
    if (all.size() == 1) {
        figure.alt = fmt::format("{} MHz beside every sample.", whole(all.begin()->first));
        return figure;
    }
    if (all.empty()) {
        figure.alt = "No SM clock was read: it can be read on GPUs only.";
        return figure;
    }
    constexpr double kLeft = 60;
    constexpr double kTop = 10;
    constexpr double kBottom = 130;
    const double low = all.begin()->first - 40;
    const double high = all.rbegin()->first + 40;
    std::map<int, std::int64_t> bins;
    const Scale x = Scale::linear(low, high, kLeft, kFigureWidth - 20);
    constexpr double kBin = 9;
    std::int64_t most = 1;
    for (const auto& [mhz, count] : all) {
        std::int64_t& bin = bins[static_cast<int>((x(mhz) - kLeft) / kBin)];
        bin += count;
        most = std::max(most, bin);
    }
    Svg svg;
    const Scale y = Scale::logarithmic(0.7, static_cast<double>(most) * 1.3, kBottom, kTop);
    const auto y_ticks = y.ticks(5);
    y_axis(svg, y, y_ticks, kLeft, kFigureWidth - 20, labels_of(y_ticks, tick_count));
    for (const auto& [bin, count] : bins) {
        const double top = y(static_cast<double>(count));
        svg.rect(kLeft + kBin * bin + 0.5, top, kBin - 1, kBottom - top, "fill c0 light",
                 whole(count) + " measurements");
    }
    const auto x_ticks = x.ticks(8);
    x_axis(svg, x, x_ticks, kTop, kBottom, labels_of(x_ticks, tick));
    svg.text((kLeft + kFigureWidth) / 2, kBottom + 34, "MHz", "axis-name", Anchor::middle);
    figure.svg = svg.text();
    figure.width = kFigureWidth;
    figure.height = kBottom + 42;
    figure.alt = fmt::format("SM clocks from {} to {} MHz.", whole(all.begin()->first), whole(all.rbegin()->first));
    figure.note = fmt::format("n = {} measurements; the vertical axis is logarithmic. {}; clock {}.", whole(n),
                              devices_of(report), clocks_of(report));
    return figure;
}

}  // namespace gnntune::tools::report

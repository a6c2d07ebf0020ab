// How good is the model? What is a training step made of?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/report/figures.hpp"
#include "tools/report/scale.hpp"
#include "tools/report/text.hpp"

namespace gnntune::tools::report {
namespace {

struct Strategy {
    const char* name;  // of tuner/evaluate.hpp
    const char* words;
};
constexpr Strategy kStrategies[] = {{"model", "the model's first"},
                                    {"model_3", "the fastest of its first three"},
                                    {"model_or_default", "what a dispatcher runs"},
                                    {"default", "the default"},
                                    {"library_best", "the library's best"},
                                    {"library_default", "the library's default"},
                                    {"static", "one config for all"},
                                    {"random", "at random"}};

std::string where_of(const ModelFacts& m) {
    return fmt::format("{}, {}, clock {}", to_text(m.backend), to_text(m.policy), to_text(m.clock));
}

void scatter(Svg& svg, const ModelFacts& model) {
    constexpr double kLeft = 62;
    constexpr double kRight = 400;
    constexpr double kTop = 16;
    constexpr double kBottom = 330;
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    for (const ModelCase& c : model.cases) {
        low = std::min({low, c.expected_us, c.measured_us});
        high = std::max({high, c.expected_us, c.measured_us});
    }
    const Scale x = Scale::logarithmic(low / 1.15, high * 1.15, kLeft, kRight);
    const Scale y = Scale::logarithmic(low / 1.15, high * 1.15, kBottom, kTop);
    const auto ticks = x.ticks(6);
    x_axis(svg, x, ticks, kTop, kBottom, labels_of(ticks, tick_time));
    y_axis(svg, y, ticks, kLeft, kRight, labels_of(ticks, tick_time));
    svg.line(x(x.low()), y(x.low()), x(x.high()), y(x.high()), "threshold");
    svg.text((kLeft + kRight) / 2, kBottom + 36, "measured", "axis-name", Anchor::middle);
    svg.text(kLeft + 6, kTop + 10, "expected by the model", "axis-name");
    for (const ModelCase& c : model.cases) {
        svg.path(mark(0, x(c.measured_us), y(c.expected_us), 3.4), "mark c0",
                 fmt::format("{}, {}: {}, expected {}, measured {}", shortened(c.graph, 60), to_text(c.problem),
                             c.chosen, time(c.expected_us), time(c.measured_us)));
    }
}

void efficiencies(Svg& svg, const ModelFacts& model) {
    constexpr double kLeft = 640;
    constexpr double kTop = 16;
    constexpr double kRight = kFigureWidth - 60;
    const Scale x = Scale::linear(0, 1, kLeft, kRight);
    std::vector<std::pair<const Strategy*, std::vector<double>>> rows;
    for (const Strategy& s : kStrategies) {
        std::vector<double> values;
        for (const ModelCase& c : model.cases) {
            if (const auto found = c.efficiency.find(s.name); found != c.efficiency.end())
                values.push_back(found->second);
        }
        if (!values.empty()) rows.emplace_back(&s, std::move(values));
    }
    const double height = std::min(42.0, 314.0 / static_cast<double>(std::max<std::size_t>(1, rows.size())));
    const double bottom = kTop + height * static_cast<double>(rows.size());
    const auto ticks = x.ticks(5);
    x_axis(svg, x, ticks, kTop, bottom, labels_of(ticks, percent));
    svg.text((kLeft + kRight) / 2, bottom + 36, "speed of the choice, of the fastest", "axis-name", Anchor::middle);
    double y = kTop;
    for (const auto& [strategy, values] : rows) {
        const double middle = y + height / 2;
        const double mean = *geomean(values);
        svg.text(kLeft - 10, middle + 4, strategy->words, "label", Anchor::end);
        std::string data;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double aside = (std::fmod(0.5 + 0.618034 * static_cast<double>(i), 1.0) - 0.5) * height * 0.5;
            data += mark(0, x(std::min(1.0, values[i])), middle + aside, 2.4);
        }
        svg.path(data, "mark c0 faded",
                 fmt::format("{}: {} in geometric mean, worst {}", strategy->words, percent(mean),
                             percent(*std::min_element(values.begin(), values.end()))));
        svg.line(x(mean), middle - height * 0.4, x(mean), middle + height * 0.4, "mean");
        svg.text(kRight + 8, middle + 4, fmt::format("{:.1f} %", 100 * mean), "mean-name");
        y += height;
    }
}

}  // namespace

Figure model_figure(const Report&, const ModelFacts& model, std::string id) {
    Figure figure;
    figure.id = std::move(id);
    figure.title = fmt::format("What a model of {} expects, and what its choices cost", to_text(model.op));
    Sheet& sheet = figure.table;
    sheet.columns = {{"graph", "graph", ""},
                     {"problem", "problem", ""},
                     {"chosen", "the model's first", ""},
                     {"expected_us", "expected", "µs", 2},
                     {"measured_us", "measured", "µs", 2},
                     {"best_us", "the fastest", "µs", 2},
                     {"efficiency_percent", "speed of the choice", "%", 1}};
    std::vector<double> values;
    double worst = 1;
    for (const ModelCase& c : model.cases) {
        const double efficiency = c.best_us / c.measured_us;
        values.push_back(efficiency);
        worst = std::min(worst, efficiency);
        sheet.rows.push_back(
            {c.graph, to_text(c.problem), c.chosen, c.expected_us, c.measured_us, c.best_us, 100 * efficiency});
    }
    Svg svg;
    scatter(svg, model);
    efficiencies(svg, model);
    figure.svg = svg.text();
    figure.width = kFigureWidth;
    figure.height = 376;
    figure.alt = fmt::format(
        "Expected against measured times of {}. The model's first choice has {:.1f} % of the speed of the fastest "
        "in geometric mean, {:.0f} % in the worst case.",
        some(model.cases.size(), "problem"), 100 * geomean(values).value_or(0), 100 * worst);
    figure.note =
        fmt::format("n = {}. {}. Each model was fitted without the graphs that it was asked about ({} parts). {}",
                    some(model.cases.size(), "problem"), where_of(model), model.folds,
                    model.other_run ? "Scored by another run."
                                    : "Decided and scored by the same measurements, so noise counts as skill; --score "
                                      "takes another run.");
    return figure;
}

Figure step_figure(const Report& report, const StepFacts& step, std::string id) {
    Figure figure;
    figure.id = std::move(id);
    const std::string graph = shortened(report.graphs[step.graph].record.name, 60);
    figure.title = fmt::format("A step of {} on {}", step.step, graph);
    Sheet& sheet = figure.table;
    sheet.columns = {{"choice", "choice", ""}};
    for (std::size_t i = 0; i < step.roles.size(); ++i) {
        sheet.columns.push_back({fmt::format("call{}_us", i + 1), step.roles[i], "µs", 2});
    }
    sheet.columns.push_back({"step_us", "a step", "µs", 2});
    sheet.columns.push_back({"build_us", "building", "µs", 0});
    sheet.columns.push_back(
        {"total_us", fmt::format("{} steps", whole(static_cast<std::int64_t>(step.expected_steps))), "µs", 0});
    double longest = 0;
    for (const StepWay& way : step.ways) {
        longest = std::max(longest, way.step_us());
        std::vector<Cell> cells{way.name};
        for (const double us : way.call_us) cells.emplace_back(us);
        cells.insert(cells.end(), {way.step_us(), way.build_us, way.total_us});
        sheet.rows.push_back(std::move(cells));
    }
    if (longest <= 0) {
        figure.alt = "The stored choice has no times.";
        return figure;
    }
    constexpr double kLeft = 110;
    constexpr double kRight = kFigureWidth - 100;
    constexpr double kBar = 46;
    Svg svg;
    std::vector<LegendEntry> entries;
    for (std::size_t i = 0; i < step.roles.size(); ++i) {
        const bool any =
            std::any_of(step.ways.begin(), step.ways.end(), [&](const StepWay& way) { return way.call_us[i] > 0; });
        if (any) entries.push_back({"seq" + std::to_string(i % 6) + " cell", 1, step.roles[i]});
    }
    const double top = legend(svg, entries, 0, 14, kFigureWidth) + 10;
    const double bottom = top + kBar * static_cast<double>(step.ways.size());
    const Scale x = Scale::linear(0, longest * 1.02, kLeft, kRight);
    const auto ticks = x.ticks(8);
    x_axis(svg, x, ticks, top, bottom, labels_of(ticks, tick_time));
    double y = top;
    for (const StepWay& way : step.ways) {
        svg.text(kLeft - 12, y + kBar / 2 + 4, way.name, "strong", Anchor::end);
        double at = 0;
        for (std::size_t i = 0; i < way.call_us.size(); ++i) {
            const double width = x(at + way.call_us[i]) - x(at);
            if (way.call_us[i] <= 0) continue;
            svg.rect(x(at), y + 8, std::max(0.0, width - 1), kBar - 16, "cell seq" + std::to_string(i % 6),
                     fmt::format("{}, {}: {}", way.name, step.roles[i], time(way.call_us[i])));
            if (width > 52) svg.text(x(at) + 6, y + kBar / 2 + 4, time(way.call_us[i]), "in");
            at += way.call_us[i];
        }
        svg.text(x(at) + 8, y + kBar / 2 + 4, time(way.step_us()), "label");
        y += kBar;
    }
    figure.svg = svg.text();
    figure.width = kFigureWidth;
    figure.height = bottom + 26;
    figure.alt = fmt::format("The sparse calls of a step take {} as they were chosen together.",
                             time(step.ways.front().step_us()));
    for (std::size_t i = 1; i < step.ways.size(); ++i) {
        figure.alt += fmt::format(" {}: {}, {}.", step.ways[i].name, time(step.ways[i].step_us()), step.ways[i].about);
    }
    figure.note = fmt::format(
        "n = {} of a step, {} steps expected. {}, {}, clock {}. Building and what runs once are in the table.",
        some(step.roles.size(), "call"), whole(static_cast<std::int64_t>(step.expected_steps)),
        shown_device(step.environment), to_text(step.policy), to_text(step.clock));
    return figure;
}

}  // namespace gnntune::tools::report

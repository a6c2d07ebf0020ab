#include "tools/report/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include "tools/report/figures.hpp"
#include "tools/report/sections_origin.hpp"
#include "tools/report/text.hpp"

namespace gnntune::tools::report {
namespace {

std::string id_of(const char* what, std::size_t number) {
    return fmt::format("{}-{}", what, number + 1);
}

/// Of a setting among several; a single one needs none. What all have in common is not said.
std::string heading_of(const Report& report, const Setting& setting) {
    if (report.settings.size() < 2) return {};
    const std::string where = setting.where();
    const bool same = std::all_of(report.settings.begin(), report.settings.end(),
                                  [&](const Setting& s) { return s.where() == where; });
    return setting.what() + (same ? "" : " · " + where);
}

/// One variant, or one config, for all problems of a setting: that with the least geometric mean, of those that nearly
/// all have.
struct Single {
    std::string what;
    double slower = 0;  ///< over what won, geometric mean
};
template <class F>
std::optional<Single> best_single(const Setting& setting, F&& name_of) {
    std::map<std::string, std::vector<double>> ratios;
    std::size_t decided = 0;
    for (const Case& c : setting.cases) {
        const Row* winner = c.winner();
        if (!winner) continue;
        ++decided;
        std::map<std::string, double> here;
        for (const Row& row : c.rows) {
            if (!row.timed() || row.answer != Answer::exact) continue;
            const double ratio = row.measured.median_us / winner->measured.median_us;
            auto [at, is_new] = here.try_emplace(name_of(row), ratio);
            at->second = std::min(at->second, ratio);
        }
        for (const auto& [name, ratio] : here) ratios[name].push_back(ratio);
    }
    std::optional<Single> best;
    for (const auto& [name, values] : ratios) {
        if (10 * values.size() < 9 * decided) continue;
        const double mean = *geomean(values);
        if (!best || mean < best->slower) best = Single{name, mean};
    }
    return decided > 1 ? best : std::nullopt;
}

struct Extremes {
    std::vector<double> values;
    double worst = 0;
    std::string worst_where;
};
Extremes ratios_of(const Report& report, std::span<const Setting> settings,
                   std::optional<double> (Scores::*over)() const) {
    Extremes out;
    for (const Setting& setting : settings) {
        for (const Case& c : setting.cases) {
            const auto ratio = (c.scores.*over)();
            if (!ratio) continue;
            if (out.values.empty() || *ratio < out.worst) {
                out.worst = *ratio;
                const std::string graph = shortened(report.graphs[c.graph].record.name, 40);
                out.worst_where = settings.size() > 1 ? fmt::format("{}, {}", graph, to_text(c.problem))
                                                      : fmt::format("{}, k = {}", graph, c.problem.k);
            }
            out.values.push_back(*ratio);
        }
    }
    return out;
}

/// Of the roofline, each 1 at most and as it is, of every case that has a share.
struct Shares {
    std::vector<double> capped;
    std::size_t over_half = 0;
};
Shares shares_of(const Report& report) {
    Shares out;
    for (const Setting& setting : report.settings) {
        if (setting.constants.copy_gbps <= 0) continue;
        for (const Case& c : setting.cases) {
            const auto share = c.roofline_share();
            if (!share) continue;
            out.capped.push_back(std::min(1.0, *share));
            out.over_half += *share >= 0.5 ? 1 : 0;
        }
    }
    return out;
}

/// What the library of all settings is called; "the library" where they have several, or none.
std::string library_of(const Report& report) {
    std::set<std::string> names;
    for (const Setting& setting : report.settings) {
        if (std::any_of(setting.cases.begin(), setting.cases.end(), [](const Case& c) { return c.best_library; }))
            names.insert(setting.its_library());
    }
    return names.size() == 1 ? *names.begin() : "the library";
}

Sheet overview_of(const Report& report) {
    Sheet sheet;
    sheet.columns = {{"problem", "problem", ""},
                     {"where", "where", ""},
                     {"n", "problems", "", 0},
                     {"most", "wins most", ""},
                     {"most_n", "of them", "", 0},
                     {"over_default", "over the library's default", "×", 2},
                     {"over_best", "over its best", "×", 2},
                     {"over_untuned", "over untuned", "×", 2},
                     {"roofline", "roofline", "%", 0}};
    for (const Setting& s : report.settings) {
        std::map<std::string, std::int64_t> wins;
        std::vector<double> shares;
        for (const Case& c : s.cases) {
            if (const Row* row = c.winner()) ++wins[row->measured.config.variant];
            if (const auto share = c.roofline_share(); share && s.constants.copy_gbps > 0)
                shares.push_back(std::min(1.0, *share));
        }
        const auto most = std::max_element(wins.begin(), wins.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        const auto mean = [](const std::vector<double>& values, double scale) {
            const auto m = geomean(values);
            return m ? Cell(scale * *m) : Cell();
        };
        sheet.rows.push_back({s.what(), s.where(), static_cast<std::int64_t>(s.cases.size()),
                              most == wins.end() ? Cell() : Cell(most->first),
                              most == wins.end() ? Cell() : Cell(most->second),
                              mean(ratios_of(report, {&s, 1}, &Scores::over_library_default).values, 1),
                              mean(ratios_of(report, {&s, 1}, &Scores::over_library_best).values, 1),
                              mean(ratios_of(report, {&s, 1}, &Scores::over_untuned).values, 1), mean(shares, 100)});
    }
    // Columns that say nothing, or the same of all, are left out.
    for (std::size_t c = sheet.columns.size(); c-- > 1;) {
        const auto nothing = [c](const std::vector<Cell>& row) {
            return std::holds_alternative<std::monostate>(row[c]);
        };
        const auto same = [&](const std::vector<Cell>& row) { return row[c] == sheet.rows.front()[c]; };
        const bool idle = std::all_of(sheet.rows.begin(), sheet.rows.end(), nothing) ||
                          (sheet.columns[c].key == "where" && std::all_of(sheet.rows.begin(), sheet.rows.end(), same));
        if (!idle) continue;
        sheet.columns.erase(sheet.columns.begin() + static_cast<std::ptrdiff_t>(c));
        for (auto& row : sheet.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
    }
    return sheet;
}

Section won(const Report& report, const Palette& palette) {
    Section section{Part::won, "won", "Winners", "What won?", "", {}, {}, {}};
    for (std::size_t i = 0; i < report.settings.size(); ++i) {
        const Setting& setting = report.settings[i];
        section.groups.push_back(
            {heading_of(report, setting), "", {}, {won_figure(report, setting, palette, id_of("won", i))}, {}});
    }
    if (report.settings.empty()) return section;
    const Setting& first = report.settings.front();
    std::map<std::string, std::size_t> wins;
    for (const Setting& setting : report.settings) {
        for (const Case& c : setting.cases) {
            if (const Row* row = c.winner()) ++wins[row->measured.config.variant];
        }
    }
    if (wins.empty()) return section;
    const auto most =
        std::max_element(wins.begin(), wins.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    section.answer = fmt::format("`{}` won {} of {}{}.", most->first, most->second, some(report.problems(), "problem"),
                                 wins.size() > 1 ? fmt::format(", {} at least one", some(wins.size(), "variant")) : "");
    // One variant does one op: this is of the setting with most problems, which is named where there are others.
    const std::string of_first = report.settings.size() < 2 ? "" : fmt::format(" of {}", first.what());
    if (const auto variant = best_single(first, [](const Row& row) { return row.measured.config.variant; })) {
        section.answer += fmt::format(
            " Always the same variant{}, `{}`, with its best params each time, would take {} the time in geometric "
            "mean;",
            of_first, variant->what, factor(variant->slower));
    }
    if (const auto config = best_single(first, [](const Row& row) { return row.config; })) {
        section.answer += fmt::format(" always the same config, `{}`, {}.", config->what, factor(config->slower));
    }
    if (section.answer.ends_with(';')) section.answer.back() = '.';
    if (report.settings.size() > 1) section.overview = overview_of(report);
    return section;
}

Section limit(const Report& report, const Palette& palette) {
    Section section{Part::limit, "limit", "Limits", "How close to the limit?", "", {}, {}, {}};
    for (std::size_t i = 0; i < report.settings.size(); ++i) {
        const Setting& setting = report.settings[i];
        section.groups.push_back(
            {heading_of(report, setting), "", {}, {limit_figure(report, setting, palette, id_of("limit", i))}, {}});
    }
    if (const Shares shares = shares_of(report); !shares.capped.empty()) {
        section.answer = fmt::format(
            "The choices reach {} of the roofline in geometric mean over {}, and at least half of it in {}.",
            percent(*geomean(shares.capped)), some(shares.capped.size(), "problem"), shares.over_half);
    }
    return section;
}

Section gain(const Report& report) {
    Section section{Part::gain, "gain", "Gains", "What did choosing gain?", "", {}, {}, {}};
    for (std::size_t i = 0; i < report.settings.size(); ++i) {
        const Setting& setting = report.settings[i];
        Figure figure = gain_figure(report, setting, id_of("gain", i));
        section.groups.push_back({heading_of(report, setting), "", {}, {std::move(figure)}, {}});
    }
    if (report.settings.empty()) return section;
    const auto add = [&](const std::string& words, std::optional<double> (Scores::*over)() const) {
        const Extremes r = ratios_of(report, report.settings, over);
        if (r.values.empty()) return;
        section.answer += fmt::format("{}{} as fast as {} in geometric mean over {}, at worst {} ({}).",
                                      section.answer.empty() ? "" : " ", factor(*geomean(r.values)), words,
                                      some(r.values.size(), "problem"), factor(r.worst), r.worst_where);
    };
    add(library_of(report) + "'s default", &Scores::over_library_default);
    add("its best algorithm", &Scores::over_library_best);
    add("what runs untuned", &Scores::over_untuned);
    return section;
}

std::vector<std::pair<std::string, std::string>> facts_of(const GraphFacts& graph) {
    const GraphRecord& r = graph.record;
    std::vector<std::pair<std::string, std::string>> facts{
        {"rows × columns", whole(r.n_rows) + " × " + whole(r.n_cols)}, {"edges", whole(r.m)}};
    if (graph.features) {
        const Features& f = *graph.features;
        facts.emplace_back("mean degree", number(f.degree_mean));
        facts.emplace_back("largest degree", whole(f.degree_max));
        facts.emplace_back("median, 90 %, 99 %", fmt::format("{}, {}, {}", f.degree_p50, f.degree_p90, f.degree_p99));
        facts.emplace_back("empty rows", whole(f.empty_rows));
        facts.emplace_back("Gini of the degrees", fmt::format("{:.2f}", f.degree_gini));
        facts.emplace_back("edges in the heaviest 1 % of rows", percent(f.heaviest_1pct_share));
        if (f.counts.distinct_cols_16 > 0) {
            facts.emplace_back(
                "edges a gathered row, windows of 16",
                number(static_cast<double>(f.counts.m) / static_cast<double>(f.counts.distinct_cols_16)));
        }
    }
    facts.emplace_back("from", shortened(r.source, 120));
    facts.emplace_back("fingerprint", r.fingerprint.text());
    return facts;
}

Section graphs(const Report& report, const Palette& palette) {
    Section section{Part::graphs, "graphs", "Graphs", "What happens on this graph?", "", {}, {}, {}};
    std::vector<std::size_t> order(report.graphs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return report.graphs[a].record.m > report.graphs[b].record.m;
    });
    std::map<std::size_t, std::size_t> cases;
    for (const Setting& setting : report.settings) {
        for (const Case& c : setting.cases) ++cases[c.graph];
    }
    std::size_t shown_cases = 0;
    std::size_t shown_graphs = 0;
    while (shown_graphs < std::min(order.size(), kMostGraphs) &&
           (shown_graphs == 0 || shown_cases + cases[order[shown_graphs]] <= kMostCases)) {
        shown_cases += cases[order[shown_graphs++]];
    }
    if (order.size() > shown_graphs) {
        section.answer = fmt::format("{} of {}, the largest; `gnntune report {} --graph NAME` shows any other.",
                                     shown_graphs, some(order.size(), "graph"), shortened(report.database, 120));
        order.resize(shown_graphs);
    } else if (!order.empty()) {
        const auto& least = report.graphs[order.back()].record;
        const auto& most = report.graphs[order.front()].record;
        section.answer =
            order.size() == 1
                ? fmt::format("{}: {} rows, {} edges.", shortened(most.name, 60), whole(most.n_rows), whole(most.m))
                : fmt::format("{}, from {} edges ({}) to {} ({}).", some(order.size(), "graph"), whole(least.m),
                              shortened(least.name, 40), whole(most.m), shortened(most.name, 40));
    }
    std::size_t number = 0;
    for (const std::size_t g : order) {
        const GraphFacts& graph = report.graphs[g];
        Group group;
        group.heading = shortened(graph.record.name, 100);
        group.graph = shortened(graph.record.name, 200);
        group.facts = facts_of(graph);
        const std::string prefix = fmt::format("graph-{}", ++number);
        group.figures.push_back(degree_figure(graph, prefix + "-degrees"));
        std::size_t shown = 0;
        for (const Setting& setting : report.settings) {
            const bool here =
                std::any_of(setting.cases.begin(), setting.cases.end(), [&](const Case& c) { return c.graph == g; });
            if (!here) continue;
            ++shown;
            group.figures.push_back(
                configs_figure(report, setting, g, palette, fmt::format("{}-configs-{}", prefix, shown)));
            Figure errors = errors_figure(report, setting, g, palette, fmt::format("{}-errors-{}", prefix, shown));
            if (!errors.svg.empty()) group.figures.push_back(std::move(errors));
        }
        section.groups.push_back(std::move(group));
    }
    return section;
}

Section building(const Report& report, const Palette& palette) {
    Section section{Part::building, "building", "Building", "When does building pay?", "", {}, {}, {}};
    std::size_t changing = 0;
    std::size_t late = 0;
    std::size_t n = 0;
    for (std::size_t i = 0; i < report.settings.size(); ++i) {
        const Setting& setting = report.settings[i];
        section.groups.push_back({heading_of(report, setting),
                                  "",
                                  {},
                                  {cost_figure(report, setting, palette, id_of("cost", i)),
                                   calls_figure(report, setting, palette, id_of("calls", i))},
                                  {}});
        for (const Case& c : setting.cases) {
            n += c.calls.empty() ? 0 : 1;
            changing += c.calls.size() > 1 ? 1 : 0;
            late += c.calls.size() > 1 && c.calls.back().from_calls > 100 ? 1 : 0;
        }
    }
    if (n == 0) return section;
    section.answer =
        changing == 0
            ? fmt::format("Never in question here: in each of {} one config is the cheapest for any number of calls.",
                          some(n, "problem"))
            : fmt::format(
                  "In {} of {} it depends on the number of calls which config is the cheapest{}.", changing,
                  some(n, "problem"),
                  late == 0
                      ? ""
                      : fmt::format("; in {} the fastest has paid for its building only after more than 100 calls",
                                    late));
    return section;
}

Section model(const Report& report) {
    Section section{Part::model, "model", "Model", "How good is the model?", "", {}, {}, {}};
    for (std::size_t i = 0; i < report.models.size(); ++i) {
        const ModelFacts& m = report.models[i];
        section.groups.push_back({report.models.size() > 1
                                      ? fmt::format("{} · {}, {}, clock {}", to_text(m.op), to_text(m.backend),
                                                    to_text(m.policy), to_text(m.clock))
                                      : "",
                                  "",
                                  {},
                                  {model_figure(report, m, id_of("model", i))},
                                  {}});
        if (i > 0) continue;
        std::vector<double> values;
        for (const ModelCase& c : m.cases) values.push_back(c.best_us / c.measured_us);
        section.answer = fmt::format(
            "On graphs that it has not seen the first choice{} has {:.1f} % of the speed of the fastest config in "
            "geometric "
            "mean, {:.0f} % in the worst of {}.",
            report.models.size() > 1 ? fmt::format(" of the model of {}", to_text(m.op)) : "",
            100 * geomean(values).value_or(0), 100 * *std::min_element(values.begin(), values.end()),
            some(values.size(), "problem"));
    }
    if (!report.fitted.empty()) {
        NamedSheet fitted{"Models in the database", {}};
        fitted.sheet.columns = {{"op", "op", ""},
                                {"backend", "backend", ""},
                                {"policy", "policy", ""},
                                {"clock", "clock", ""},
                                {"feature_version", "features", "", 0},
                                {"tool_version", "fitted by", ""},
                                {"fitted_at", "at", ""}};
        for (const store::ModelRow& m : report.fitted) {
            fitted.sheet.rows.push_back({std::string(to_text(m.op)), std::string(to_text(m.backend)),
                                         std::string(to_text(m.policy)), std::string(to_text(m.clock)),
                                         std::int64_t{m.feature_version}, "gnntune " + m.tool_version, m.fitted_at});
        }
        section.groups.push_back({"", "", {}, {}, {std::move(fitted)}});
    }
    return section;
}

Section step(const Report& report) {
    Section section{Part::step, "step", "Step", "What is a training step made of?", "", {}, {}, {}};
    for (std::size_t i = 0; i < report.steps.size(); ++i) {
        const StepFacts& s = report.steps[i];
        Group group{
            "", shortened(report.graphs[s.graph].record.name, 200), {}, {step_figure(report, s, id_of("step", i))}, {}};
        NamedSheet calls{"Configs chosen together", {}};
        calls.sheet.columns = {{"call", "call", ""}, {"config", "config", ""}};
        for (std::size_t c = 0; c < s.roles.size(); ++c) calls.sheet.rows.push_back({s.roles[c], s.configs[c]});
        group.sheets.push_back(std::move(calls));
        section.groups.push_back(std::move(group));
    }
    if (!report.steps.empty()) {
        const StepFacts& s = report.steps.front();
        section.answer = fmt::format("The sparse calls of a step of {} on {} take {}.", s.step,
                                     shortened(report.graphs[s.graph].record.name, 40), time(s.ways.front().step_us()));
        for (const StepWay& way : s.ways) {
            if (way.name == "default") section.answer += fmt::format(" Untuned they take {}.", time(way.step_us()));
        }
    }
    return section;
}

}  // namespace

std::vector<Section> sections_of(const Report& report) {
    const Palette palette(report);
    std::vector<Section> out{won(report, palette),      limit(report, palette), gain(report), graphs(report, palette),
                             building(report, palette), model(report),          step(report), origin_section(report)};
    for (Section& section : out) {
        if (const auto found = report.missing.find(section.part); found != report.missing.end())
            section.missing = found->second;
    }
    return out;
}

std::vector<std::pair<std::string, std::string>> headlines_of(const Report& report) {
    std::vector<std::pair<std::string, std::string>> out;
    std::size_t timed = 0;
    for (const Setting& s : report.settings) {
        for (const Case& c : s.cases) {
            timed += static_cast<std::size_t>(
                std::count_if(c.rows.begin(), c.rows.end(), [](const Row& r) { return r.timed(); }));
        }
    }
    out.emplace_back(whole(static_cast<std::int64_t>(report.problems())),
                     fmt::format("problems on {}", some(report.graphs.size(), "graph")));
    out.emplace_back(whole(static_cast<std::int64_t>(timed)), "configs timed");
    if (report.settings.empty()) return out;
    const auto add = [&](const std::string& words, std::optional<double> (Scores::*over)() const) {
        const Extremes r = ratios_of(report, report.settings, over);
        if (!r.values.empty()) out.emplace_back(factor(*geomean(r.values)), words);
    };
    add("as fast as " + library_of(report) + "'s default", &Scores::over_library_default);
    add("as fast as its best algorithm", &Scores::over_library_best);
    add("as fast as what runs untuned", &Scores::over_untuned);
    if (const auto mean = geomean(shares_of(report).capped)) out.emplace_back(percent(*mean), "of the roofline");
    return out;
}

}  // namespace gnntune::tools::report

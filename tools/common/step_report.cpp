#include "tools/common/step_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "tools/common/problems.hpp"

namespace gnntune::tools {
namespace {

constexpr const char* kApart = "apart";

/// Why no call has a config of a library.
std::string no_library(const Registry& registry, const tuner::StepOptions& from, const tuner::QueryOf& query_of) {
    std::set<std::string> refusals;
    for (const StepCall& call : from.calls) {
        const Query query = query_of(call.problem);
        for (const Variant& v : registry.variants()) {
            if (!v.baseline || v.precision != Precision::fp32 || v.op != call.problem.op ||
                v.backend != query.device->backend) {
                continue;
            }
            const Verdict verdict = registry.applicable(v, query);
            if (verdict) return fmt::format("{}", v.id) + " can do a call, and no time of it counts here";
            refusals.insert(fmt::format("{}: {}", v.id, verdict.reason));
        }
    }
    return "no routine of a library that this build has does any of these calls" +
           (refusals.empty() ? "" : " (" + fmt::format("{}", fmt::join(refusals, "; ")) + ")");
}

bool is_approximate(const Candidate& c) {
    return c.approximate || c.precision != Precision::fp32;
}

}  // namespace

StepReport::StepReport(const Registry& registry, StepSubject subject, tuner::StepOptions from, const StepLimits& limits,
                       const tuner::QueryOf& query_of)
    : subject_(std::move(subject)),
      from_(std::move(from)),
      limits_(limits),
      decision_(choose_step(from_.formats, from_.options, limits)) {
    if (!decision_.picks) return;
    add_way("together", "this choice", decision_.picks);
    add_way(kApart, "each call as if it had the graph for itself", choose_apart(from_.formats, from_.options, limits));
    add_way("default", "what runs where nothing was measured", tuner::default_picks(registry, from_, query_of));
    const auto library = tuner::library_picks(registry, from_, *decision_.picks);
    add_way("library", "the library's fastest for the calls it has, this choice for the others", library);
    if (!library) why_no_library_ = no_library(registry, from_, query_of);
}

void StepReport::add_way(std::string name, std::string about, const std::optional<Picks>& picks) {
    if (!picks) return;
    ways_.push_back(
        {std::move(name), std::move(about), *picks, step_cost(from_.formats, from_.options, *picks, limits_)});
}

store::StepChoice StepReport::stored(const Registry& registry) const {
    return tuner::stored_step(registry, subject_.step, from_, decision_, limits_);
}

Table StepReport::table() {
    return Table({{"graph", "graph", ""},
                  {"step", "step", ""},
                  {"policy", "policy", ""},
                  {"clock", "clock", ""},
                  {"call", "call", ""},
                  {"problem", "problem", ""},
                  {"runs_per_step", "runs a step", "", 0},
                  {"runs_per_graph", "once", "", 0},
                  {"config", "config", ""},
                  {"time_us", "time", "us"},
                  {"own_build_us", "own build", "us"},
                  {"formats", "formats", ""},
                  {"shared", "shared", ""},
                  {"workspace_bytes", "workspace", "B", 0},
                  {"deterministic", "repeats", ""},
                  {"approximate", "approximate", ""},
                  {"max_error", "max error", "", 9},
                  {"apart_config", "alone", ""},
                  {"apart_us", "alone", "us"}});
}

std::vector<StepReport::Line> StepReport::lines() const {
    std::vector<Line> lines;
    if (!decision_.picks) return lines;
    const auto option = [&](std::size_t call, const Picks& picks) -> const CallOption& {
        return from_.options[call].options[picks[call]];
    };
    for (std::size_t i = 0; i < from_.calls.size(); ++i) {
        Line line{from_.calls[i], option(i, *decision_.picks)};
        for (std::size_t j = 0; j < from_.calls.size(); ++j) {
            line.shared = line.shared || (j != i && (option(j, *decision_.picks).formats & line.option.formats));
        }
        for (const Way& way : ways_) {
            if (way.name == kApart) line.apart = &option(i, way.picks).candidate;
        }
        lines.push_back(line);
    }
    return lines;
}

void StepReport::add_rows(Table& table) const {
    for (const Line& line : lines()) {
        const Candidate& c = line.option.candidate;
        Cell apart_config;
        Cell apart_us;
        if (line.apart) {
            apart_config = line.apart->config.text();
            apart_us = line.apart->median_us;
        }
        table.add({subject_.graph, to_text(subject_.step), std::string(to_text(subject_.policy)),
                   std::string(to_text(subject_.clock)), line.call.role, short_problem(line.call.problem),
                   std::int64_t{line.call.runs_per_step}, std::int64_t{line.call.runs_per_graph}, c.config.text(),
                   c.median_us, c.build_us, from_.formats.text(line.option.formats), line.shared, c.workspace_bytes,
                   c.deterministic, is_approximate(c), c.max_error, apart_config, apart_us});
    }
}

Table StepReport::calls_table() const {
    Table table({{"call", "call", ""},
                 {"problem", "problem", ""},
                 {"runs", "runs", ""},
                 {"config", "config", ""},
                 {"time_us", "time", "us"},
                 {"formats", "formats", ""},
                 {"note", "", ""}});
    for (const Line& line : lines()) {
        const Candidate& c = line.option.candidate;
        const int runs = line.call.runs_per_step;
        std::string note = is_approximate(c) ? "approximate" : "";
        if (line.apart && line.apart->config != c.config) {
            note += fmt::format("{}alone: {} at {:.2f} us", note.empty() ? "" : ", ", line.apart->config.text(),
                                line.apart->median_us);
        }
        table.add({line.call.role, short_problem(line.call.problem), runs > 0 ? fmt::format("{} a step", runs) : "once",
                   c.config.text(), c.median_us,
                   from_.formats.text(line.option.formats) + (line.shared ? " (shared)" : ""), note});
    }
    return table;
}

Table StepReport::ways_table() const {
    Table table({{"choice", "choice", ""},
                 {"step_us", "a step", "us"},
                 {"once_us", "once", "us", 2, false},
                 {"build_us", "building", "us", 0},
                 {"total_us", "all", "us", 0},
                 {"relative", "of this", "x", 3},
                 {"formats", "formats", ""},
                 {"format_bytes", "formats", "B", 0},
                 {"workspace_bytes", "workspace", "B", 0},
                 {"fits", "fits", ""},
                 {"about", "", ""}});
    for (const Way& way : ways_) {
        const StepCost& c = way.cost;
        table.add({way.name, c.step_us, c.once_us, c.format_us + c.own_us, c.total_us,
                   c.total_us / decision_.cost.total_us, from_.formats.text(c.formats), c.format_bytes,
                   c.workspace_bytes, c.fits, way.about});
    }
    return table;
}

Lines StepReport::text(bool color) const {
    Lines text;
    text.line(fmt::format("step       {} on {}  policy {}  clock {}", to_text(subject_.step), subject_.graph,
                          to_text(subject_.policy), to_text(subject_.clock)));
    if (limits_.format_bytes != SIZE_MAX) {
        text.line(fmt::format("limit      {} bytes of formats and the largest workspace", limits_.format_bytes));
    }
    text.line(fmt::format("{:<10} {}", decision_.picks ? "chosen" : "nothing", decision_.reason));
    if (!decision_.picks) return text;
    text.line().table(calls_table(), color).line().table(ways_table(), color);
    return why_no_library_.empty() ? text : text.line("no row `library`: " + why_no_library_);
}

Json StepReport::json() const {
    Table calls = table();
    add_rows(calls);
    Json json;
    json["graph"] = subject_.graph;
    json["step"] = to_text(subject_.step);
    json["policy"] = std::string(to_text(subject_.policy));
    json["clock"] = std::string(to_text(subject_.clock));
    json["expected_steps"] = limits_.constraints.expected_calls;
    json["format_limit_bytes"] = limits_.format_bytes == SIZE_MAX ? Json() : Json(limits_.format_bytes);
    json["chosen"] = decision_.picks.has_value();
    json["reason"] = decision_.reason;
    json["calls"] = calls.json();
    json["choices"] = ways_table().json();
    json["no_library"] = why_no_library_.empty() ? Json() : Json(why_no_library_);
    return json;
}

void warn_unchosen(const StepReport& report, const std::string& words, Output& out) {
    // The text says why, rows do not.
    out.warn(out.format() == OutputFormat::csv ? words + ": " + report.decision().reason : words);
}

void StepReports::add(const StepReport& report, const Output& out) {
    report.add_rows(rows_);
    json_.push_back(report.json());
    if (!text_.empty()) text_.line();
    text_.append(report.text(out.color()));
}

void StepReports::append(const StepReports& other) {
    rows_.append(other.rows_);
    json_.insert(json_.end(), other.json_.begin(), other.json_.end());
    if (!text_.empty() && !other.text_.empty()) text_.line();
    text_.append(other.text_);
}

void StepReports::print(Output& out) const {
    if (out.format() == OutputFormat::json) {
        out.print_json(json_);
    } else if (out.format() == OutputFormat::csv) {
        out.print(rows_);
    } else {
        out.print(text_);
    }
}

}  // namespace gnntune::tools

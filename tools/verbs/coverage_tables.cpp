#include "tools/verbs/coverage_tables.hpp"

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "tools/common/problems.hpp"
#include "tools/common/suggest.hpp"

namespace gnntune::tools {
namespace {

using tuner::Coverage;
using tuner::CoverageOutcome;
using tuner::CoverageRow;
using tuner::CoverageVerdict;

/// Cells of a row before the column `verdict`.
constexpr std::size_t kVerdict = 13;

Cell positive(double value) {
    return value > 0 ? Cell(value) : Cell();
}

Cell interval_of(const CoverageOutcome& o) {
    return o.ci_low_us > 0 ? Cell((o.ci_high_us - o.ci_low_us) / 2) : Cell();
}

Style style_of_row(const CoverageRow& row) {
    if (row.fails) return Style::bad;
    return row.verdict == CoverageVerdict::ok ? Style::plain : Style::dim;
}

Table row_table() {
    return Table({{"graph", "graph", ""},
                  {"problem", "problem", ""},
                  {"op", "op", "", 0, false},
                  {"kinds", "kind", ""},
                  {"config", "config", ""},
                  {"time_us", "time", "us"},
                  {"ci_us", "+-", "us"},
                  {"sibling", "sibling", ""},
                  {"sibling_config", "its config", "", 0, false},
                  {"sibling_us", "sibling's", "us"},
                  {"sibling_ci_us", "sibling's +-", "us", 2, false},
                  {"ratio", "ratio", "x"},
                  {"bound", "bound", "x"},
                  {"verdict", "verdict", ""},
                  {"must", "must", "", 0, false},
                  {"fails", "fails", ""},
                  {"policy", "policy", "", 0, false},
                  {"clock", "clock", "", 0, false},
                  {"reason", "reason", ""}});
}

void add_row(Table& table, const CoverageRow& row, Policy policy, Clock clock) {
    const CoverageOutcome& o = *row.outcome;
    const bool timed = o.what == Coverage::timed;
    const bool compared = row.ratio > 0;
    table.add({o.graph, short_problem(o.problem), std::string(to_text(o.problem.op)), row.kinds,
               timed ? Cell(o.config) : Cell(), timed ? Cell(o.time_us) : Cell(), timed ? interval_of(o) : Cell(),
               row.sibling ? Cell(short_problem(row.sibling->problem)) : Cell(),
               compared ? Cell(row.sibling->config) : Cell(), compared ? Cell(row.sibling->time_us) : Cell(),
               compared ? interval_of(*row.sibling) : Cell(), positive(row.ratio), positive(row.bound),
               std::string(to_text(row.verdict)), row.must, row.fails, std::string(to_text(policy)),
               std::string(to_text(clock)), o.reason.empty() ? Cell() : Cell(o.reason)},
              style_of_row(row));
}

bool can_be_folded(const CoverageRow& row) {
    return row.verdict == CoverageVerdict::no_variant && !row.must;
}

/// A row for the problems of an op and storage type that are as `first`: no variant, and none is demanded.
void add_folded(Table& table, const std::vector<CoverageRow>& rows, const CoverageRow& first) {
    const CoverageOutcome& o = *first.outcome;
    std::size_t problems = 0;
    bool same_reason = true;
    for (const CoverageRow& row : rows) {
        const CoverageOutcome& other = *row.outcome;
        if (!can_be_folded(row) || other.graph != o.graph || other.problem.op != o.problem.op ||
            other.problem.dtype != o.problem.dtype) {
            continue;
        }
        if (problems == 0 && &row != &first) return;  // its line is there
        ++problems;
        same_reason = same_reason && other.reason == o.reason;
    }
    std::vector<Cell> cells{o.graph, fmt::format("{} {}, {} problem{}", to_text(o.problem.op), to_text(o.problem.dtype),
                                                 problems, problems == 1 ? "" : "s")};
    cells.resize(kVerdict);
    cells.insert(cells.end(), {std::string(to_text(first.verdict)), first.must, first.fails, Cell(), Cell(),
                               same_reason ? Cell(o.reason) : Cell("--only no_variant has each with its reason")});
    table.add(std::move(cells), style_of_row(first));
}

/// What words of the tables mean that do not say it themselves.
void print_legend(Output& out) {
    out.print_line(
        "geomean and worst are times the sibling's time. over bound: beyond the bound of the kind, whether or "
        "not that counts here. without a time:");
    out.print_line(
        "the problem or its sibling has none. fails: counts against this build; on the CPU problems in f32 have "
        "to be there, and bounds count");
    out.print_line("that --bound names.");
}

Table kind_table(const std::vector<CoverageRow>& rows, const tuner::CoverageDemands& demands) {
    Table table({{"kind", "kind", ""},
                 {"bound", "bound", "x"},
                 {"compared", "compared", "", 0},
                 {"geomean", "geomean", "x"},
                 {"worst", "worst", "x"},
                 {"worst_case", "worst case", ""},
                 {"over", "over bound", "", 0},
                 {"no_variant", "no variant", "", 0},
                 {"others", "without a time", "", 0},
                 {"failing", "failing", "", 0}});
    const auto count = [](std::size_t n) { return static_cast<std::int64_t>(n); };
    for (const auto& s : tuner::coverage_summary(rows, demands)) {
        Cell where;
        if (s.worst) where = s.worst->outcome->graph + ", " + short_problem(s.worst->outcome->problem);
        table.add(
            {s.kind, positive(s.bound), count(s.compared), positive(s.geomean), positive(s.worst ? s.worst->ratio : 0),
             where, count(s.over), count(s.no_variant), count(s.others), count(s.failing)},
            s.failing > 0 ? Style::bad : Style::plain);
    }
    return table;
}

}  // namespace

std::set<CoverageVerdict> shown_verdicts(const Parsed& parsed, const Output& out) {
    std::set<CoverageVerdict> shown;
    std::vector<std::string> known{"all"};
    for (const CoverageVerdict verdict : tuner::every_coverage_verdict()) known.emplace_back(to_text(verdict));
    for (const std::string& word : parsed.list("only")) {
        const auto verdict = tuner::parse_coverage_verdict(word);
        if (!verdict && word != "all") {
            throw invalid_argument(fmt::format("--only: expected {}, or several of them with commas, not '{}'{}",
                                               joined(known), word, did_you_mean(word, known)));
        }
        if (verdict) shown.insert(*verdict);
        for (const CoverageVerdict each : tuner::every_coverage_verdict()) {
            if (!verdict) shown.insert(each);
        }
    }
    if (!shown.empty()) return shown;
    for (const CoverageVerdict verdict : tuner::every_coverage_verdict()) {
        const bool quiet = verdict == CoverageVerdict::ok || verdict == CoverageVerdict::left_out;
        if (!out.is_table() || !quiet) shown.insert(verdict);
    }
    return shown;
}

void print_coverage(Output& out, const std::vector<CoverageRow>& rows, const tuner::CoverageDemands& demands,
                    const std::set<CoverageVerdict>& shown, bool folded, Policy policy, Clock clock) {
    Table table = row_table();
    for (const CoverageRow& row : rows) {
        if (!shown.contains(row.verdict)) continue;
        if (folded && out.is_table() && can_be_folded(row)) {
            add_folded(table, rows, row);
        } else {
            add_row(table, row, policy, clock);
        }
    }
    const Table kinds = kind_table(rows, demands);
    switch (out.format()) {
        case OutputFormat::table:
            if (table.rows() > 0) {
                out.print(table);
                out.print_line();
            }
            out.print(kinds);
            out.print_line();
            print_legend(out);
            break;
        case OutputFormat::csv:
            out.print(table);
            break;
        case OutputFormat::json: {
            Json data;
            data["rows"] = table.json();
            data["kinds"] = kinds.json();
            out.print_json(Json::array({data}));
            break;
        }
    }
}

void print_coverage_list(Output& out, const std::vector<ListedProblem>& problems, const tuner::CoverageDemands& demands,
                         const std::set<CoverageVerdict>& shown) {
    Table table({{"graph", "graph", ""},
                 {"problem", "problem", ""},
                 {"op", "op", "", 0, false},
                 {"kinds", "kind", ""},
                 {"variants", "variants", "", 0},
                 {"names", "variants", "", 0, false},
                 {"verdict", "verdict", ""},
                 {"must", "must", ""},
                 {"fails", "fails", ""},
                 {"reason", "reason", ""}});
    for (const ListedProblem& p : problems) {
        const bool missing = p.outcome.what == Coverage::no_variant;
        const auto verdict = missing ? CoverageVerdict::no_variant : CoverageVerdict::ok;
        if (!shown.contains(verdict)) continue;
        const bool must = demands.must(p.outcome.problem);
        std::vector<std::string> kinds;
        for (const auto& way : tuner::departures(p.outcome.problem)) kinds.push_back(way.kind);
        table.add({p.outcome.graph, short_problem(p.outcome.problem), std::string(to_text(p.outcome.problem.op)),
                   kinds.empty() ? std::string("plain") : joined(kinds, "+"),
                   static_cast<std::int64_t>(p.variants.size()), joined(p.variants, ";"), std::string(to_text(verdict)),
                   must, must && missing, p.outcome.reason.empty() ? Cell() : Cell(p.outcome.reason)},
                  must && missing ? Style::bad
                  : missing       ? Style::dim
                                  : Style::plain);
    }
    out.print(table);
}

}  // namespace gnntune::tools

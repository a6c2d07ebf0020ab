#include "tools/verbs/tune_tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/common/error.hpp"
#include "tools/common/problems.hpp"
#include "tools/common/program.hpp"
#include "tools/common/suggest.hpp"

namespace gnntune::tools {
namespace {

/// Cells of a row of results before the column `reason`.
constexpr std::size_t kReason = 16;

/// What runs where nothing is known; empty if no exact variant can do it.
Cell standard_text(const Query& query) {
    try {
        return registry().default_config(query, {}).text();
    } catch (const Error&) {
        return {};
    }
}

}  // namespace

Table plan_table() {
    return Table({{"graph", "graph", ""},
                  {"problem", "problem", ""},
                  {"policy", "policy", ""},
                  {"clock", "clock", ""},
                  {"configs", "configs", "", 0},
                  {"open", "to measure", "", 0},
                  {"estimate_s", "estimate", "s", 1}});
}

Table result_table() {
    return Table({{"graph", "graph", ""},
                  {"op", "op", "", 0, false},
                  {"k", "k", "", 0, false},
                  {"problem", "problem", ""},
                  {"policy", "policy", ""},
                  {"clock", "clock", ""},
                  {"config", "config", ""},
                  {"time_us", "time", "us"},
                  {"ci_us", "+-", "us"},
                  {"vs_library", "vs library", "x"},
                  {"vs_default_library", "vs library default", "x"},
                  {"vs_untuned", "vs untuned", "x"},
                  {"default_config", "default", "", 0, false},
                  {"roofline_us", "roofline", "us", 2, false},
                  {"roofline_percent", "roofline", "%", 0},
                  {"tied", "tied", "", 0},
                  {"reason", "reason", "", 0, false},
                  {"measured", "measured", "configs", 0},
                  {"configs", "of", "", 0}});
}

void add_result(Table& results, const std::string& graph, const tuner::TuneStep& step, const Decision& decision,
                const std::vector<Candidate>& candidates, const ResultPlace& place, std::int64_t measured) {
    const Candidate& winner = candidates[*decision.winner];
    Cell vs_library;
    Cell vs_default;
    Cell vs_untuned;
    const Cell standard = standard_text(place.query);
    double library_us = std::numeric_limits<double>::infinity();
    for (const Candidate& c : candidates) {
        if (Cell(c.config.text()) == standard) vs_untuned = c.median_us / winner.median_us;
        const Variant* v = registry().find(c.config.variant);
        if (!v->baseline || v->precision != Precision::fp32) continue;
        library_us = std::min(library_us, c.median_us);
        if (c.config.params == v->default_params(place.query)) vs_default = c.median_us / winner.median_us;
    }
    if (std::isfinite(library_us)) vs_library = library_us / winner.median_us;
    Cell limit;
    Cell fraction;
    const auto roof = roofline(place.query, place.gathered, place.constants);
    if (place.constants.copy_gbps > 0) {
        limit = roof.us();
        fraction = 100.0 * roof.us() / winner.median_us;
    }
    results.add({graph, std::string(to_text(step.problem.op)), std::int64_t{step.problem.k},
                 short_problem(step.problem), std::string(to_text(step.policy)), std::string(to_text(step.clock)),
                 winner.config.text(), winner.median_us, (winner.ci_high_us - winner.ci_low_us) / 2, vs_library,
                 vs_default, vs_untuned, standard, limit, fraction, static_cast<std::int64_t>(decision.tied.size()),
                 decision.reason, measured, static_cast<std::int64_t>(step.configs)});
}

void add_left_out(Table& results, const std::string& graph, const tuner::TuneStep& step, const std::string& why) {
    std::vector<Cell> cells{graph,
                            std::string(to_text(step.problem.op)),
                            std::int64_t{step.problem.k},
                            short_problem(step.problem),
                            std::string(to_text(step.policy)),
                            std::string(to_text(step.clock))};
    cells.resize(kReason);
    cells.insert(cells.end(), {why, std::int64_t{0}, static_cast<std::int64_t>(step.configs)});
    results.add(std::move(cells), Style::dim);
}

void add_left_out(Table& results, const std::string& graph, const std::string& why) {
    std::vector<Cell> cells{graph};
    cells.resize(kReason);
    cells.insert(cells.end(), {why, Cell(), Cell()});
    results.add(std::move(cells), Style::dim);
}

std::string why_unchosen(const Decision& decision, const std::vector<Candidate>& candidates) {
    std::vector<std::string> why;
    for (const Rejection& r : decision.rejected) {
        std::string one = candidates[r.candidate].config.variant + " " + r.reason;
        if (std::find(why.begin(), why.end(), one) == why.end()) why.push_back(std::move(one));
    }
    return why.empty() ? decision.reason : decision.reason + ": " + joined(why, "; ");
}

}  // namespace gnntune::tools
